// Also covers sync.ts.
import { failureOf, serviceForTests } from '../../../support/service';
import { few } from '../../../support/long';

const service = serviceForTests();

const SYNC = { resource: 'dictionary', operation: 'sync', terms: 'new' };
const ADD = { ...SYNC, mode: 'addMissing' };
const stored = async () => (await service.ask('GET /dictionary')).body['terms'];

async function given(...terms: string[]) {
	await service.ask('PUT /dictionary', { json: { terms } });
}

function answer(body: unknown) {
	service.running().fault({
		match: { method: 'GET', path: '/dictionary$' },
		times: 1,
		action: { kind: 'respond', status: 200, body },
	});
}

describe('a dictionary without terms', () => {
	const ANSWERS: Array<[unknown]> = [
		[{}],
		[''],
		[[]],
		[{ terms: null }],
		[{ terms: 'a' }],
		[{ terms: [{ term: 'a' }] }],
		[{ data: { terms: [] } }],
	];
	const message =
		'The answer of the service holds no list of terms, so the dictionary was left as it is';

	few.it.each(ANSWERS)('answered as %j is no empty one: nothing is written', async (body) => {
		await given('precious');
		for (const parameters of [ADD, { ...SYNC, mode: 'replace' }, { ...ADD, dryRun: true }]) {
			answer(body);
			expect((await service.run(parameters)).error).toMatchObject(failureOf(0, message));
		}
		expect(service.lines()).toEqual(Array.from({ length: 3 }, () => 'GET /api/v1/dictionary'));
		expect(await stored()).toEqual(['precious']);
	});
});

describe('mode addMissing', () => {
	it('sends one POST with only the terms that are missing, and says which these are', async () => {
		await given('old', 'both');
		const { json } = await service.run({ ...ADD, terms: 'both\nnew\nnewer' });
		expect(service.lines()).toEqual(['GET /api/v1/dictionary', 'POST /api/v1/dictionary']);
		expect(service.running().requests[1]?.body).toEqual({ terms: ['new', 'newer'] });
		expect(json).toMatchObject([{ changed: true, added: ['new', 'newer'], removed: [], count: 4 }]);
	});

	it('sends nothing where no term is missing', async () => {
		await given('new', 'old');
		expect((await service.run(ADD)).json).toMatchObject([{ changed: false, added: [] }]);
		expect(service.lines()).toEqual(['GET /api/v1/dictionary']);
	});

	it('sends nothing either where the service lists a term twice', async () => {
		answer({ terms: ['new', 'old', 'new '] });
		expect((await service.run(ADD)).json).toMatchObject([{ changed: false, added: [] }]);
		expect(service.lines()).toEqual(['GET /api/v1/dictionary']);
	});

	it('loses nothing of three executions at once', async () => {
		await given('old');
		await Promise.all(['a', 'b', 'c'].map(async (terms) => await service.run({ ...ADD, terms })));
		expect(await stored()).toHaveLength(4);
		expect(await stored()).toEqual(expect.arrayContaining(['old', 'a', 'b', 'c']));
	});

	it('keeps the terms of the team owner in force for who inherits them', async () => {
		answer({ terms: ['owner'], inherited_from_team_owner: true });
		await service.run(ADD);
		expect(await stored()).toEqual(['owner', 'new']);
	});
});

describe('a success that says that nothing was done', () => {
	const NO = { success: false, message: 'The dictionary is locked' };

	it.each([
		['sync', 'PUT', { terms: 'new' }],
		['sync', 'POST', { terms: 'new', mode: 'addMissing' }],
		['replace', 'PUT', { terms: 'new' }],
	])('is an error with its reason: %s with %s', async (operation, method, parameters) => {
		await given('old');
		service.running().fault({
			match: { method, path: '/dictionary$' },
			action: { kind: 'respond', status: 200, body: NO, readBody: true },
		});
		const { error } = await service.run({ resource: 'dictionary', operation, ...parameters });
		const message =
			'The service answered that the dictionary is not changed: The dictionary is locked';
		expect(error).toMatchObject(failureOf(0, message));
	});
});

it('Add takes it for a success: the service may say that no term is new', async () => {
	const body = { success: false, message: 'No new terms' };
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'respond', status: 200, body, readBody: true },
	});
	const { json } = await service.run({ resource: 'dictionary', operation: 'add', terms: 'old' });
	expect(json).toEqual([body]);
});

it('the report of what Sync did is not overwritten by the answer', async () => {
	await given('old');
	const body = { terms: ['old', 'new'], added: 1, removed: 0, chars: 99 };
	service.running().fault({
		match: { method: 'POST', path: '/dictionary$' },
		times: 1,
		action: { kind: 'respond', status: 200, body },
	});
	const { json } = await service.run(ADD);
	expect(json).toMatchObject([{ added: ['new'], removed: [], chars: 99 }]);
});
