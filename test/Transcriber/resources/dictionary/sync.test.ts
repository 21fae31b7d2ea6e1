// Also covers syncReport.ts, missingTerms.ts, termsOfItem.ts, checkNoTermIsLost.ts, lostWrites.ts.

import {
	NodeOperationError,
	type IDataObject,
	type INode,
	type INodeParameters,
} from 'n8n-workflow';

import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { again } from '../../../support/again';
import type { Run } from '../../../support/engine';
import { failureOf, itemsOf, serviceForTests } from '../../../support/service';
import { captureLogs } from '../../../support/logs';
import { atLength, few } from '../../../support/long';

const service = serviceForTests();

const TERM = '={{ $json.term }}';

async function sync(terms: unknown[], parameters: INodeParameters = {}, more: Partial<Run> = {}) {
	return await service.run(
		{ resource: 'dictionary', operation: 'sync', terms: TERM, ...parameters },
		{ items: itemsOf(...terms.map((term) => ({ term }) as IDataObject)), ...more },
	);
}

async function given(...terms: string[]): Promise<void> {
	await service.ask('PUT /dictionary', { json: { terms } });
}

const stored = async () => (await service.ask('GET /dictionary')).body['terms'];

const READ = 'GET /api/v1/dictionary';
const WRITE = 'PUT /api/v1/dictionary';

describe('dictionary.sync: all input items are one sync', () => {
	it('all rows are one GET and one PUT, which sends the terms and nothing else', async () => {
		const terms = Array.from({ length: atLength(100, 20) }, (_, row) => `term ${row}`);
		await sync(terms);
		expect(service.lines()).toEqual([READ, WRITE]);
		const [read, write] = service.running().requests;
		expect(read).toMatchObject({ query: {}, bodyBytes: 0 });
		expect(write).toMatchObject({ query: {}, body: { terms } });
		expect(write?.body).toEqual({ terms });
		expect(await stored()).toEqual(terms);
	});

	it.each([
		['an expression', '{{\n$json.term }}', 'holds an expression as plain text'],
		['the name of a column', 'term', "holds 'term', which is the name of a column"],
	])(
		'refuses %s that was typed into the fixed field, and keeps the dictionary',
		async (_, terms, why) => {
			await given('Kubernetes');
			const { error } = await sync(['a', 'b'], { terms });
			expect(error?.message).toContain(why);
			expect(await stored()).toEqual(['Kubernetes']);
		},
	);

	it('takes a term with braces that an expression gives', async () => {
		await sync(['{{name}}', 'term']);
		expect(await stored()).toEqual(['{{name}}', 'term']);
	});

	it('outputs one item, paired with all input items', async () => {
		const { items } = await sync(['a', 'b', 'c']);
		expect(items).toHaveLength(1);
		expect(items[0]?.pairedItem).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	it('`terms` is evaluated for every item, also where it reads beside the item itself', async () => {
		await sync(['a', 'b'], { terms: '={{ $itemIndex + $json.term + $input.all().length }}' });
		expect(await stored()).toEqual(['0a2', '1b2']);
	});

	it("an expression may reach back to another node's paired item", async () => {
		await sync(['a', 'b'], { terms: "={{ $('Source').item.json.term }}" });
		expect(await stored()).toEqual(['a', 'b']);
	});

	it.each(['replace', 'addMissing'])(
		'%s evaluates each expression in a list of them for every item',
		async (mode) => {
			await given('b', 'c', 'x');
			const terms = ['={{ $json.term }}', 'fixed', "={{ $json.term + '!' }}"];
			const { json } = await sync(['a', 'b', 'c'], { terms, mode });
			const all = ['a', 'fixed', 'a!', 'b', 'b!', 'c', 'c!'];
			const added = all.filter((term) => !['b', 'c'].includes(term));
			expect(await stored()).toEqual(mode === 'replace' ? all : ['b', 'c', 'x', ...added]);
			expect(json).toMatchObject([{ added, removed: mode === 'replace' ? ['x'] : [] }]);
		},
	);

	it('an expression in a list that cannot be evaluated for one item stops the sync', async () => {
		const terms = ['fixed', "={{ $json.term === 'b' ? $('Missing').item.json.x : 'a' }}"];
		const node = { onError: 'continueRegularOutput' as const };
		const { json } = await sync(['a', 'b'], { terms }, { node });
		expect(json[0]?.['error']).toContain("'Terms' of item 1 cannot be read");
		expect(service.lines()).toEqual([]);
	});

	it('a fixed text is one list, however many items there are', async () => {
		await sync(['x', 'y'], { terms: 'n8n\nOKR' });
		expect(await stored()).toEqual(['n8n', 'OKR']);
	});

	it('with Execute Once only the first item counts', async () => {
		const { items } = await sync(['a', 'b'], {}, { node: { executeOnce: true } });
		expect(await stored()).toEqual(['a']);
		expect(items[0]?.pairedItem).toEqual([{ item: 0 }]);
	});

	it('with Execute Once, whose one item would replace all that is there, nothing is written', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['x', 'y'] } });
		const { error } = await sync(['a', 'b'], {}, { node: { executeOnce: true } });
		expect(error?.message).toContain("'Execute Once'");
		expect(await stored()).toEqual(['x', 'y']);
	});

	it('with Execute Once and one item, its term replaces the others', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['x', 'y'] } });
		await sync(['a'], {}, { node: { executeOnce: true } });
		expect(await stored()).toEqual(['a']);
	});

	it('with Execute Once, an expression that gives all terms replaces the others', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['x', 'y'] } });
		const terms = '={{ $input.all().map(({ json }) => json.term).concat("b") }}';
		await sync(['a'], { terms }, { node: { executeOnce: true } });
		expect(await stored()).toEqual(['a', 'b']);
	});
});

describe('dictionary.sync: an item that a failed step before has left', () => {
	const failed = (parameters: INodeParameters = {}) =>
		service.run(
			{ resource: 'dictionary', operation: 'sync', terms: TERM, ...parameters },
			{ items: itemsOf({ term: 'a' }, { error: 'HTTP 503' }) },
		);
	beforeEach(async () => await service.ask('PUT /dictionary', { json: { terms: ['a', 'b'] } }));

	it('stops a sync that would remove terms', async () => {
		const { error } = await failed();
		expect(error?.message).toContain('Item 1 holds an error of a step before instead of terms');
		expect(await stored()).toEqual(['a', 'b']);
	});

	it.each(["=Dr. {{ $json.term ? $json.term : '' }}", "={{ $json.term ?? '-' }}"])(
		'stops it, whatever the expression makes of the item: %s',
		async (terms) => {
			const { error } = await failed({ terms });
			expect(error?.message).toContain('Item 1 holds an error of a step before');
		},
	);

	it("stops it, also if n8n has put the error beside the item's fields", async () => {
		const items = itemsOf({ term: 'a' }, { term: '', row: 2 });
		const error = new NodeOperationError({ name: 'Step before' } as INode, 'HTTP 503');
		Object.assign(items[1] ?? {}, { error });
		const outcome = await service.run(
			{ resource: 'dictionary', operation: 'sync', terms: TERM },
			{ items },
		);
		expect(outcome.error?.message).toContain('Item 1 holds an error of a step before');
		expect(await stored()).toEqual(['a', 'b']);
	});

	it.each([
		{ message: 'HTTP 503', error: { message: 'HTTP 503' } },
		{ message: 'Timeout', item: { id: 2 }, itemIndex: 1, error: { code: 'ETIMEDOUT' } },
		{ error: '' },
		{ error: null },
	])('stops it, also with more or less than a text in it: %j', async (left) => {
		const { error } = await service.run(
			{ resource: 'dictionary', operation: 'sync', terms: TERM },
			{ items: itemsOf({ term: 'a' }, left) },
		);
		expect(error?.message).toContain('Item 1 holds an error of a step before');
		expect(await stored()).toEqual(['a', 'b']);
	});

	it.each([
		{ term: '', error: 'ö' },
		{ name: 'Kafka', description: 'A queue', error: '' },
		{ error: false, message: 'success' },
		{ error: null, message: 'ok' },
		{ error: false },
	])('is no row of a sheet with a column that is called error: %j', async (row) => {
		const { error } = await service.run(
			{ resource: 'dictionary', operation: 'sync', terms: TERM },
			{ items: itemsOf({ term: 'a', error: 'ä' }, row) },
		);
		expect(error).toBeUndefined();
		expect(await stored()).toEqual(['a']);
	});

	it('stops nothing if no term is removed', async () => {
		expect((await failed({ mode: 'addMissing' })).error).toBeUndefined();
		expect((await failed({ terms: '={{ $json.term ?? "b" }}' })).error).toBeUndefined();
	});
});

it('an empty sheet empties the dictionary with Allow Empty, also where the field has a fallback', async () => {
	await sync(['old']);
	const { error } = await service.run(
		{
			resource: 'dictionary',
			operation: 'sync',
			terms: "={{ $json.term ?? '' }}",
			options: { allowEmpty: true },
		},
		{ items: itemsOf({}) },
	);
	expect(error).toBeUndefined();
	expect(await stored()).toEqual([]);
});

describe('dictionary.sync: the terms', () => {
	it.each([
		['CO2', 'CO₂'],
		['m2', 'm²'],
		['No 5', '№ 5'],
	])('%s and %s are two', async (one, other) => {
		await sync([one]);
		await sync([other]);
		expect(await stored()).toEqual([other]);
		await sync([one], { mode: 'addMissing' });
		await sync([other, one]);
		expect(await stored()).toEqual([other, one]);
	});

	it.each(['replace', 'addMissing'])(
		'that differ only in blanks or code points are one, in the spelling that is there or comes first: %s',
		async (mode) => {
			const rows = ['Anna  Petrova', 'Anna Petrova', 'Andr\u00e9', 'Andre\u0301', 'OKR'];
			await sync(rows, { mode });
			expect(await stored()).toEqual(['Anna  Petrova', 'Andr\u00e9', 'OKR']);
			const { json } = await sync([...rows].reverse(), { mode: 'addMissing' });
			expect(json).toMatchObject([{ changed: false, added: [], removed: [] }]);
		},
	);

	it('are trimmed; blanks and duplicates are dropped, over all items', async () => {
		await sync([' n8n ', '', null, undefined, 'OKR', 'n8n', '   ', 'OKR ']);
		expect(await stored()).toEqual(['n8n', 'OKR']);
	});

	it.each(['replace', 'addMissing'])(
		'are refused if an expression gave nothing for one line: %s',
		async (mode) => {
			const terms = '={{ $json.term + "\\n" + $json.other }}';
			const node = { onError: 'continueRegularOutput' as const };
			const { json } = await sync(['a', 'b'], { terms, mode }, { node });
			expect(json[0]?.['error']).toContain("'Terms' has 'undefined' as a term in item 0");
			expect(service.lines()).toEqual([]);
		},
	);

	it('keep the order of the items, because only the first limit_terms are applied', async () => {
		await given('b', 'a');
		const { json } = await sync(['c', 'a', 'b']);
		expect(await stored()).toEqual(['c', 'a', 'b']);
		expect(json).toMatchObject([{ added: ['c'], reordered: true }]);
	});

	it('another order alone is a change', async () => {
		await given('a', 'b');
		const { json } = await sync(['b', 'a']);
		expect(json).toMatchObject([{ changed: true, reordered: true, added: [], removed: [] }]);
		expect(await stored()).toEqual(['b', 'a']);
	});

	it.each([
		['a list', ['a', 'b'], ['a', 'b']],
		['lines', 'a\nb\r\nc', ['a', 'b', 'c']],
		['the JSON of a list', '["a", "b, c"]', ['a', 'b, c']],
		['text in brackets that is no JSON', '[a] and [b]', ['[a] and [b]']],
		['a number', 365, ['365']],
		['separators, which belong to the term', 'Smith, John; PhD', ['Smith, John; PhD']],
	])('of an item may be %s', async (_what, term, expected) => {
		await sync([term]);
		expect(await stored()).toEqual(expected);
	});

	it('a whole row in place of a term is refused, with its item, and nothing is sent', async () => {
		const { error } = await sync(['a', { name: 'b' }]);
		expect(error).toMatchObject(
			failureOf(1, `'Terms' holds something that is not a term in item 1: {"name":"b"}`),
		);
		expect(service.lines()).toEqual([]);
	});
});

few.it.each(['#REF!', '#N/A', '#NAME?', '#ERROR!', '#ССЫЛКА!', '#Н/Д', 'Loading...'])(
	'dictionary.sync: a cell with %s is an error of the sheet, so the dictionary keeps its terms',
	async (cell) => {
		await given('Kubernetes');
		const { error } = await sync(['OKR', cell]);
		expect(error?.message).toContain(`'Terms' has '${cell}' as a term in item 1`);
		expect(await stored()).toEqual(['Kubernetes']);
	},
);

it('dictionary.sync: a term with a # is no error of a sheet', async () => {
	await sync(['#NOW!', 'C#', '#1']);
	expect(await stored()).toEqual(['#NOW!', 'C#', '#1']);
});

describe('dictionary.sync: nothing is written when nothing changed', () => {
	it('the same terms in the same order are one GET', async () => {
		await given('a', 'b');
		const { json } = await sync(['a', ' b', 'a']);
		expect(service.lines()).toEqual([READ]);
		expect(json).toMatchObject([{ changed: false, added: [], removed: [], unchanged: ['a', 'b'] }]);
	});

	it('a second sync of the same items writes nothing', async () => {
		await sync(['a', 'b']);
		await sync(['a', 'b']);
		expect(service.lines()).toEqual([READ, WRITE, READ]);
	});
});

describe('dictionary.sync: mode', () => {
	it('replace (default) removes what is not in the input', async () => {
		await given('a', 'b', 'c');
		const { json } = await sync(['c', 'd', 'a']);
		expect(await stored()).toEqual(['c', 'd', 'a']);
		expect(json).toMatchObject([
			{ added: ['d'], removed: ['b'], unchanged: ['c', 'a'], reordered: true },
		]);
	});

	it('addMissing keeps what is there, in its order, and adds the new terms after it', async () => {
		await given('b', 'a');
		const { json } = await sync(['a', 'c', 'd'], { mode: 'addMissing' });
		expect(await stored()).toEqual(['b', 'a', 'c', 'd']);
		expect(json).toMatchObject([
			{ added: ['c', 'd'], removed: [], unchanged: ['b', 'a'], reordered: false },
		]);
	});

	it('addMissing without anything new writes nothing', async () => {
		await given('a', 'b');
		await sync(['b'], { mode: 'addMissing' });
		expect(service.lines()).toEqual([READ]);
	});

	it('addMissing with an empty input leaves the dictionary as it is', async () => {
		await given('a');
		const { json } = await sync([''], { mode: 'addMissing' });
		expect(json).toMatchObject([{ changed: false, count: 1 }]);
		expect(service.lines()).toEqual([READ]);
	});
});

describe('dictionary.sync: dryRun', () => {
	it('tells what would change, and writes nothing', async () => {
		await given('a', 'b');
		service.running().configure({ limitTerms: 1 });
		const { json } = await sync(['b', 'c'], { dryRun: true });
		expect(json).toEqual([
			{
				changed: true,
				dryRun: true,
				added: ['c'],
				removed: ['a'],
				unchanged: ['b'],
				reordered: false,
				count: 2,
				chars: 2,
				limit_chars: 20_000,
				limit_terms: 1,
				ignored_terms: ['c'],
			},
		]);
		expect(service.lines()).toEqual([READ]);
		expect(await stored()).toEqual(['a', 'b']);
	});
});

describe('dictionary.sync: output', () => {
	it('added, removed, unchanged, count, chars, the limits, and the terms that are ignored', async () => {
		await given('old', 'kept');
		service.running().configure({ limitTerms: 2 });
		const { json } = await sync(['kept', 'Анна', '😀']);
		expect(json).toEqual([
			{
				changed: true,
				dryRun: false,
				added: ['Анна', '😀'],
				removed: ['old'],
				unchanged: ['kept'],
				reordered: false,
				count: 3,
				chars: 9,
				limit_chars: 20_000,
				limit_terms: 2,
				ignored_terms: ['😀'],
			},
		]);
	});

	it.each(['message', 'empty'] as const)(
		'is the same where PUT answers in the shape "%s"',
		async (dictionaryAnswer) => {
			await given('a');
			const { json: whole } = await sync(['b', 'c']);
			await given('a');
			service.running().configure({ shapes: { dictionaryAnswer } });
			const { json } = await sync(['b', 'c']);
			expect(json).toEqual(whole);
		},
	);
});

describe('dictionary.sync: an empty input never wipes the dictionary', () => {
	it.each([[[]], [['']], [[null, undefined, '  ']]])(
		'terms %j are refused before anything is sent',
		async (terms) => {
			await given('a');
			const { error } = await sync(terms.length > 0 ? terms : [[]]);
			expect(error).toMatchObject(
				failureOf(0, "'Terms' has no term in any input item, so the dictionary was left as it is"),
			);
			expect(error?.description).toContain("'Allow Empty'");
			expect(service.lines()).toEqual([]);
			expect(await stored()).toEqual(['a']);
		},
	);

	it('a misspelled field is such an input', async () => {
		await given('a');
		const { error } = await sync(['b'], { terms: '={{ $json.trem }}' });
		expect(error?.message).toContain("'Terms' has no term");
		expect(await stored()).toEqual(['a']);
	});

	it('unless the user says so explicitly', async () => {
		await given('a', 'b');
		const { json } = await sync([''], { options: { allowEmpty: true } });
		expect(service.lines()).toEqual([READ, WRITE]);
		expect(await stored()).toEqual([]);
		expect(json).toMatchObject([{ changed: true, removed: ['a', 'b'], count: 0, chars: 0 }]);
	});
});

describe('dictionary.sync: 20 000 characters', () => {
	it('are counted as the service counts, over all items, and accepted', async () => {
		const { error } = await sync(['😀'.repeat(10_000), 'x'.repeat(10_000)]);
		expect(error).toBeUndefined();
		expect(await stored()).toHaveLength(2);
	});

	it('more are refused before writing; nothing is cut', async () => {
		await given('a');
		const { error } = await sync(['x'.repeat(10_000), 'y'.repeat(10_001)]);
		expect(error).toMatchObject(
			failureOf(0, 'The dictionary would have 20001 characters, but it holds at most 20000'),
		);
		expect(service.lines()).toEqual([READ]);
		expect(await stored()).toEqual(['a']);
	});

	it('addMissing counts what is there as well', async () => {
		await given('x'.repeat(15_000));
		const { error } = await sync(['y'.repeat(5_001)], { mode: 'addMissing' });
		expect(error?.message).toContain('20001 characters');
		expect(service.lines()).toEqual([READ]);
	});
});

describe("dictionary.sync: a team member who inherits the owner's list", () => {
	beforeEach(() => service.running().configure({ teamOwnerTerms: ['OKR', 'n8n'] }));

	it('reads in the output that the list is inherited', async () => {
		const { json } = await sync(['n8n', 'own']);
		expect(json).toMatchObject([
			{
				inherited_from_team_owner: true,
				note: expect.stringContaining("The owner's list itself is never changed"),
				added: ['own'],
				removed: ['OKR'],
			},
		]);
		expect(await stored()).toEqual(['n8n', 'own']);
	});

	it('addMissing starts from that list, so that none of its terms is lost', async () => {
		await sync(['own'], { mode: 'addMissing' });
		expect(await stored()).toEqual(['OKR', 'n8n', 'own']);
	});

	it('has nothing to wipe: the list stays in force', async () => {
		const { json } = await sync([''], { options: { allowEmpty: true } });
		expect(json).toMatchObject([{ changed: false, removed: [], unchanged: ['OKR', 'n8n'] }]);
		expect(service.lines()).toEqual([READ]);
	});

	it('others read nothing of it', async () => {
		service.running().configure({ teamOwnerTerms: undefined });
		const { json } = await sync(['a']);
		expect(json[0]).not.toHaveProperty('note');
		expect(json[0]).not.toHaveProperty('inherited_from_team_owner');
	});
});

describe('dictionary.sync: failures', () => {
	const BROKEN = "={{ $json.term ?? $('No such node').first().json.term }}";

	it('an item whose expression cannot be evaluated stops the sync before anything is sent', async () => {
		await given('a');
		const { error } = await sync(['b', null], { terms: BROKEN });
		expect(error?.context).toMatchObject({ itemIndex: 1 });
		expect(service.lines()).toEqual([]);
	});

	it('On Error = Continue: it is not synced without the terms of an item that cannot be read', async () => {
		await given('a');
		const node = { onError: 'continueRegularOutput' as const };
		const { json } = await sync(['b', null], { terms: BROKEN }, { node });
		expect(json).toEqual([
			{ error: expect.stringContaining("'Terms' of item 1 cannot be read: Referenced node") },
			{ error: expect.stringContaining("Referenced node doesn't exist") },
		]);
		expect(await stored()).toEqual(['a']);
	});

	it('On Error = Continue: nor of one that holds something else', async () => {
		await given('a');
		const node = { onError: 'continueRegularOutput' as const };
		const { items, error } = await sync(['b', { row: 1 }], {}, { node });
		expect(error).toBeUndefined();
		expect(items.map(({ json }) => json)).toEqual([
			{ error: expect.stringContaining('not a term in item 1') },
			{ error: expect.stringContaining('not a term in item 1') },
		]);
		expect(await stored()).toEqual(['a']);
	});

	it('On Error = Continue: a refusal of the service is one error item, paired with all', async () => {
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 401 } });
		const node = { onError: 'continueRegularOutput' as const };
		const { items } = await sync(['a', 'b'], {}, { node });
		expect(items).toMatchObject([
			{
				json: { error: expect.stringContaining('API key') },
				pairedItem: [{ item: 0 }, { item: 1 }],
			},
		]);
	});

	it('a connection that breaks is tried again, since a repeated PUT changes nothing', async () => {
		service.running().fault({
			match: { method: 'PUT' },
			action: { kind: 'cut', when: 'afterProcessing' },
			times: 1,
		});
		const { error, json } = await sync(['a']);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ added: ['a'], count: 1 }]);
		expect(service.lines()).toEqual([READ, WRITE, WRITE]);
	});
});

describe('dictionary.sync of one term that is a list', () => {
	beforeEach(async () => await given('Kubernetes', 'OKR'));

	it.each([false, true])(
		'is refused where it would replace the whole dictionary (dryRun: %s)',
		async (dryRun) => {
			const { error } = await sync(['Kubernetes, OKR, Anna Petrova'], { dryRun });
			expect(error).toMatchObject(
				failureOf(
					0,
					"'Terms' is one single term with a comma or semicolon in it: 'Kubernetes, OKR, Anna Petrova'",
				),
			);
			expect(service.lines()).toEqual([READ]);
			expect(await stored()).toEqual(['Kubernetes', 'OKR']);
		},
	);

	it('is taken where it removes nothing, or is one of several terms', async () => {
		await sync(['Petrov, Ivan'], { mode: 'addMissing' });
		expect(await stored()).toEqual(['Kubernetes', 'OKR', 'Petrov, Ivan']);
		await sync(['Petrov, Ivan', 'OKR']);
		expect(await stored()).toEqual(['Petrov, Ivan', 'OKR']);
		await service.ask('DELETE /dictionary');
		await sync(['Petrov, Ivan']);
		await sync(['Petrov, Ivan']);
		expect(await stored()).toEqual(['Petrov, Ivan']);
	});
});

describe('dictionary.sync in a loop, or with several wires into the node', () => {
	const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
	const item = (term: string) => itemsOf({ term });

	/** The node once for each term, in one execution. */
	async function syncEach(terms: string[], parameters: INodeParameters = {}) {
		const all = { ...SYNC, ...parameters };
		let outcome = await service.run(all, { items: item(terms[0] ?? '') });
		for (const term of terms.slice(1)) {
			outcome = await service.run(all, { data: again(outcome, all, item(term)) });
			if (outcome.error) break;
		}
		return outcome;
	}

	it('removes no term that an earlier run has put there or found there', async () => {
		await given('a');
		const { error } = await syncEach(['a', 'b']);
		expect(error?.message).toContain(
			'An earlier run of this node in this execution has synced the dictionary',
		);
		expect(error?.description).toContain('Place the node after the loop');
		expect(await stored()).toEqual(['a']);
	});

	it('replaces as often as the agent likes, as a tool', async () => {
		const node = { rewireOutputLogTo: 'ai_tool' } as const;
		const first = await service.run(SYNC, { items: item('a'), node });
		const data = again(first, SYNC, item('b'), { node });
		expect((await service.run(SYNC, { data, node })).error).toBeUndefined();
		expect(await stored()).toEqual(['b']);
	});

	it('goes on with Dry Run, which has replaced nothing', async () => {
		await given('a');
		const { error, json } = await syncEach(['b', 'c'], { dryRun: true });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ removed: ['a'] }]);
	});

	it('may replace after a run that has failed', async () => {
		await given('old');
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 422 } });
		const node = { onError: 'continueRegularOutput' } as const;
		const failed = await service.run(SYNC, { items: item('a'), node });
		const data = again(failed, SYNC, item('a'), { node });
		const { json } = await service.run(SYNC, { data, node });
		expect(json).toMatchObject([{ added: ['a'], removed: ['old'] }]);
	});

	it('adds them with Add Missing', async () => {
		const { error } = await syncEach(['a', 'b', 'c'], { mode: 'addMissing' });
		expect(error).toBeUndefined();
		expect(await stored()).toEqual(['a', 'b', 'c']);
	});

	it('may replace again in a Retry of the run that failed', async () => {
		await given('old');
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 422 } });
		const failed = await syncEach(['a']);
		expect(failed.error).toBeDefined();
		const data = again(failed, SYNC, item('a'), { asFirstRun: true });
		const { error } = await service.run(SYNC, { data, mode: 'retry' });
		expect(error).toBeUndefined();
		expect(await stored()).toEqual(['a']);
	});
});

describe('dictionary.sync of which the answer to the write was lost', () => {
	const PAGE = '<html><body>Please log in</body></html>';
	const lose = () =>
		service.running().fault({
			match: { method: 'PUT' },
			action: { kind: 'garble', body: PAGE, headers: { 'Content-Type': 'text/html' } },
		});
	beforeEach(async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		await given('Anna Petrova', 'OKR', 'n8n');
	});

	it('says that the dictionary may have been replaced, and what it had', async () => {
		lose();
		const { error } = await sync(['n8n', 'Kafka']);
		expect(error?.description).toMatch(
			/^The service may have replaced the dictionary, and removed: Anna Petrova, OKR\./,
		);
		expect(await stored()).toEqual(['n8n', 'Kafka']);
	});

	it('keeps in the execution the terms before and after it, and no other data', async () => {
		lose();
		const { data } = await sync(['n8n', 'Kafka']);
		expect(data.executionData?.contextData['node:Transcriber']).toEqual({
			replacement: {
				lost: [
					{
						run: 0,
						had: ['Anna Petrova', 'OKR', 'n8n'],
						isInherited: false,
						sent: ['n8n', 'Kafka'],
					},
				],
			},
		});
	});

	it('says so in the output, too, and no later run removes what it has put there', async () => {
		lose();
		const node = { onError: 'continueRegularOutput' } as const;
		const first = await sync(['n8n', 'Kafka'], {}, { node });
		expect(first.json).toEqual([
			{ error: expect.stringContaining('removed: Anna Petrova, OKR') as string },
		]);
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const data = again(first, SYNC, itemsOf({ term: 'Go' }), { node });
		const second = await service.run(SYNC, { data, node });
		expect(String(second.json[0]?.['error'])).toContain('An earlier run of this node');
		expect(await stored()).toEqual(['n8n', 'Kafka']);
	});

	it('outputs with Retry On Fail what the try before has removed', async () => {
		lose();
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { json } = await sync(['n8n', 'Kafka'], {}, { node });
		expect(json).toMatchObject([
			{ changed: true, added: ['Kafka'], removed: ['Anna Petrova', 'OKR'] },
		]);
		expect(service.lines().filter((line) => line === WRITE)).toHaveLength(1);
	});

	it('says nothing of that where the service has refused it, or nothing would be removed', async () => {
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 422 } });
		const refused = await sync(['n8n']);
		lose();
		const added = await sync(['Anna Petrova', 'OKR', 'n8n', 'Kafka']);
		for (const { error } of [refused, added]) {
			expect(error?.description).not.toContain('may have replaced');
		}
	});

	it("outputs in n8n's Retry, too, what was added meanwhile and is removed now", async () => {
		lose();
		const first = await sync(['n8n', 'Kafka'], {}, { executionId: '41' });
		await service.ask('POST /dictionary', { json: { terms: ['Go'] } });
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const rows = itemsOf({ term: 'n8n' }, { term: 'Kafka' });
		const data = again(first, SYNC, rows, { asFirstRun: true });
		const { json } = await service.run(SYNC, { data, executionId: '42', mode: 'retry' });
		expect(json).toMatchObject([{ added: ['Kafka'], removed: ['Anna Petrova', 'OKR', 'Go'] }]);
	});

	it('says so of a later try that cannot even read, as in an outage', async () => {
		lose();
		const away = { kind: 'respond', status: 503 } as const;
		service.running().fault({ match: { method: 'GET' }, skip: 1, times: 9, action: away });
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { error } = await sync(['n8n'], {}, { node });
		expect(error?.message).toContain('temporarily unavailable');
		expect(error?.description).toContain('removed: Anna Petrova, OKR');
	});

	it('says so, too, if the repeat of that write is refused', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 60_000);
		const cut = { kind: 'cut', when: 'afterProcessing' } as const;
		service.running().fault({ match: { method: 'PUT' }, action: cut });
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 422 } });
		const { error } = await sync(['n8n']);
		expect(error?.httpCode).toBe('422');
		expect(error?.description).toContain('removed: Anna Petrova, OKR');
		expect(await stored()).toEqual(['n8n']);
	});

	it('says of two lost writes what either has removed', async () => {
		lose();
		const first = await sync(['n8n']);
		await service.ask('POST /dictionary', { json: { terms: ['Go'] } });
		lose();
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const data = again(first, SYNC, itemsOf({ term: 'n8n' }), { asFirstRun: true });
		const { error } = await service.run(SYNC, { data, mode: 'retry' });
		expect(error?.description).toContain('removed: Anna Petrova, OKR, Go');
	});

	it('is reported once: the next run has removed nothing', async () => {
		lose();
		const node = { onError: 'continueErrorOutput' } as const;
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const rows = itemsOf({ term: 'n8n' });
		let outcome = await sync(['n8n'], {}, { node });
		const removed = [];
		for (let run = 0; run < 2; run++) {
			outcome = await service.run(SYNC, { data: again(outcome, SYNC, rows, { node }), node });
			removed.push(outcome.json[0]?.['removed']);
		}
		expect(removed).toEqual([['Anna Petrova', 'OKR'], []]);
	});

	it('may be brought back by a loop if the write has changed nothing', async () => {
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 502 } });
		const node = { onError: 'continueErrorOutput' } as const;
		const first = await sync(['n8n'], {}, { node });
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const data = again(first, SYNC, itemsOf({ term: 'n8n' }), { node });
		const { json } = await service.run(SYNC, { data, node });
		expect(json).toMatchObject([{ removed: ['Anna Petrova', 'OKR'] }]);
	});

	it("says nothing of the list of a team's owner, which is never changed", async () => {
		await service.ask('DELETE /dictionary');
		service.running().configure({ teamOwnerTerms: ['OKR', 'n8n'] });
		lose();
		const { error } = await sync(['n8n']);
		expect(error?.description).not.toContain('may have replaced');
	});

	it.each(['n8n', 'Go'])(
		'may be brought back by a loop after a colleague has added %j, if the write has changed nothing',
		async (term) => {
			service
				.running()
				.fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 502 } });
			const node = { onError: 'continueErrorOutput' } as const;
			const first = await sync(['n8n', 'Kafka'], {}, { node });
			await service.ask('POST /dictionary', { json: { terms: [term] } });
			const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
			const rows = itemsOf({ term: 'n8n' }, { term: 'Kafka' });
			const { json } = await service.run(SYNC, { data: again(first, SYNC, rows, { node }), node });
			expect(json).toMatchObject([{ added: ['Kafka'] }]);
		},
	);

	it.each(['loop', 'Retry On Fail'])(
		"where a team's owner has the list, and the write has changed nothing, is made in a %s as if it were the first",
		async (how) => {
			await service.ask('DELETE /dictionary');
			service.running().configure({ teamOwnerTerms: ['OKR', 'n8n'] });
			service
				.running()
				.fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 502 } });
			const isLoop = how === 'loop';
			const ON_FAIL = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
			const node = isLoop ? ({ onError: 'continueErrorOutput' } as const) : ON_FAIL;
			const first = await sync(['n8n', 'Kafka'], {}, { node });
			const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
			const rows = itemsOf({ term: 'n8n' }, { term: 'Kafka' });
			const last = isLoop
				? await service.run(SYNC, { data: again(first, SYNC, rows, { node }), node })
				: first;
			expect(last.json).toMatchObject([{ added: ['Kafka'], unchanged: ['n8n'], removed: ['OKR'] }]);
		},
	);

	it('does not call removed what is only written in another way', async () => {
		await given('Андрей', 'Иван Петров');
		lose();
		const { error } = await sync(['Андрей'.normalize('NFD'), 'Иван\u00a0Петров', 'Go']);
		expect(error?.description).not.toContain('may have replaced');
	});

	it('says nothing of a removal if a later try has seen that the write has changed nothing', async () => {
		service.running().fault({ match: { method: 'PUT' }, action: { kind: 'respond', status: 502 } });
		const refused = { kind: 'respond', status: 413 } as const;
		service.running().fault({ match: { method: 'PUT' }, action: refused });
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { error } = await sync(['n8n'], {}, { node });
		expect(error?.description).not.toContain('may have replaced');
	});

	it('is not followed by a run that removes what it has kept', async () => {
		lose();
		const node = { onError: 'continueErrorOutput' } as const;
		const first = await sync(['n8n'], {}, { node });
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const data = again(first, SYNC, itemsOf({ term: 'OKR' }), { node });
		const { outputs } = await service.run(SYNC, { data, node });
		expect(JSON.stringify(outputs)).toContain('An earlier run of this node');
		expect(await stored()).toEqual(['n8n']);
	});

	it("replaces the list of a team's owner, which the next try reports as a change", async () => {
		await service.ask('DELETE /dictionary');
		service.running().configure({ teamOwnerTerms: ['OKR', 'n8n'] });
		lose();
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { json } = await sync(['n8n'], {}, { node });
		expect(json).toMatchObject([{ changed: true, removed: [] }]);
	});

	it('that only changed the order is not followed by a run that removes what it has kept', async () => {
		await given('a', 'b');
		lose();
		const node = { onError: 'continueRegularOutput' } as const;
		const first = await sync(['b', 'a'], {}, { node });
		const SYNC = { resource: 'dictionary', operation: 'sync', terms: TERM };
		const data = again(first, SYNC, itemsOf({ term: 'c' }), { node });
		const second = await service.run(SYNC, { data, node });
		expect(String(second.json[0]?.['error'])).toContain('An earlier run of this node');
		expect(await stored()).toEqual(['b', 'a']);
	});
});

describe('dictionary.sync in an execution that is stopped while it writes', () => {
	it.each([
		['the write is carried out', { kind: 'delay', ms: 5_000, processed: true } as const, 1],
		['the write was cut', { kind: 'cut', when: 'afterProcessing' } as const, 1],
		[
			'the service refuses the write',
			// So long a pause that the stop certainly falls into it.
			{ kind: 'respond', status: 429, headers: { 'Retry-After': '30' } } as const,
			0,
		],
	])("names the removed terms in n8n's log if %s", async (_, action, lines) => {
		jest.replaceProperty(RETRY, 'base', 1_000);
		for (const patience of ['patienceWhenBroken', 'patienceWhenBusy'] as const) {
			jest.replaceProperty(RETRY, patience, 60_000);
		}
		await given('Anna Petrova', 'OKR', 'n8n');
		service.running().fault({ match: { method: 'PUT' }, times: 99, action });
		const logs = captureLogs();
		// Not before the write has ended at the service, nor after an answer after which the node would write again.
		let looks = 0;
		const hasEnded = () =>
			lines > 0
				? service.running().terms().length === 1
				: service
						.running()
						.requests.some(({ method, status }) => method === 'PUT' && status === 429);
		const cancelWhen = () => hasEnded() && (looks += 1) > 20;
		await sync(['n8n'], {}, { cancelWhen });
		logs.release();
		const said = logs.lines.filter((line) => line.includes('Anna Petrova, OKR'));
		expect(said).toHaveLength(lines);
		expect(await stored()).toEqual(lines > 0 ? ['n8n'] : ['Anna Petrova', 'OKR', 'n8n']);
	});
	it("names them in n8n's log, too, if it is stopped after the write", async () => {
		await given('Anna Petrova', 'OKR', 'n8n');
		const garbled = { kind: 'garble', body: '{"terms":["n8n"]}' } as const;
		service.running().fault({ match: { method: 'PUT' }, action: garbled });
		const late = { kind: 'delay', ms: 200 } as const;
		service.running().fault({ match: { method: 'GET' }, skip: 1, action: late });
		const logs = captureLogs();
		// It reads the dictionary again, because the answer lacks a term.
		const cancelWhen = () => service.lines().length === 3;
		await sync(['n8n', 'Kafka'], {}, { cancelWhen });
		logs.release();
		expect(service.lines()).toEqual([READ, WRITE, READ]);
		const said = logs.lines.filter((line) => line.includes('lacks now: Anna Petrova, OKR'));
		expect(said).toHaveLength(1);
	});
});
