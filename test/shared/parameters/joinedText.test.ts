/** What an expression joins from parts of which one is missing is never sent, because it costs money. */
// Also covers expressionParts.ts.
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { checkJoined } from '../../../nodes/shared/parameters/joinedText';
import { besides } from '../../support/again';
import { callTool } from '../../support/agent';
import { few } from '../../support/long';
import { itemContext } from '../../support/itemContext';
import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { BOT, FILE, LINK } from '../../support/parameters';

const service = serviceForTests();
const sentBodies = () => service.running().requests.map(({ body }) => body);

const GIVES_NOTHING = 'a part of its expression gives nothing';

describe("an 'Idempotency Key' that an expression has spoiled is refused, because all files would get the transcript of the first", () => {
	few.it.each([
		['an expression in a field that is set to Fixed', '{{ $json.fileId }}', 'as plain text'],
		['an expression without its braces', '=$json.fileId', 'as plain text'],
		['a missing field that is added to a text', '={{ "file-" + $json.fileId }}', "has 'undefined'"],
		['a missing field in a template', '={{ `file-${$json.fileId}` }}', "has 'undefined'"],
		['a missing field after a text', '=file-{{ $json.fileId }}', GIVES_NOTHING],
		['missing fields alone', '={{ $json.a }}-{{ $json.b }}', GIVES_NOTHING],
		['a list that is empty', '=file-{{ $json.none }}', GIVES_NOTHING],
		['a field that is null', '={{ "file-" + $json.empty }}', "has 'null'"],
		['a word of the code', '={{ "file-" + ($json.fileId ?? null) }}', "has 'null'"],
		['a missing field after a letter', '={{ "file" + $json.fileId }}', "has 'undefined'"],
		['two missing fields', '={{ "" + $json.first + $json.last }}', "has 'undefined'"],
		['a field put in by replace()', '={{ "file-ID".replace("ID", $json.x) }}', "has 'undefined'"],
		[
			'a missing field beside a word like it',
			'={{ $json.folder + "/" + $json.fileId }}',
			"has 'undefined'",
		],
		['a missing field after a name', '={{ $json.note + $json.fileId }}', "has 'undefined'"],
		['a file without a name', '=rec-{{ $binary.data.title }}', GIVES_NOTHING],
		['a field with an empty fallback', '=rec-{{ $json.id ?? "" }}', GIVES_NOTHING],
		['a method of a missing field', '=rec-{{ $json.name?.trim() }}', GIVES_NOTHING],
		['a field of another way to the item', '=rec-{{ $input.all()[0].json.id }}', GIVES_NOTHING],
		['a date that is none', '={{ "f-" + DateTime.fromISO("x").toISO() }}', "has 'null'"],
		['a variable of n8n in a field that is set to Fixed', '$execution.id', 'as plain text'],
		['a variable of n8n without braces', '=$itemIndex', 'as plain text'],
		['a variable after a text', '=file-$json.fileId', 'as plain text'],
		['one brace', 'file-{$json.fileId}', 'as plain text'],
		['a template of JavaScript', '=file-${$json.fileId}', 'as plain text'],
		['a missing field with a Russian name', '={{ "rec" + $json.номер }}', "has 'undefined'"],
		['a field below it', '={{ "rec" + $json.номер?.id }}', "has 'undefined'"],
		['an optional step', "={{ 'rec' + $('Source').item?.json.id }}", "has 'undefined'"],
		['a field on the next line', '={{ "rec" +\n  $json\n    .created }}', "has 'undefined'"],
		['a date of JavaScript', '={{ "rec-" + new Date($json.created) }}', "has 'Invalid Date'"],
		[
			'a missing field beside the workflow',
			'={{ $workflow.id }}-{{ $json.fileId }}',
			GIVES_NOTHING,
		],
		['a condition on a missing field', "=rec-{{ $if($json.id, $json.id, '') }}", GIVES_NOTHING],
		['&& with a missing field', '=rec-{{ $json.file && $json.file.id }}', GIVES_NOTHING],
		['a list without it', '=rec-{{ $json.none.filter(f => f.main)[0].id }}', GIVES_NOTHING],
		['a number after a letter', '={{ "rec" + Number($json.fileId) }}', "has 'NaN'"],
		['the mode of the execution', '={{ $execution.mode }}-{{ $json.fileId }}', GIVES_NOTHING],
		['$items in a Fixed field', '{{ $items("Source")[0].json.fileId }}', 'as plain text'],
		['a step in a Fixed field', '{{ $(`Source`).item.json.fileId }}', 'as plain text'],
		['a null beside NULL', '={{ $json.folder + $json.empty + $json.export }}', "has 'null'"],
		['one missing field of two', '={{ $json.fileID }}-{{ $json.note }}', GIVES_NOTHING],
		[
			'a missing field beside the number of the item',
			'={{ $itemIndex }}-{{ $json.a }}',
			GIVES_NOTHING,
		],
		['a missing field beside a text in quotes', "={{ 'crm' }}-{{ $json.fileId }}", GIVES_NOTHING],
	])('%s', async (_what, idempotencyKey, message) => {
		const item = itemWithFile('one');
		item.json = { empty: null, none: [], note: 'Nancy', folder: 'Finance', export: 'NULL' };
		const { error } = await service.run(
			{ ...FILE, options: { idempotencyKey } },
			{ items: [item] },
		);
		expect(error?.message).toContain("'Idempotency Key'");
		expect(error?.message).toContain(message);
		expect(error?.description).toContain('Nothing was sent.');
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		[
			'one part of several that may be empty',
			"={{ $json.folder ?? '' }}/{{ $json.fileId }}",
			'/17',
		],
		['a text that the user has typed', 'null-and-undefined', 'null-and-undefined'],
		['an optional end', '=a-{{ $json.fileId }}{{ $json.again ? "-again" : "" }}', 'a-17'],
		['an optional end with &&', "={{ $json.fileId }}{{ $json.again && '-again' }}", '17'],
		['an optional end with $if', "={{ $json.fileId }}{{ $if($json.x, 'x', '') }}", '17'],
		['an empty folder', '={{ $json.none }}/{{ $json.fileId }}', '/17'],
		['no tags', "={{ $json.fileId }}{{ $json.tags.join('-') }}", '17'],
		[
			'a Russian name without its letters',
			"={{ $json.fileId }}-{{ $json.title.replace(/[^a-z]/g, '') }}",
			'17-',
		],
		[
			'the execution beside a missing field',
			'={{ $execution.id }}-{{ $json.a }}',
			expect.stringMatching(/^\d+-$/),
		],
		['a word that stands in the item', '={{ $json.name + "-1" }}', 'undefined-behaviour-1'],
		['a word of the name of the file', '={{ $binary.data.fileName }}', 'annulled-contract.mp3'],
		['a word that stands in the expression', '={{ "undefined-" + $json.fileId }}', 'undefined-17'],
	])('but not %s', async (_what, idempotencyKey, sent) => {
		const item = itemWithFile('one', { fileName: 'annulled-contract.mp3' });
		item.json = {
			fileId: '17',
			name: 'undefined-behaviour',
			none: '',
			tags: [],
			title: 'Встреча',
		};
		const { error } = await service.run(
			{ ...FILE, options: { idempotencyKey } },
			{ items: [item] },
		);
		expect(error).toBeUndefined();
		expect(service.sent().headers['idempotency-key']).toEqual(sent);
	});
});

describe('a text with a missing value in it is refused by name before anything is sent', () => {
	const CALL = {
		onCompletion: 'callUrl',
		webhookUrl: '={{ "https://crm.example.com/" + $json.id }}',
	};

	few.it.each<[string, INodeParameters]>([
		['Prompt', { ...LINK, options: { prompt: '={{ "Names: " + $json.names }}' } }],
		['Prompt', { ...LINK, options: { prompt: 'Names: {{ $json.names }}' } }],
		['Summary Template', { ...LINK, options: { summaryTemplate: '{{ $json.template }}' } }],
		['Summary Template', { ...LINK, options: { summaryTemplate: '={{ $json.kind + "-call" }}' } }],
		['URL', { ...LINK, url: '={{ "https://drive.example.com/uc?id=" + $json.id }}' }],
		['URL', { ...LINK, url: '={{ "https://drive.example.com/uc?id=" + $json.empty }}' }],
		['Language', { ...LINK, language: '={{ "en-" + $json.region }}' }],
		['Custom Fields', { ...LINK, options: { customFields: '={{ { tag: "x-" + $json.t } }}' } }],
		['Prompt', { ...LINK, options: { prompt: '={{ "Участники: " + $json.участники }}' } }],
		['URL', { ...LINK, url: '={{ ["https://drive.example.com", $json.size * 2].join("/") }}' }],
		['Meeting URL', { ...BOT, meetingUrl: '={{ "https://meet.example.com/" + $json.code }}' }],
		['Webhook URL', { ...LINK, ...CALL }],
		['Webhook URL', { ...LINK, ...CALL, webhookUrl: '=https://crm.example.com/{{ $json.id }}' }],
		['URL', { ...LINK, url: '=https://drive.example.com/uc?id={{ $json.id }}' }],
		['URL', { ...LINK, url: 'https://files.example.com/{{$env.FILE}}' }],
		['Meeting URL', { ...BOT, meetingUrl: '=https://meet.example.com/{{ $json.code }}' }],
		['Meeting URL', { ...BOT, meetingUrl: "https://a.example/{{$items('S')[0].json.code}}" }],
		['Prompt', { ...LINK, options: { prompt: '{{ $env.TERMS }}' } }],
		['Prompt', { ...LINK, options: { prompt: '{{ (() => { return $json.names })() }}' } }],
		['Prompt', { ...LINK, options: { prompt: '{{ Object.keys({ ...$json }).join() }}' } }],
	])('%s: %j', async (name, parameters) => {
		const { error } = await service.run(parameters, { items: itemsOf({ empty: null }) });
		expect(sentBodies()).toEqual([]);
		expect(error?.message).toContain(`'${name}'`);
	});
});

it.each<[string, INodeParameters]>([
	['Task', { resource: 'task', operation: 'get', taskId: byId('{{ $json.task_id }}') }],
	['Bot ID', { resource: 'meeting', operation: 'cancel', botId: '$json.bot_id' }],
	['Custom Fields', { ...LINK, options: { customFields: '{ "tag": "{{ $json.tag }}" }' } }],
])("an expression that n8n has not evaluated is refused in '%s', too", async (name, parameters) => {
	const { error } = await service.run(parameters);
	expect(error?.message).toContain(`'${name}' holds an expression as plain text`);
	expect(service.lines()).toEqual([]);
});

it.each([
	['braces that are no expression', 'Dear {{name}}'],
	['the words of a course about n8n', '$json, $input, webhook, Merge'],
	['the words of a course about n8n on lines', '$node\n$json'],
	['the words of a course about Vue', "Vue i18n: {{ $t('key') }}"],
])('a prompt that the user has typed may hold %s', async (_what, prompt) => {
	await service.run({ ...LINK, options: { prompt } });
	expect(service.sent().body).toMatchObject({ prompt });
});

describe('a prompt may hold', () => {
	it.each([
		['such a word where the item does', '={{ "About: " + $json.title }}'],
		['such a word in other letters', '={{ "About: " + $json.title.toUpperCase().toLowerCase() }}'],
		['an expression that stands in the item', '={{ $json.course }}'],
		['the code of jQuery', '={{ $json.code }}'],
		['such a word beside a field that is missing', '={{ "null safety" + ($json.more ?? "") }}'],
		['such a word of any item', "={{ $input.all().map(i => i.json.term).join(', ') }}"],
		['a null in JSON', '={{ $json.more ?? "" }} {{ JSON.stringify($json.meta) }}'],
		['such a word after an apostrophe', "=Speaker's topic: {{ $json.x || 'null safety' }}"],
		['such a word in quotes with an apostrophe', "={{ $json.more ?? 'It\\'s about null' }}"],
	])('%s', async (_what, prompt) => {
		const items = itemsOf({
			term: 'undefined, null, NaN',
			meta: { host: null, kind: 'call' },
			title: 'NULL and undefined',
			course: 'n8n: {{ $json.name }}, webhooks',
			code: '$(document), $json',
		});
		const { error } = await service.run({ ...LINK, options: { prompt } }, { items });
		expect(error).toBeUndefined();
		expect(service.lines()).toEqual(['POST /api/v1/transcribe-url']);
	});

	it('what an AI agent says', async () => {
		const [answer] = await callTool({
			credentials: service.credentials(),
			parameters: {
				...LINK,
				options: { prompt: "={{ 'Topic: ' + $fromAI('topic', '', 'string') }}" },
			},
			calls: [{ topic: 'null safety in Kotlin' }],
		});
		expect(answer).not.toContain('error');
		expect(service.sent().body).toMatchObject({ prompt: 'Topic: null safety in Kotlin' });
	});
});

describe('a link may hold', () => {
	const link = async (url: string, more: object = {}) =>
		await service.run(
			{ ...LINK, url, ...more },
			{
				items: itemsOf({
					id: '1aNaNb-undefined',
					href: 'https://youtu.be/d1aNaNx9-0k',
					query: '',
					tag: null,
				}),
			},
		);

	it.each([
		[
			'such letters in an id that is computed',
			'={{ "https://a.example/" + ["1", "NaNb"].join("a") }}',
		],
		['such a word of a field of any item', '={{ "https://a.example/" + $input.all()[0].json.id }}'],
		['such letters in an id', "={{ $json.direct || $items('Source')[0].json.href }}"],
		['such letters of a paired item', "={{ $json.x || $('Source').itemMatching(0).json.href }}"],
	])('%s', async (_what, url) => {
		expect((await link(url)).error).toBeUndefined();
	});

	it.each([
		['an end that is empty', '=https://a.example/talk.mp3{{ $json.query }}'],
		['a query that is null', '=https://a.example/talk.mp3?tag={{ $json.tag }}'],
		['a part with a fallback', "=https://a.example/talk.mp3{{ $json.more ?? '' }}"],
	])('%s', async (_what, url) => {
		expect((await link(url)).error).toBeUndefined();
	});

	it('such a word that an AI agent gives', async () => {
		const [answer] = await callTool({
			credentials: service.credentials(),
			parameters: { ...LINK, url: "={{ $json.link ?? $fromAI('url', '', 'string') }}" },
			calls: [{ url: 'https://a.example/null-safety.mp3' }],
		});
		expect(answer).not.toContain('error');
		expect(service.lines()).toEqual(['POST /api/v1/transcribe-url']);
	});
});

it('a text of a visitor that is made to be slow to read stops nothing', async () => {
	const items = itemsOf({ text: '{{' + '$'.repeat(500_000) });
	await service.run({ ...LINK, options: { prompt: '={{ $json.text }}' } }, { items });
	expect(service.lines()).toHaveLength(1);
});

describe('Sync does not replace the dictionary by terms with a missing value in them', () => {
	it.each([
		['a field with a Russian name', "={{ $json.имя + ' ' + $json.фамилия }}"],
		['a name without a second word', "={{ $json.first + ' ' + $json.first.split(' ')[1] }}"],
		['a row that is found by its number', "={{ $json.first + ' ' + $json.rows[$itemIndex].last }}"],
		['a missing field after a title', '=Dr. {{ $json.nmae }}'],
		['a field after a title that is null', '=Dr. {{ $json.empty }}'],
		['a missing field after one with a fallback', "=Dr. {{ $json.middle ?? '' }} {{ $json.lst }}"],
		['only a missing field with a fallback', "=Dr. {{ $json.nmae ?? '' }}"],
		['a missing field in a JSON list', '=["Dr. {{ $json.nmae }}"]'],
		['a missing field before a line break', '=Dr. {{ $json.nmae }}\n'],
		['missing fields on two lines', '=Dr. {{ $json.nmae }}\n\nProf. {{ $json.nmae }}'],
		['missing fields in a JSON list', '=["Dr. {{ $json.nmae }}", "Prof. {{ $json.nmae }}"]'],
		['a missing field whose name has a question mark', '=Dr. {{ $json["Name?"] }}'],
		['a date that is none', "={{ 'v' + DateTime.fromISO($json.date).toFormat('yyyy') }}"],
	])('%s', async (_what, terms) => {
		await service.ask('PUT /dictionary', { json: { terms: ['keep', 'these'] } });
		const { error } = await service.run(
			{ resource: 'dictionary', operation: 'sync', mode: 'replace', terms },
			{
				items: itemsOf({ имя: 'Иван', first: 'Ivan', rows: [{}], date: '2026-02-31', empty: null }),
			},
		);
		expect(error?.message).toMatch(/^'Terms' has /);
		expect((await service.ask('GET /dictionary')).body['terms']).toEqual(['keep', 'these']);
	});
});

it.each([
	{ terms: '=Kubernetes\n{{ $json.x }}' },
	{ terms: '=["Kubernetes", "{{ $json.x }}"]' },
	{ terms: '=["Kubernetes", {{ JSON.stringify($json.x ?? "") }}]' },
	{ specifyTerms: 'text', text: '=Kubernetes, {{ $json.x }}' },
])('Replace takes a fixed term beside a field that is empty: %j', async (entered) => {
	const replace = { resource: 'dictionary', operation: 'replace', ...entered };
	expect((await service.run(replace, { items: itemsOf({}) })).error).toBeUndefined();
	expect((await service.ask('GET /dictionary')).body['terms']).toEqual(['Kubernetes']);
});

it('Replace takes a JSON list whose first and last members are empty', async () => {
	const terms = `=["{{ $json.x }}", "Alpha", "{{ $json.first }} {{ $json.last }}", "{{ $json.y }}"]`;
	const many = terms.replace('"Alpha"', Array<string>(40).fill('"{{ 1 }} {{ 2 }}"').join(', '));
	for (const list of [terms, many]) {
		const replace = { resource: 'dictionary', operation: 'replace', terms: list };
		expect((await service.run(replace, { items: itemsOf({}) })).error).toBeUndefined();
	}
});

it.each([
	{ terms: "=Dr. {{ $json.nmae || '' }}" },
	{ terms: "=Dr. {{ $json.nmae || '' }}\nProf. {{ $json.nmae || '' }}\n" },
	{ terms: '=["Dr. {{ $json.nmae }}"]' },
	{ terms: '=["Dr. {{ $json.nmae }}", "Prof, {{ $json.nmae }}"]' },
	{ specifyTerms: 'text', text: "=Dr. {{ $json.nmae || '' }}, Prof. {{ $json.nmae || '' }}," },
])(
	'Replace does not replace the dictionary by the text around a missing field: %j',
	async (entered) => {
		await service.ask('PUT /dictionary', { json: { terms: ['keep', 'these'] } });
		const replace = { resource: 'dictionary', operation: 'replace', ...entered };
		const { error } = await service.run(replace, { items: itemsOf({ name: 'Anna' }) });
		expect(error?.message).toMatch(/^'(Terms|Text)' has only the text around/);
		expect((await service.ask('GET /dictionary')).body['terms']).toEqual(['keep', 'these']);
	},
);

it.each<[string, string, IDataObject[], string[]]>([
	['empty', '=Win {{ $json.version }}', [{ version: '' }, { version: '11' }], ['Win', 'Win 11']],
	['not there', '=Win {{ $json.version }}', [{}, { version: '11' }], ['Win', 'Win 11']],
	[
		'not there, and one that is',
		'={{ $json.first }} {{ $json.last }}',
		[{ first: 'Anna', last: 'Petrova' }, { first: 'Madonna' }],
		['Anna Petrova', 'Madonna'],
	],
	[
		'not there, and a list',
		"={{ $json.terms }}{{ '\\n' }}{{ $json.more }}",
		[{ terms: 'a\nb', more: 'x' }, { terms: 'c\nd' }],
		['a', 'b', 'x', 'c', 'd'],
	],
])('Sync keeps the term of a row beside a field that is %s', async (_what, terms, rows, stored) => {
	await service.run(
		{ resource: 'dictionary', operation: 'sync', mode: 'replace', terms },
		{ items: itemsOf(...rows) },
	);
	expect((await service.ask('GET /dictionary')).body['terms']).toEqual(stored);
});

it.each<[string, INodeParameters]>([
	['a link', { ...LINK, url: '=https://files.example.com/{{ $json.id }}' }],
	[
		'a webhook address',
		{
			...LINK,
			onCompletion: 'callUrl',
			webhookUrl: '=https://crm.example.com/deals/{{ $json.id }}/transcript',
		},
	],
	['the link of a meeting', { ...BOT, meetingUrl: '=https://meet.example.com/{{ $json.id }}?a=b' }],
])('%s of which a whole part of the path is null is refused', async (_what, parameters) => {
	const { error } = await service.run(parameters, { items: itemsOf({ id: null }) });
	expect(error?.message).toContain(GIVES_NOTHING.slice(2));
	expect(service.lines()).toEqual([]);
});

describe('a word of another step', () => {
	const glossary = [{ term: 'undefined behaviour' }, { term: 'null pointer' }];
	const files = [{ id: 5, url: 'https://files.example.com/riunione-annullata.mp3' }];
	const terms = "={{ $('Source').all().map(i => i.json.term).join(', ') }}";

	it.each<[string, INodeParameters, IDataObject[]]>([
		['may stand in a prompt', { ...LINK, options: { prompt: terms } }, glossary],
		[
			'may be a term',
			{ resource: 'dictionary', operation: 'add', specifyTerms: 'text', text: terms },
			glossary,
		],
		[
			'may stand in a link',
			{ ...LINK, url: "={{ $('Source').all().find(r => r.json.id === $json.id).json.url }}" },
			files,
		],
		[
			'may stand in a link of a step after a dot',
			{ ...LINK, url: '={{ $node.Source.json.url }}' },
			files,
		],
		[
			'may stand in a link of a step whose name comes from the input',
			{ ...LINK, url: '={{ $($json.step).first().json.url }}' },
			files,
		],
	])('%s', async (_what, parameters, source) => {
		const items = itemsOf({ id: 5, step: 'Source' });
		const data = besides(itemsOf(...source), parameters, items);
		expect((await service.run(parameters, { items, data })).error).toBeUndefined();
	});

	it('may stand in a link with the name of a file of that step', async () => {
		const url = "=https://files.example.com/{{ $('Source').first().binary.data.fileName }}";
		const file = { data: '', mimeType: 'audio/mpeg', fileName: 'annullierung.mp3' };
		const items = itemsOf({ id: 5 });
		const data = besides([{ json: {}, binary: { data: file } }], { ...LINK, url }, items);
		expect((await service.run({ ...LINK, url }, { items, data })).error).toBeUndefined();
	});
});

/** An n8n whose expressions give `value` if they contain `part`. */
const evaluating = (part: string, value: unknown) => ({
	...itemContext(LINK),
	evaluateExpression: (expression: string) => (expression.includes(part) ? value : undefined),
});

it('a word of a step with a Russian name after a dot may stand in a link', () => {
	const url = 'https://files.example.com/annullierung.mp3';
	const context = evaluating("$('Таблица').all()", [{ json: { url } }]) as never;
	const check = () =>
		checkJoined(context, '={{ $node.Таблица.json.url }}', [url], 'URL', { isExact: true });
	expect(check).not.toThrow();
});

it.each(['$vars.base', '$env.BASE', "$env['BASE']"])(
	'a word of %s, which an administrator has set, may stand in a link',
	(setting) => {
		const context = evaluating(setting, 'https://annulla.example.com') as never;
		const entered = `={{ ${setting} }}/a.mp3`;
		const links = ['https://annulla.example.com/a.mp3'];
		expect(() => checkJoined(context, entered, links, 'URL', { isExact: true })).not.toThrow();
		expect(() =>
			checkJoined(evaluating('none', '') as never, entered, links, 'URL', { isExact: true }),
		).toThrow();
	},
);

it.each(['"folder"', '"Client\'s folder"', '`the "folder"`'])(
	'a field %s that is not there may stand in a link if it has a fallback',
	async (name) => {
		const url = `=https://files.example.com/{{ $json[${name}] ?? '' }}/talk.mp3`;
		const { error } = await service.run({ ...LINK, url }, { items: itemsOf({ id: 1 }) });
		expect(error).toBeUndefined();
	},
);

it('an empty folder may stand in the query of a link', async () => {
	const url = '=https://files.example.com/dl?path=/{{ $json.folder }}/a.mp3';
	const { error } = await service.run({ ...LINK, url }, { items: itemsOf({ folder: '' }) });
	expect(error).toBeUndefined();
});

describe('Terms of the dictionary that hold more than an empty field', () => {
	it.each<[string, INodeParameters, string[]]>([
		[
			'a second term behind a condition',
			{ specifyTerms: 'text', text: "=Alpha{{ $json.extra ? ', ' + $json.extra : '' }}" },
			['Alpha'],
		],
		[
			'a field with the fallback that the panel advises',
			{ specifyTerms: 'list', terms: "={{ $json.title ?? '' }} Smith" },
			['Smith'],
		],
		[
			'a JSON list with an empty member',
			{ specifyTerms: 'list', terms: '=["Alpha", "Beta", "{{ $json.extra }}"]' },
			['Alpha', 'Beta'],
		],
	])('are added: %s', async (_what, parameters, terms) => {
		const add = { resource: 'dictionary', operation: 'add', ...parameters };
		const { error } = await service.run(add, { items: itemsOf({ extra: '' }) });
		expect(error).toBeUndefined();
		expect((await service.ask('GET /dictionary')).body['terms']).toEqual(terms);
	});

	it.each([
		'=["Alpha", "{{ $json.extra }}"]',
		"=Alpha{{ $json.extra ? '\\n' + $json.extra : '' }}",
	])('are synchronised: %s', async (terms) => {
		const sync = { resource: 'dictionary', operation: 'sync', mode: 'replace', terms };
		const { error } = await service.run(sync, { items: itemsOf({ extra: '' }) });
		expect(error?.message).toBeUndefined();
		expect((await service.ask('GET /dictionary')).body['terms']).toEqual(['Alpha']);
	});
});
