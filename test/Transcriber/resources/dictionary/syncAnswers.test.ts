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
		[{ success: false, message: 'The database is down', terms: [] }],
		[{ error: 'The database is down', terms: [], count: 0 }],
	];
	const message =
		'The answer of the service holds no list of terms, so the dictionary was left as it is';

	few.it.each(ANSWERS)('answered as %j is no empty one: nothing is written', async (body) => {
		await given('precious');
		for (const parameters of [ADD, { ...SYNC, mode: 'replace' }, { ...ADD, dryRun: true }]) {
			answer(body);
			const { error } = await service.run(parameters);
			expect(error).toMatchObject(failureOf(0, message));
			// With a term per item, as Sync takes them, Replace would leave only that of the last item.
			expect(error?.description).not.toContain('Replace');
		}
		expect(service.lines()).toEqual(Array.from({ length: 3 }, () => 'GET /api/v1/dictionary'));
		expect(await stored()).toEqual(['precious']);
	});
});

it('a list of terms beside an error is the dictionary, before and after the write', async () => {
	await given('a');
	const beside = { error: 'The term "c" is too short' };
	answer({ terms: ['a'], ...beside });
	service.running().fault({
		match: { method: 'PUT' },
		times: 1,
		action: { kind: 'respond', status: 200, body: { terms: ['b'], message: 'added' } },
	});
	answer({ terms: ['a', 'b'], ...beside });
	const { json, error } = await service.run({ ...SYNC, mode: 'replace', terms: 'a\nb\nd' });
	expect(error?.message).toBeUndefined();
	expect(json).toMatchObject([{ removed: [], added: ['b'], not_stored: ['d'] }]);
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

	it.each([true, 'true', 1])(
		'keeps the terms of the team owner in force for who inherits them: %j',
		async (inherited) => {
			answer({ terms: ['owner'], inherited_from_team_owner: inherited });
			await service.run(ADD);
			expect(await stored()).toEqual(['owner', 'new']);
		},
	);

	const NO_OWN_TERMS = [{ terms: [] }, { terms: null }, {}];
	const FAULT = { terms: [], error: 'Not available' };

	it.each(NO_OWN_TERMS)(
		'keeps them also where they stand only among those that are applied, and ignored: %j',
		async (own) => {
			const owners = { effective_terms: ['owner'], ignored_terms: ['too many'] };
			answer({ ...own, ...owners, inherited_from_team_owner: true });
			const { json } = await service.run(ADD);
			expect(await stored()).toEqual(['owner', 'too many', 'new']);
			expect(json).toMatchObject([{ added: ['new'], removed: [] }]);
		},
	);

	it.each([...NO_OWN_TERMS, FAULT])('writes nothing where they are not shown: %j', async (own) => {
		await given('precious');
		answer({ ...own, inherited_from_team_owner: true });
		const { error } = await service.run(ADD);
		expect(error?.message).toMatch(/team owner's dictionary, .* nothing was written/);
		expect(error?.description).toContain('Write all terms that are to apply');
		expect(await stored()).toEqual(['precious']);
	});
});

it.each([50, '50'])(
	'what is over the limit of the service is refused before it is written: %j',
	async (limit) => {
		answer({ terms: [], limit_chars: limit });
		const { error } = await service.run({ ...SYNC, terms: 'x'.repeat(60) });
		expect(error?.message).toContain('holds at most 50');
		expect(service.lines()).toEqual(['GET /api/v1/dictionary']);
	},
);

const written = (method: string, body: object) =>
	service.running().fault({
		match: { method, path: '/dictionary$' },
		times: 1,
		action: { kind: 'respond', status: 200, body, readBody: true },
	});

describe.each([
	['replace', 'PUT'],
	['addMissing', 'POST'],
])('an answer to a write that lacks a term, in mode %s,', (mode, method) => {
	const terms = 'old\nnew\nLost';

	it('is reported as not stored, and not as added', async () => {
		await given('old', 'gone');
		written(method, { terms: ['old', 'new'], rejected: ['Lost'] });
		answer({ terms: ['old', 'gone'] });
		const kept = mode === 'replace' ? [] : ['gone'];
		answer({ terms: ['old', ...kept, 'new'] });
		const { json } = await service.run({ ...SYNC, mode, terms });
		const removed = mode === 'replace' ? ['gone'] : [];
		expect(json).toMatchObject([{ changed: true, added: ['new'], removed, not_stored: ['Lost'] }]);
	});

	it('is reported from the dictionary itself, even if that has nothing of the write', async () => {
		await given('old', 'gone');
		written(method, { terms: ['old', 'gone'] });
		answer({ terms: ['old', 'gone'] });
		const { json } = await service.run({ ...SYNC, mode, terms });
		const report = { changed: false, added: [], removed: [], not_stored: ['new', 'Lost'] };
		expect(json).toMatchObject([{ ...report, count: 2 }]);
	});

	it.each([
		['cannot be read', 404, {}],
		['has no list', 200, {}],
	])('is reported as the answer says if the dictionary %s', async (_what, status, body) => {
		await given('old', 'gone');
		written(method, { terms: ['old', 'new'] });
		answer({ terms: ['old', 'gone'] });
		service.running().fault({
			match: { method: 'GET', path: '/dictionary$' },
			action: { kind: 'respond', status, body },
		});
		const { json } = await service.run({ ...SYNC, mode, terms });
		const removed = mode === 'replace' ? ['gone'] : [];
		expect(json).toMatchObject([{ added: ['new'], removed, not_stored: ['Lost'] }]);
	});

	it.each([
		['only the others', ['new']],
		['other capitals and blanks', ['old', ' NEW', 'lost ']],
	])('is none if the dictionary has the term: %s', async (_what, listed) => {
		await given('old');
		written(method, { terms: listed });
		answer({ terms: ['old'] });
		answer({ terms: ['old', 'new', 'Lost'] });
		const { error, json } = await service.run({ ...SYNC, mode, terms });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ added: ['new', 'Lost'] }]);
		expect(json[0]).not.toHaveProperty('not_stored');
	});
});

describe('a success that says that nothing was done', () => {
	const NO = { success: false, message: 'The dictionary is locked' };

	it.each([
		['sync', 'PUT', { terms: 'new' }, NO],
		['sync', 'PUT', { terms: 'new' }, { ...NO, success: 'false' }],
		['sync', 'PUT', { terms: 'new' }, { ...NO, success: 0 }],
		['sync', 'POST', { terms: 'new', mode: 'addMissing' }, NO],
		['replace', 'PUT', { terms: 'new' }, NO],
		['sync', 'PUT', { terms: 'new' }, { error: 'The dictionary is locked' }],
		['sync', 'PUT', { terms: 'new' }, { detail: { ...NO, error_code: 'locked' } }],
	])('is an error with its reason: %s with %s', async (operation, method, parameters, body) => {
		await given('old');
		service.running().fault({
			match: { method, path: '/dictionary$' },
			action: { kind: 'respond', status: 200, body, readBody: true },
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

it.each([-1, '-1', 0])('a limit_terms of %j is none, so no term is ignored', async (limit) => {
	answer({ terms: [], limit_terms: limit });
	const { json } = await service.run({ ...SYNC, terms: 'a\nb', dryRun: true });
	expect(json[0]?.ignored_terms ?? []).toEqual([]);
});

describe('The figures in the report', () => {
	it('are none of an answer that lists and counts only what was added', async () => {
		await given('old', 'older');
		written('POST', { terms: ['new'], count: 1, chars: 3 });
		const { json } = await service.run(ADD);
		expect(json).toMatchObject([{ added: ['new'], count: 3, chars: 11 }]);
	});

	it('are those of the dictionary where it was read again', async () => {
		await given('old', 'gone');
		written('PUT', { terms: ['old'], count: 1, chars: 3, ignored_terms: ['new'] });
		answer({ terms: ['old', 'gone'], count: 2, chars: 7 });
		answer({ terms: ['old', 'new'], count: 2, chars: 6, ignored_terms: [] });
		const { json } = await service.run({ ...SYNC, terms: 'old\nnew' });
		expect(json).toMatchObject([{ added: ['new'], removed: ['gone'], count: 2, chars: 6 }]);
		expect(json[0]?.ignored_terms).toEqual([]);
	});

	it('and lists name each term as the dictionary has it, if one was not stored', async () => {
		await given('Kubernetes');
		written('PUT', { terms: ['Kubernetes'] });
		answer({ terms: ['Kubernetes'] });
		answer({ terms: ['Kubernetes'] });
		const { json } = await service.run({ ...SYNC, terms: 'kubernetes\nLost' });
		const report = { changed: false, added: [], removed: [], not_stored: ['Lost'], count: 1 };
		expect(json).toMatchObject([report]);
	});
});

it.each(['replace', 'addMissing'])(
	'a term that the service has stored with single blanks is not written again, in mode %s',
	async (mode) => {
		await given('New York');
		const { json } = await service.run({ ...SYNC, mode, terms: 'New  York' });
		expect(json).toMatchObject([{ changed: false, added: [], removed: [], count: 1 }]);
		expect(service.lines()).toEqual(['GET /api/v1/dictionary']);
	},
);

it('a dictionary that is over the limit of a smaller plan may stay as it is', async () => {
	answer({ terms: ['Kubernetes', 'OKR'], limit_chars: 10 });
	const { json } = await service.run({ ...SYNC, terms: 'Kubernetes\nOKR' });
	expect(json).toMatchObject([{ changed: false }]);
});

it('a term that the service has dropped beside one with other capitals is not reported as added', async () => {
	await given('Kubernetes');
	const body = { terms: ['Kubernetes'], count: 1, chars: 10 };
	service.running().fault({
		match: { method: 'POST', path: '/dictionary$' },
		times: 1,
		action: { kind: 'respond', status: 200, body },
	});
	const { json } = await service.run({ ...ADD, terms: 'kubernetes' });
	const report = { changed: false, added: [], removed: [], unchanged: ['Kubernetes'], count: 1 };
	expect(json).toMatchObject([report]);
});

describe('a service that stores terms in small letters', () => {
	const list = (method: string, terms: string[]) =>
		service.running().fault({
			match: { method, path: '/dictionary$' },
			action: { kind: 'respond', status: 200, body: { terms, count: terms.length } },
		});

	it.each(['replace', 'addMissing'])(
		'and lists the same terms before and after a write has changed nothing: %s',
		async (mode) => {
			for (const method of ['GET', 'PUT', 'POST']) list(method, ['kubernetes', 'okr']);
			const { json, error } = await service.run({ ...SYNC, mode, terms: 'Kubernetes\nOKR' });
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ changed: false, added: [], removed: [], count: 2 }]);
		},
	);

	it('is sent a new term as long as it may have room for one spelling of each', async () => {
		const terms = Array.from(
			{ length: 500 },
			(_, index) => `Kubernetes cluster no ${1000 + index}`,
		);
		const stored = terms.map((term) => term.toLowerCase());
		list('GET', stored);
		list('POST', [...stored, 'okr']);
		const { json, error } = await service.run({ ...ADD, terms: [...terms, 'OKR'].join('\n') });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ changed: true, added: ['OKR'], removed: [] }]);
	});
});

it.each([
	['the list from before it', 'a', ['a', 'b'], { changed: true, removed: ['b'], count: 1 }],
	['a sorted list', 'b\na', ['a', 'b'], { changed: true, reordered: true }],
	['a list with a term of somebody else', 'a\nc', ['a', 'c', 'x'], { added: ['c'], count: 2 }],
	['one of two spellings', 'a\nGPT\ngpt', ['a', 'Gpt'], { added: ['GPT'], count: 2 }],
])(
	'a replacement that is answered with %s is reported as it was sent',
	async (_what, terms, listed, report) => {
		await given('a', 'b');
		service.running().fault({
			match: { method: 'PUT' },
			times: 1,
			action: { kind: 'respond', status: 200, body: { terms: listed } },
		});
		const { json, error } = await service.run({ ...SYNC, mode: 'replace', terms });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([report]);
	},
);

it('a replacement that is answered with the list from before it is not counted by that list', async () => {
	await given('a', 'b');
	const body = { terms: ['a', 'b'], count: 2, chars: 2 };
	const action = { kind: 'respond', status: 200, body } as const;
	service.running().fault({ match: { method: 'PUT' }, times: 1, action });
	const { json } = await service.run({ ...SYNC, mode: 'replace', terms: 'a' });
	expect(json).toMatchObject([{ removed: ['b'], unchanged: ['a'], count: 1, chars: 1 }]);
});

it('what is added is counted by the answer, also if somebody else has added a term meanwhile', async () => {
	await given('a');
	const body = { terms: ['a', 'x', 'c'], count: 3, chars: 3, ignored_terms: ['c'] };
	const action = { kind: 'respond', status: 200, body } as const;
	service.running().fault({ match: { method: 'POST' }, times: 1, action });
	const { json } = await service.run({ ...ADD, terms: 'a\nc' });
	expect(json).toMatchObject([{ added: ['c'], removed: [], count: 3, ignored_terms: ['c'] }]);
});

describe.each([
	['in its answer', 'PUT'],
	['in the dictionary, which is read again', 'GET'],
])('of two spellings of a term, the service has %s', (_where, method) => {
	it.each([
		['only the second', ['GPT', 'a'], 'a\nGPT\ngpt', ['a', 'gpt'], ['gpt'], ['GPT']],
		['only the first', ['gpt', 'a'], 'a\nGPT\ngpt', ['a', 'GPT'], ['GPT'], ['gpt']],
		['both', ['gpt'], 'GPT\ngpt', ['gpt', 'GPT'], ['GPT'], []],
		['one as it was before', ['gpt'], 'GPT\nGpt\na', ['gpt', 'a'], ['a'], []],
	])('%s, says the report', async (_which, old, terms, listed, added, removed) => {
		await given(...old);
		const answer = (list: string[], skip = 0) => ({
			times: 1,
			skip,
			action: { kind: 'respond', status: 200, body: { terms: list } } as const,
		});
		const put = method === 'PUT' ? listed : ['of somebody else'];
		service.running().fault({ match: { method: 'PUT' }, ...answer(put) });
		service.running().fault({ match: { method: 'GET' }, ...answer(listed, 1) });
		const { json, error } = await service.run({ ...SYNC, mode: 'replace', terms });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ added, removed, changed: true }]);
	});
});
