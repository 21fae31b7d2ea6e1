import { simulatorForTests } from './testing-client';

const { running, ask, submit } = simulatorForTests();

async function put(json: unknown) {
	return await ask('PUT /dictionary', { json });
}

it('GET returns the dictionary resource', async () => {
	expect((await ask('GET /dictionary')).body).toEqual({
		terms: [],
		count: 0,
		chars: 0,
		limit_chars: 20_000,
		limit_terms: 100,
		effective_terms: [],
		ignored_terms: [],
	});
});

it('PUT replaces, POST adds and drops duplicates, DELETE clears', async () => {
	await put({ terms: ['old'] });
	await put({ terms: [' one ', 'two', 'one', ''] });
	expect((await ask('POST /dictionary', { json: { terms: ['two', 'three'] } })).body).toMatchObject(
		{ terms: ['one', 'two', 'three'], count: 3, chars: 11 },
	);
	expect((await ask('DELETE /dictionary')).body).toMatchObject({ terms: [], count: 0 });
});

it('in text, the separators are comma, semicolon and line break', async () => {
	const { body } = await put({ text: 'one, two;three\nfour\r\nfive six' });
	expect(body['terms']).toEqual(['one', 'two', 'three', 'four', 'five six']);
});

it('a dictionary above 20 000 characters gets 413 and is never cut', async () => {
	expect((await put({ terms: ['ё'.repeat(19_999), '😀'] })).body['chars']).toBe(20_000);
	const refused = await ask('POST /dictionary', { json: { text: 'x' } });
	expect([refused.status, refused.body]).toEqual([
		413,
		{ detail: { message: expect.any(String) } },
	]);
	expect((await ask('GET /dictionary')).body['count']).toBe(2);
});

it('only the first limit_terms are effective, the others are stored and ignored', async () => {
	running().configure({ limitTerms: 2 });
	expect((await put({ terms: ['a', 'b', 'c'] })).body).toMatchObject({
		count: 3,
		limit_terms: 2,
		effective_terms: ['a', 'b'],
		ignored_terms: ['c'],
	});
});

it("a team member without a dictionary uses the owner's list", async () => {
	running().configure({ teamOwnerTerms: ['shared'] });
	expect((await ask('GET /dictionary')).body).toMatchObject({
		terms: ['shared'],
		inherited_from_team_owner: true,
	});
	expect((await put({ terms: ['own'] })).body).not.toHaveProperty('inherited_from_team_owner');
});

it('is applied to transcriptions', async () => {
	await put({ terms: ['SIMULATOR'] });
	const taskId = await submit();
	running().finish(taskId);
	expect((await ask(`GET /tasks/${taskId}/result`)).body['text']).toContain(
		'The SIMULATOR answers',
	);
});

it('preview shows what would change and saves nothing', async () => {
	const taskId = await submit();
	expect(
		(await ask('POST /dictionary/preview', { json: { task_id: taskId, terms: ['a'] } })).status,
	).toBe(400);
	running().finish(taskId);
	const json = { task_id: taskId, terms: ['Recording', 'nowhere', ''] };
	const { body } = await ask('POST /dictionary/preview', { json });
	expect(body).toMatchObject({
		task_id: taskId,
		changes: expect.arrayContaining([{ segment: 1, before: 'recording', after: 'Recording' }]),
	});
	expect((await ask('GET /dictionary')).body['count']).toBe(0);
	expect((await ask(`GET /tasks/${taskId}/result`)).body['text']).not.toContain('Recording');
});

it.each([{}, { terms: 'one' }, { terms: [1] }, { text: 5 }, []])('422 for %j', async (json) => {
	expect((await put(json)).status).toBe(422);
});

it('422 for a body that is not JSON', async () => {
	expect((await ask('PUT /dictionary', { form: { text: 'a' } })).status).toBe(422);
});

it.each(['dictionary', 'message', 'empty'] as const)('answers in the shape %s', async (shape) => {
	running().configure({ shapes: { dictionaryAnswer: shape } });
	const expected = { dictionary: 'terms', message: 'message', empty: undefined }[shape];
	expect(Object.keys((await put({ terms: ['a'] })).body)[0]).toBe(expected);
});
