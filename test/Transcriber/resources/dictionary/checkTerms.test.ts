/** A text that is no list of terms never takes the place of the dictionary. */
import { callTool } from '../../../support/agent';
import { itemsOf, serviceForTests } from '../../../support/service';
import { few } from '../../../support/long';

const service = serviceForTests();

const OLD = ['Kubernetes', 'OKR', 'Anna Petrova', 'Grafana'];
const OBJECT = JSON.stringify({ terms: ['Kubernetes', 'OKR', 'Helm'] }, null, 2);
const stored = async () => (await service.ask('GET /dictionary')).body['terms'];
beforeEach(async () => void (await service.ask('PUT /dictionary', { json: { terms: OLD } })));

const SYNC = { operation: 'sync', terms: '={{ $json.data }}' };
const REPLACE = { operation: 'replace', specifyTerms: 'list', terms: '={{ $json.data }}' };
const ADD = { operation: 'add', specifyTerms: 'list', terms: '={{ $json.data }}' };
const AS_TEXT = { operation: 'replace', specifyTerms: 'text', text: '={{ $json.data }}' };
const run = async (parameters: object, data = '') =>
	await service.run({ resource: 'dictionary', ...parameters }, { items: itemsOf({ data }) });

describe.each([
	['sync', SYNC],
	['replace', REPLACE],
	['add', ADD],
	['replace As Text', AS_TEXT],
])('dictionary.%s refuses', (_operation, parameters) => {
	few.it.each([
		['the error of an API', '{"error":"quota exceeded"}'],
		['a JSON object', OBJECT],
		['an object that is no JSON', '{ terms: [a] }'],
		['a list with a comma at its end', '[\n  "Kubernetes",\n  "OKR",\n]'],
		['a list of Python', "['Kubernetes', 'OKR']"],
		['a list in a code fence', '```json\n["Kubernetes", "OKR"]\n```'],
		['a web page', '<!DOCTYPE html>\n<html><body>\n<h1>Sign in</h1>\n</body></html>'],
		['an error of a sheet in Russian (#SPILL!)', '#ПЕРЕНОС!'],
		['an error of a sheet in Russian (#CALC!)', '#ВЫЧИСЛ!'],
		['a cell of a sheet that is computed', '#GETTING_DATA'],
	])('%s, and leaves the dictionary as it is', async (_what, data) => {
		const { error } = await run(parameters, data);
		expect(error?.description).toContain('Nothing was changed');
		expect(await stored()).toEqual(OLD);
	});
});

it.each(['$json.term', '=$json.term', "=$('Sheet').item.json.term"])(
	'dictionary.sync refuses an expression that n8n has not evaluated: %s',
	async (terms) => {
		const { error } = await run({ operation: 'sync', terms });
		expect(error?.message).toContain("'Terms' holds an expression as plain text");
		expect(await stored()).toEqual(OLD);
	},
);

describe('dictionary.sync keeps the old terms, and refuses', () => {
	const rows = itemsOf(
		{ term: 'Kubernetes', first_name: 'Anna', last_name: 'Petrova' },
		{ term: 'OKR', first_name: 'Ivan', last_name: 'Sidorov' },
	);
	it.each<[string, string | string[]]>([
		['columns that were renamed', '={{ $json.first + " " + $json.last }}'],
		['columns that were renamed, in a template', '={{ `${$json.first} ${$json.last}` }}'],
		['a list of columns that were renamed', '={{ [$json.first + " " + $json.last] }}'],
		['one column that was renamed', '={{ $json.first_name + " " + $json.surname }}'],
		['the name of a column in the mode Expression', '=term'],
		['one brace', '={ $json.term }'],
		['a template of JavaScript', '=${$json.term}'],
		['the item by another name', '=$item.json.term'],
		['a list with a typed expression', ['{{ $json.term }}']],
		['a list with a typed expression without braces', ['$json.term']],
		['a code fence after a sentence', '={{ "The terms:\\n```json\\n[\\"a\\"]\\n```" }}'],
		['a list in curly quotes', '={{ "[“a”, “b”]" }}'],
		['a date that is none', '={{ DateTime.fromISO("x").toFormat("yyyy") }}'],
	])('%s', async (_what, terms) => {
		const parameters = { resource: 'dictionary', operation: 'sync', terms };
		const { error } = await service.run(parameters, { items: rows });
		expect(error).toBeDefined();
		expect(await stored()).toEqual(OLD);
	});
});

it('terms of the item may look like an expression, and an item may have no fields', async () => {
	const terms = '={{ $json.terms }}';
	const items = itemsOf({ terms: '$json\n$input\nn8n' });
	await service.run({ resource: 'dictionary', operation: 'sync', terms }, { items });
	expect(await stored()).toEqual(['$json', '$input', 'n8n']);
	const bare = [{ binary: {} }] as unknown as typeof items;
	const add = { resource: 'dictionary', operation: 'add', specifyTerms: 'list', terms: 'Helm' };
	expect((await service.run(add, { items: bare })).error).toBeUndefined();
});

it('As Text refuses a JSON list, whose brackets and quotes would become part of the terms', async () => {
	const { error } = await run(AS_TEXT, '["Kubernetes", "OKR"]');
	expect(error?.message).toContain("'Text' is no list of terms");
	expect(await stored()).toEqual(OLD);
});

it('an AI agent that gives an object in place of a list learns what to give', async () => {
	const results = await callTool({
		credentials: service.credentials(),
		parameters: {
			resource: 'dictionary',
			...REPLACE,
			terms: "={{ $fromAI('terms', 'All', 'string') }}",
		},
		calls: [{ terms: OBJECT }],
	});
	expect(JSON.stringify(results)).toContain('no list of terms');
	expect(await stored()).toEqual(OLD);
});

it.each(['C#', '[a] and [b]', '{name}', '<br>', '#1', '{{name}}'])(
	'a term that only looks like data is taken: %s',
	async (term) => {
		const { error } = await run(SYNC, term);
		expect(error).toBeUndefined();
		expect(await stored()).toEqual([term]);
	},
);
