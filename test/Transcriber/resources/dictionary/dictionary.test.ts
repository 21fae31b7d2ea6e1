// Also covers index.ts, add.ts, clear.ts, get.ts, writesInTurn.ts, preview.ts, replace.ts, terms.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { byId, failureOf, itemsOf, serviceForTests } from '../../../support/service';
import { few, long } from '../../../support/long';

const service = serviceForTests();

function run(operation: string, parameters = {}, more = {}) {
	return service.run({ resource: 'dictionary', operation, ...parameters }, more);
}

const stored = async () => (await service.ask('GET /dictionary')).body;

describe('dictionary.get', () => {
	it('sends GET /dictionary without query or body', async () => {
		await run('get');
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: '/api/v1/dictionary',
			query: {},
			bodyBytes: 0,
		});
		expect(service.sent().headers['x-api-key']).toBe('test-api-key');
	});

	it('outputs the dictionary as one item with the names of the service, paired', async () => {
		service.running().configure({ limitTerms: 1 });
		await service.ask('PUT /dictionary', { json: { terms: ['n8n', 'OKR'] } });
		const { items } = await run('get');
		expect(items).toEqual([
			{
				json: {
					terms: ['n8n', 'OKR'],
					count: 2,
					chars: 6,
					limit_chars: 20_000,
					limit_terms: 1,
					effective_terms: ['n8n'],
					ignored_terms: ['OKR'],
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	it('outputs inherited_from_team_owner of a team member without a dictionary', async () => {
		service.running().configure({ teamOwnerTerms: ['OKR'] });
		const { json } = await run('get');
		expect(json).toMatchObject([{ terms: ['OKR'], inherited_from_team_owner: true }]);
	});
});

/** What holds for both ways to send terms. `after`: the terms when n8n was sent and old was there. */
function describeTerms(operation: 'replace' | 'add', method: string, after: string[]): void {
	// Both read the terms in the same way.
	const rule = operation === 'replace' ? it : long.it;
	const rows = operation === 'replace' ? few.it : long.it;
	beforeEach(async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['old'] } });
	});

	it(`sends ${method} /dictionary with the terms in a JSON body, and nothing else`, async () => {
		await run(operation, { terms: 'n8n' });
		const request = service.sent();
		expect(request).toMatchObject({ method, path: '/api/v1/dictionary', query: {} });
		expect(request.body).toEqual({ terms: ['n8n'] });
		expect(request.headers['content-type']).toMatch(/^application\/json\b/);
		expect(await stored()).toMatchObject({ terms: after });
	});

	it('outputs what the service answers, paired', async () => {
		const { items } = await run(operation, { terms: 'n8n' });
		expect(items).toEqual([
			{
				json: expect.objectContaining({ terms: after, count: after.length }),
				pairedItem: { item: 0 },
			},
		]);
	});

	rows.each([
		['message', { message: 'Done' }],
		['empty', {}],
	] as const)('reads the answer in the shape "%s"', async (dictionaryAnswer, json) => {
		service.running().configure({ shapes: { dictionaryAnswer } });
		const { items } = await run(operation, { terms: 'n8n' });
		expect(items).toEqual([{ json, pairedItem: { item: 0 } }]);
	});

	rows.each([
		['an array by expression', '={{ ["OKR", "Анна Петрова", "n8n"] }}'],
		['a string with one term a line', 'OKR\nАнна Петрова\r\nn8n'],
		['a string with one term a line, by expression', '={{ "OKR\\nАнна Петрова\\nn8n" }}'],
		[
			'blanks and duplicates, which are dropped',
			'={{ [" OKR ", "", "Анна Петрова", "OKR", "n8n"] }}',
		],
		['empty cells, which are dropped', '={{ ["OKR", null, undefined, "Анна Петрова", "n8n"] }}'],
	])('specifyTerms list (default): terms may be %s', async (_what, terms) => {
		await run(operation, { terms });
		expect(service.sent().body).toEqual({ terms: ['OKR', 'Анна Петрова', 'n8n'] });
	});

	rule('specifyTerms list: a term may hold the separators of a text', async () => {
		await run(operation, { terms: 'Smith, John; PhD\nn8n' });
		expect(service.sent().body).toEqual({ terms: ['Smith, John; PhD', 'n8n'] });
	});

	rule('specifyTerms list: terms may be numbers', async () => {
		await run(operation, { terms: '={{ ["n8n", 365] }}' });
		expect(service.sent().body).toEqual({ terms: ['n8n', '365'] });
	});

	rule('specifyTerms text: sends the text as it is, for the service to separate', async () => {
		const text = 'OKR, Анна Петрова; n8n\nKubernetes';
		await run(operation, { specifyTerms: 'text', text });
		expect(service.sent().body).toEqual({ text });
		expect(await stored()).toMatchObject({
			terms: expect.arrayContaining(['OKR', 'Анна Петрова', 'n8n', 'Kubernetes']),
		});
	});

	rule('refuses an error of a sheet, in a list and in a text', async () => {
		const { error } = await run(operation, { terms: '={{ ["n8n", "#REF!"] }}' });
		expect(error?.message).toContain("'Terms' has '#REF!' as a term in item 0");
		const { error: ofText } = await run(operation, { specifyTerms: 'text', text: 'n8n, #Н/Д' });
		expect(ofText?.message).toContain("'Text' has '#Н/Д' as a term in item 0");
		expect(service.lines()).toEqual([]);
	});

	rows.each(['undefined', 'null', 'NaN', ' undefined '])(
		'refuses "%s" as one of the lines or parts: an expression gave nothing',
		async (part) => {
			const { error } = await run(operation, { terms: `={{ "n8n\\n${part}\\nOKR" }}` });
			expect(error?.message).toContain(`'Terms' has '${part.trim()}' as a term in item 0`);
			const asText = { specifyTerms: 'text', text: `=n8n,${part}; OKR` };
			const { error: ofText } = await run(operation, asText);
			expect(ofText?.message).toContain(`'Text' has '${part.trim()}' as a term in item 0`);
			expect(service.lines()).toEqual([]);
		},
	);

	rows.each([
		[
			'a term that only begins with such a word',
			'={{ "null island\\nn8n" }}',
			['null island', 'n8n'],
		],
		['such a word that the user has typed', 'Promise\nnull', ['Promise', 'null']],
	])('takes %s', async (_, terms, sent) => {
		await run(operation, { terms });
		expect(service.sent().body).toEqual({ terms: sent });
	});

	rule('sends 20 000 characters, counted as the service counts', async () => {
		const { error } = await run(operation, {
			terms: `={{ [ "😀".repeat(${20_000 - 'old'.length}) ] }}`,
		});
		expect(error).toBeUndefined();
	});

	rule('takes the terms from an expression per item', async () => {
		await run(
			operation,
			{ terms: '={{ $json.terms }}' },
			{ items: itemsOf({ terms: ['a', 'b'] }, { terms: 'c\nd' }) },
		);
		const bodies = service.running().requests.map(({ body }) => body);
		expect(bodies).toHaveLength(2);
		expect(bodies).toEqual(expect.arrayContaining([{ terms: ['a', 'b'] }, { terms: ['c', 'd'] }]));
	});
}

describe('dictionary.replace', () => {
	describeTerms('replace', 'PUT', ['n8n']);
});

describe('dictionary.add', () => {
	describeTerms('add', 'POST', ['old', 'n8n']);

	it('413: what there is and what is new are too large together; nothing was changed', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['x'.repeat(15_000)] } });
		const { error } = await run('add', { terms: `={{ "y".repeat(5_001) }}` });
		expect(error).toMatchObject(
			failureOf(0, 'The dictionary would be larger than 20 000 characters'),
		);
		expect(await stored()).toMatchObject({ count: 1 });
	});
});

describe('dictionary.clear', () => {
	it('sends DELETE /dictionary without query or body', async () => {
		await run('clear');
		expect(service.sent()).toMatchObject({
			method: 'DELETE',
			path: '/api/v1/dictionary',
			query: {},
			bodyBytes: 0,
		});
	});

	it('outputs deleted: true beside what the service answers, paired', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['n8n'] } });
		const { items } = await run('clear');
		expect(items).toEqual([
			{
				json: expect.objectContaining({ deleted: true, terms: [], count: 0 }),
				pairedItem: { item: 0 },
			},
		]);
		expect(await stored()).toMatchObject({ terms: [] });
	});

	it.each([
		[
			{ success: false, message: 'Locked' },
			{ success: false, message: 'Locked' },
		],
		[{ deleted: false }, {}],
		[{ error: 'Locked' }, { service_error: 'Locked' }],
	])(
		'is an error if the service answers %j and keeps the terms, and a success if it has none',
		async (body, shown) => {
			await service.ask('PUT /dictionary', { json: { terms: ['n8n'] } });
			service.running().fault({
				match: { method: 'DELETE' },
				times: 2,
				action: { kind: 'respond', status: 200, body },
			});
			const words = 'deleted' in body ? '{"deleted":false}' : 'Locked';
			const said = `The service answered that the dictionary is not changed: ${words}`;
			expect((await run('clear')).error?.message).toContain(said);
			await service.ask('PUT /dictionary', { json: { terms: [] } });
			expect((await run('clear')).json).toEqual([{ ...shown, deleted: true }]);
		},
	);

	it('is an error if the service says no, and also when it is asked for the terms', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['n8n'] } });
		service.running().fault({
			match: { path: '/dictionary$' },
			times: 2,
			action: {
				kind: 'respond',
				status: 200,
				body: { success: false, message: 'Locked', terms: [] },
			},
		});
		expect((await run('clear')).error?.message).toContain('Locked');
		expect(await stored()).toMatchObject({ terms: ['n8n'] });
	});

	it.each([404, 409])(
		'refused with %i is a success for a team member without terms, who sees those of the owner',
		async (status) => {
			const owners = { terms: ['OKR'], inherited_from_team_owner: true };
			const match = { path: '/dictionary$' };
			service.running().fault({
				match: { ...match, method: 'DELETE' },
				action: { kind: 'respond', status },
			});
			service.running().fault({
				match: { ...match, method: 'GET' },
				times: 9,
				action: { kind: 'respond', status: 200, body: owners },
			});
			expect(await run('clear')).toMatchObject({ error: undefined, json: [{ deleted: true }] });
		},
	);

	it.each([
		['message', { message: 'Done', deleted: true }],
		['empty', { deleted: true }],
	] as const)('reads the answer in the shape "%s"', async (dictionaryAnswer, json) => {
		service.running().configure({ shapes: { dictionaryAnswer } });
		expect((await run('clear')).json).toEqual([json]);
	});
});

describe('dictionary.preview', () => {
	it('sends POST /dictionary/preview with task and terms in a JSON body, and nothing else', async () => {
		const id = await service.completedTask();
		await run('preview', { taskId: byId(id), terms: 'SIMULATED\nnobody' });
		const request = service.sent();
		expect(request).toMatchObject({
			method: 'POST',
			path: '/api/v1/dictionary/preview',
			query: {},
		});
		expect(request.body).toEqual({ task_id: id, terms: ['SIMULATED', 'nobody'] });
	});

	it('outputs what the service answers, paired; the dictionary stays as it was', async () => {
		const id = await service.completedTask();
		const { items } = await run('preview', { taskId: byId(id), terms: 'SIMULATED' });
		expect(items).toEqual([
			{
				json: expect.objectContaining({ task_id: id, changes: expect.any(Array) }),
				pairedItem: { item: 0 },
			},
		]);
		expect(items[0]?.json['changes']).not.toEqual([]);
		expect(await stored()).toMatchObject({ terms: [] });
	});

	it('terms may be an array, and task and terms come from expressions per item', async () => {
		const ids = [await service.completedTask(), await service.completedTask()];
		const { json } = await run(
			'preview',
			{ taskId: byId('={{ $json.id }}'), terms: '={{ $json.terms }}' },
			{ items: itemsOf({ id: ids[1], terms: ['a'] }, { id: ids[0], terms: ['b', 'c'] }) },
		);
		expect(json.map(({ task_id: id }) => id)).toEqual([ids[1], ids[0]]);
		expect(service.running().requests.map(({ body }) => body)).toEqual(
			expect.arrayContaining([
				{ task_id: ids[1], terms: ['a'] },
				{ task_id: ids[0], terms: ['b', 'c'] },
			]),
		);
	});

	it('a task that is not completed is an error with the words of the service', async () => {
		const id = await service.pendingTask();
		const { error } = await run('preview', { taskId: byId(id), terms: 'a' });
		expect(error).toMatchObject({ context: { itemIndex: 0 } });
		expect(error?.description).toContain('The task is pending, not completed');
	});

	it('a task that the service does not know is an error that names the parameter', async () => {
		const { error } = await run('preview', { taskId: byId('nobody'), terms: 'a' });
		expect(error).toMatchObject(failureOf(0, 'The service has no transcript under this ID'));
		expect(error?.description).toContain("'Task'");
	});
});

describe('dictionary.replace with one term that is a list', () => {
	beforeEach(async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['old'] } });
	});

	it.each(['Kubernetes, OKR', 'Kubernetes; OKR', '={{ ["Kubernetes, OKR"] }}', ' a,b \n\n a,b '])(
		'is refused by name, because it would replace all the others: %j',
		async (terms) => {
			const { error } = await run('replace', { terms });
			expect(error?.message).toMatch(/^'Terms' is one single term with a comma or semicolon/);
			expect(error?.description).toMatch(/each term on a separate line.*As Text/);
			expect(service.lines()).toEqual([]);
			expect(await stored()).toMatchObject({ terms: ['old'] });
		},
	);

	it.each([
		['several terms, of which one has a comma', { terms: 'Petrov, Ivan\nOKR' }],
		['a text of terms', { specifyTerms: 'text', text: 'Petrov, Ivan' }],
		['a text of one term', { specifyTerms: 'text', text: 'OKR;' }],
	])('but takes %s', async (_what, parameters) => {
		const { error } = await run('replace', parameters);
		expect(error).toBeUndefined();
		expect(service.lines()).toEqual(['PUT /api/v1/dictionary']);
	});
});

it('dictionary.add takes one term with a comma, which replaces nothing', async () => {
	const { error } = await run('add', { terms: 'Petrov, Ivan' });
	expect(error).toBeUndefined();
	expect(await stored()).toMatchObject({ terms: ['Petrov, Ivan'] });
});

describe('several items that write the dictionary', () => {
	const each = { terms: '={{ $json.term }}' };

	it.each([
		['refuses', { kind: 'respond', status: 422 }],
		['does not carry out', { kind: 'respond', status: 200, body: { success: false } }],
	] as const)('after a write that the service %s, no later item writes', async (_, action) => {
		service.running().fault({ match: { method: 'PUT' }, action });
		const items = itemsOf({ term: 'a' }, { term: 'b' }, { term: 'c' });
		const { error } = await run('replace', each, { items });
		expect(error).toMatchObject({ context: { itemIndex: 0 } });
		await sleep(50);
		expect(service.lines()).toEqual(['PUT /api/v1/dictionary']);
	});

	it('with Continue, an item that is invalid lets none of the others overtake each other', async () => {
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'delay', ms: 100 } });
		const items = itemsOf({ term: 'a' }, { term: '#REF!' }, { term: 'c' });
		const { json } = await run('replace', each, {
			items,
			node: { onError: 'continueRegularOutput' },
		});
		expect(json.map((item) => 'error' in item)).toEqual([false, true, false]);
		expect(await stored()).toMatchObject({ terms: ['c'] });
	});
});

describe('several items at a service that is away', () => {
	const AWAY = { kind: 'respond', status: 503 } as const;
	const TRIED_AGAIN = /while the node was trying again/;
	const node = { onError: 'continueRegularOutput' } as const;
	beforeEach(() => jest.replaceProperty(RETRY, 'patienceWhenBroken', 120_000));
	/** The requests to add a term, told apart by its length: the simulator reads no body that it refuses. */
	const posted = (term: string) => {
		const bytes = String(JSON.stringify({ terms: [term] }).length);
		return service.running().requests.filter(({ headers }) => headers['content-length'] === bytes);
	};
	const items = itemsOf({ term: 'a' }, { term: 'bb' }, { term: 'ccc' });

	it('with Continue, add waits for it once, and not for each item', async () => {
		jest.replaceProperty(RETRY, 'base', 5);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100);
		service.running().fault({ match: { method: 'POST' }, times: 10_000, action: AWAY });
		const { json } = await run('add', { terms: '={{ $json.term }}' }, { items, node });
		expect(json.map(({ error }) => TRIED_AGAIN.test(String(error)))).toEqual([true, false, false]);
		expect(posted('a').length).toBeGreaterThan(1);
		expect([posted('bb').length, posted('ccc').length]).toEqual([1, 1]);
	});

	it.each([
		['a service that answers 429 is away, so it has one attempt', 429, 1],
		['a 408 of a proxy may be about the first terms, so it has several', 408, 2],
	])('with Continue, add goes on with the next item: %s', async (_, status, attempts) => {
		jest.replaceProperty(RETRY, 'base', 5);
		for (const patience of ['patienceWhenBusy', 'patienceWhenBroken'] as const) {
			jest.replaceProperty(RETRY, patience, 60);
		}
		const action = { kind: 'respond', status } as const;
		service.running().fault({ match: { method: 'POST' }, times: 10_000, action });
		const { json } = await run('add', { terms: '={{ $json.term }}' }, { items, node });
		expect(json.map((item) => 'error' in item)).toEqual([true, true, true]);
		expect(posted('a').length).toBeGreaterThan(1);
		expect(Math.min(posted('bb').length, 2)).toBe(attempts);
	});

	it('with Continue, add is patient with the next item after a 500, which is never tried again', async () => {
		jest.replaceProperty(RETRY, 'base', 5);
		const broken = { kind: 'respond', status: 500 } as const;
		service.running().fault({ match: { method: 'POST' }, action: broken });
		service.running().fault({ match: { method: 'POST' }, times: 2, action: AWAY });
		const { json } = await run('add', { terms: '={{ $json.term }}' }, { items, node });
		expect(json.map((item) => 'error' in item)).toEqual([true, false, false]);
		expect([posted('a').length, posted('bb').length]).toEqual([1, 3]);
	});

	it('with Continue, add is patient again once the service has answered', async () => {
		jest.replaceProperty(RETRY, 'base', 5);
		const inAnHour = { ...AWAY, headers: { 'Retry-After': '3600' } };
		service.running().fault({ match: { method: 'POST' }, action: inAnHour });
		service.running().fault({ match: { method: 'POST' }, skip: 1, times: 2, action: AWAY });
		const { json } = await run('add', { terms: '={{ $json.term }}' }, { items, node });
		expect(json.map((item) => 'error' in item)).toEqual([true, false, false]);
		expect(posted('ccc')).toHaveLength(3);
	});

	it('clear sends nothing for the other items after the error that stops the node', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['n8n'] } });
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		service.running().fault({ match: { method: 'DELETE' }, action: AWAY });
		const { error } = await run('clear', {}, { items: itemsOf({}, {}, {}) });
		expect(error?.message).toContain('temporarily unavailable');
		expect(await stored()).toMatchObject({ terms: ['n8n'] });
	});

	it('with Continue, clear waits for it once, and not for each item', async () => {
		jest.replaceProperty(RETRY, 'base', 5);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 60);
		service.running().fault({ match: { method: 'DELETE' }, times: 10_000, action: AWAY });
		const { json } = await run('clear', {}, { items: itemsOf({}, {}, {}), node });
		expect(json.map(({ error }) => TRIED_AGAIN.test(String(error)))).toEqual([true, false, false]);
	});

	it('clear tries once for each of the other items with Continue', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		service.running().fault({ match: { method: 'DELETE' }, times: 3, action: AWAY });
		const { json } = await run('clear', {}, { items: itemsOf({}, {}, {}, {}), node });
		expect(json.map((item) => 'error' in item)).toEqual([true, true, true, false]);
	});
});
