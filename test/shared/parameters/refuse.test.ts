// Also covers roundedNumber.ts, jsonText.ts.

import {
	NodeApiError,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
} from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { refuse, withNextStep } from '../../../nodes/shared/parameters/refuse';
import { EVERY_OPERATION, WITH_SUMMARY_REGENERATION } from '../../support/everyOperation';
import { byId, failureOf, itemsOf, itemWithFile, serviceForTests } from '../../support/service';
import { ACCOUNT, BOT, FILE, LINK } from '../../support/parameters';
import { few } from '../../support/long';
import { findIn } from '../../support/search';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);

const REPLACE = { resource: 'dictionary', operation: 'replace' };
const ADD = { resource: 'dictionary', operation: 'add' };
const PREVIEW = { resource: 'dictionary', operation: 'preview', taskId: byId('a') };
const DAY_MS = 24 * 3600 * 1000;

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const withOptions = (parameters: INodeParameters, options: INodeParameters) => ({
	...parameters,
	options,
});
const speakers = (given: unknown) =>
	`'Number of Speakers' has to be a whole number from 1 to 6, but is '${String(given)}'`;

/** What can be known to be wrong: the parameters, and the words that name parameter and value. */
const REFUSED: Array<[title: string, parameters: INodeParameters, message: string]> = [
	...EVERY_OPERATION.filter(({ parameters }) => parameters['taskId']).map(
		({ name, parameters }): [string, INodeParameters, string] => [
			`${name}: no task`,
			{ ...parameters, taskId: byId('={{ "" }}') },
			"The parameter 'Task' is empty",
		],
	),
	...EVERY_OPERATION.filter(({ parameters }) => parameters['botId']).map(
		({ name, parameters }): [string, INodeParameters, string] => [
			`${name}: no bot`,
			{ ...parameters, botId: '={{ undefined }}' },
			"The parameter 'Bot ID' is empty",
		],
	),
	[
		'an id of blanks',
		{ resource: 'task', operation: 'get', taskId: byId('={{ "  " }}') },
		"The parameter 'Task' is empty",
	],
	[
		'an id with half a sign, which no path can hold',
		{ resource: 'task', operation: 'get', taskId: byId('={{ "7f3c\\ud800" }}') },
		"The parameter 'Task' is not an id: '7f3c\ud800'",
	],
	...['9007199254740993', '-1e300'].map((number): [string, INodeParameters, string] => [
		`an id that is a number too large: ${number}`,
		{ resource: 'task', operation: 'cancel', taskId: byId(`={{ ${number} }}`) },
		`'Task' is a number too large for n8n, which has rounded it: ${Number(number)}`,
	]),
	...['0', '1.5'].map((number): [string, INodeParameters, string] => [
		`a number that is no id: ${number}`,
		{ resource: 'meeting', operation: 'cancel', botId: `={{ ${number} }}` },
		`The parameter 'Bot ID' is not an id: '${number}'`,
	]),
	[
		'an idempotency key that is a number too large, and so the same for several files',
		withOptions(LINK, { idempotencyKey: '={{ 9007199254740993 }}' }),
		"'Idempotency Key' is a number too large for n8n, which has rounded it: 9007199254740992",
	],
	[
		'an object that an expression made into text',
		withOptions(LINK, { prompt: '=Names: {{ $json }}' }),
		"'Prompt' has '[object Object]' in it, which is a whole object made into text",
	],
	...[-1, 100_000].map((pollInterval): [string, INodeParameters, string] => [
		`a poll interval of ${pollInterval} seconds`,
		{ ...LINK, onCompletion: 'poll', waitOptions: { pollInterval } },
		`'Poll Interval' has to be a number ${pollInterval > 0 ? 'of at most 86400' : 'above 0'}, but is '${pollInterval}'`,
	]),
	...['awaitWebhook', 'poll'].map((onCompletion): [string, INodeParameters, string] => [
		`${onCompletion}: a timeout that no timer can keep`,
		{ ...LINK, onCompletion, waitOptions: { timeout: 1e12 } },
		"'Timeout' has to be a number of at most 86400, but is '1000000000000'",
	]),
	[
		'an export format in capital letters',
		{ ...LINK, onCompletion: 'poll', waitOptions: { exportFormat: '={{ "SRT" }}' } },
		"'Export Format' has to be none, txt, srt, vtt or json, but is 'SRT'",
	],
	['no link', { ...LINK, url: '={{ "" }}' }, "The parameter 'URL' is empty"],
	[
		'a link that is none',
		{ ...LINK, url: 'files.example.com/talk.mp3' },
		"'URL' is not a web address: 'files.example.com/talk.mp3'",
	],
	[
		'a link that the service cannot open',
		{ ...LINK, url: 'file:///etc/passwd' },
		"'URL' is not a web address: 'file:///etc/passwd'",
	],
	...[FILE, LINK].flatMap((submit): Array<[string, INodeParameters, string]> => [
		...[0, 7, 1.5, -1].map((given): [string, INodeParameters, string] => [
			`${submit.operation}: ${given} speakers`,
			withOptions(submit, { numSpeakers: given }),
			speakers(given),
		]),
		[
			`${submit.operation}: a number of speakers in words`,
			withOptions(submit, { numSpeakers: '={{ "three" }}' }),
			speakers('three'),
		],
		[
			`${submit.operation}: a domain that does not exist`,
			withOptions(submit, { domain: '={{ "cooking" }}' }),
			"'Domain' has to be legal, medical or tech, but is 'cooking'",
		],
		[
			`${submit.operation}: a language that is no code`,
			{ ...submit, language: '={{ "по-русски" }}' },
			"'Language' has to be an ISO code such as ru or en, but is 'по-русски'",
		],
		[
			`${submit.operation}: bad JSON in customFields`,
			withOptions(submit, { customFields: '={{ "{ beta: true }" }}' }),
			"The parameter 'Custom Fields' is not a JSON object",
		],
		[
			`${submit.operation}: a list in customFields`,
			withOptions(submit, { customFields: '={{ "[1, 2]" }}' }),
			"The parameter 'Custom Fields' is not a JSON object",
		],
	]),
	[
		'task.regenerateSummary: bad JSON in bodyJson',
		{
			resource: 'task',
			operation: 'regenerateSummary',
			taskId: byId('a'),
			path: '/tasks/{taskId}/summary',
			bodyJson: '={{ "{ tone: formal }" }}',
		},
		"The parameter 'Body' is not a JSON object",
	],
	...[0, -1, 1.5, 'many'].map((given): [string, INodeParameters, string] => [
		`task.getAll: limit "${given}"`,
		{ resource: 'task', operation: 'getAll', limit: `={{ ${JSON.stringify(given)} }}` },
		`'Limit' has to be a whole number above 0, but is '${given}'`,
	]),
	['no meeting link', { ...BOT, meetingUrl: '={{ "" }}' }, "The parameter 'Meeting URL' is empty"],
	[
		'a meeting link that is none',
		{ ...BOT, meetingUrl: 'abc-defg-hij' },
		"'Meeting URL' is not a web address: 'abc-defg-hij'",
	],
	[
		'no consent (default)',
		{ resource: 'meeting', operation: 'sendBot', meetingUrl: 'https://meet.example.com/abc' },
		"'Consent Acknowledged' is off, so no bot was sent",
	],
	[
		'consent refused',
		{ ...BOT, consentAcknowledged: false },
		"'Consent Acknowledged' is off, so no bot was sent",
	],
	[
		'consent from an expression that gives nothing',
		{ ...BOT, consentAcknowledged: '={{ $json.consent }}' },
		"'Consent Acknowledged' is off, so no bot was sent",
	],
	...['no', 'TRUE', 'true', 1].map((given): [string, INodeParameters, string] => [
		`consent that is not exactly true: ${JSON.stringify(given)}`,
		{ ...BOT, consentAcknowledged: `={{ ${JSON.stringify(given)} }}` },
		"'Consent Acknowledged' has to be true or false, and not a text or a number, so no bot was sent",
	]),
	...[
		[inDays(-1), 'is in the past'],
		[inDays(31), 'is more than 30 days ahead'],
		['tomorrow at ten', 'is not an ISO 8601 time'],
		['10:00', 'is not an ISO 8601 time'],
		['2030', 'is not an ISO 8601 time'],
		['2030-13-45T10:00:00Z', 'is not an ISO 8601 time'],
	].map(([startAt = '', reason]): [string, INodeParameters, string] => [
		`a start that ${reason}: ${startAt.replace(/T.*/, '')}`,
		{ ...BOT, startAt },
		`'Start At' ${reason}: '${startAt}'`,
	]),
	...[REPLACE, ADD].flatMap((edit): Array<[string, INodeParameters, string]> => [
		[
			`dictionary.${edit.operation}: no terms`,
			{ ...edit, terms: '={{ "" }}' },
			"The parameter 'Terms' has no terms",
		],
		[
			`dictionary.${edit.operation}: an empty list`,
			{ ...edit, terms: '={{ [] }}' },
			"The parameter 'Terms' has no terms",
		],
		[
			`dictionary.${edit.operation}: terms that are all blank`,
			{ ...edit, terms: '={{ " \\n \\n" }}' },
			"The parameter 'Terms' has no terms",
		],
		[
			`dictionary.${edit.operation}: rows instead of terms`,
			{ ...edit, terms: '={{ [{ term: "OKR" }] }}' },
			`'Terms' holds something that is not a term in item 0: {"term":"OKR"}`,
		],
		[
			`dictionary.${edit.operation}: a text of separators`,
			{ ...edit, specifyTerms: 'text', text: ', ; ,' },
			"The parameter 'Text' has no terms",
		],
		[
			`dictionary.${edit.operation}: a list over 20 000 characters`,
			{ ...edit, terms: '={{ ["я".repeat(10000), "ю".repeat(10001)] }}' },
			"'Terms' has 20001 characters, but the dictionary holds at most 20 000",
		],
		[
			`dictionary.${edit.operation}: a text over 20 000 characters`,
			{
				...edit,
				specifyTerms: 'text',
				text: '={{ "я".repeat(10000) + "; " + "ю".repeat(10001) }}',
			},
			"'Text' has 20001 characters, but the dictionary holds at most 20 000",
		],
	]),
	[
		'dictionary.preview: no terms',
		{ ...PREVIEW, terms: '={{ "" }}' },
		"The parameter 'Terms' has no terms",
	],
	[
		'dictionary.preview: over 20 000 characters',
		{ ...PREVIEW, terms: '={{ "я".repeat(20001) }}' },
		"'Terms' has 20001 characters, but the dictionary holds at most 20 000",
	],
	...[FILE, LINK, BOT].flatMap((submit): Array<[string, INodeParameters, string]> => [
		[
			`${submit.operation}: no webhook address`,
			{ ...submit, onCompletion: 'callUrl', webhookUrl: '={{ "" }}' },
			"The parameter 'Webhook URL' is empty",
		],
		[
			`${submit.operation}: waiting without a poll interval`,
			{ ...submit, onCompletion: 'poll', waitOptions: { pollInterval: 0 } },
			"'Poll Interval' has to be a number above 0, but is '0'",
		],
		[
			`${submit.operation}: waiting for less than no time`,
			{ ...submit, onCompletion: 'poll', waitOptions: { timeout: -1 } },
			"'Timeout' has to be a number above 0, but is '-1'",
		],
	]),
];

describe('what can be known to be wrong is refused before anything is sent', () => {
	few.it.each(REFUSED)('%s', async (_title, parameters, message) => {
		const { error, items } = await service.run(parameters, { items: [itemWithFile()] });
		expect(items).toEqual([]);
		expect(error).toMatchObject(failureOf(0, message));
		expect(service.lines()).toEqual([]);
	});

	it('what n8n itself asks for is not sent either: a required parameter left empty', async () => {
		await expect(service.run({ ...LINK, url: '' })).rejects.toThrow('Parameter "URL" is required');
		expect(service.lines()).toEqual([]);
	});
});

describe('a number that JSON does not have, deep in an object', () => {
	const WITHIN: Array<[string, (object: string) => Promise<INodeParameters>]> = [
		['Custom Fields', async (customFields) => withOptions(LINK, { customFields })],
		[
			'Body',
			async (bodyJson) => ({
				resource: 'task',
				operation: 'regenerateSummary',
				taskId: byId(await service.completedTask()),
				path: '/tasks/{taskId}/summary',
				bodyJson,
			}),
		],
	];

	it.each(WITHIN)('%s: is refused where it is infinite', async (name, parametersWith) => {
		for (const number of ['Infinity', '-Infinity']) {
			const parameters = await parametersWith(`={{ { tone: { pace: ${number} } } }}`);
			service.running().requests.splice(0);
			const { error } = await service.run(parameters);
			const message = `The parameter '${name}' is not a JSON object`;
			expect(error).toMatchObject(failureOf(0, message));
			expect(service.lines()).toEqual([]);
		}
	});

	it.each(WITHIN)('%s: is left out where it is NaN', async (_name, parametersWith) => {
		const parameters = await parametersWith(
			'={{ { tone: { pace: NaN, steps: [1, NaN, undefined, 2] }, speed: NaN } }}',
		);
		service.running().requests.splice(0);
		await service.run(parameters);
		const body = service.sent().body as object;
		expect(body).toMatchObject({ tone: { steps: [1, 2] } });
		expect(JSON.stringify(body)).not.toMatch(/pace|speed|null/);
	});
});

describe('an error of publishing', () => {
	const context = { getNode: () => ({ name: 'Trigger' }) } as never;

	it('says the next step in its message, the only part that n8n 2 shows', () => {
		const refused = { message: 'The balance is empty', description: 'Top up.' };
		expect(withNextStep(context, refused).message).toBe('The balance is empty. Top up.');
		expect(withNextStep(context, new Error('No')).message).toBe('No');
		expect(withNextStep(context, 'no object').message).toBe('no object');
	});

	it('is no NodeApiError, of which n8n 1 shows the description only', () => {
		const node = { name: 'Trigger', type: 't', parameters: {} } as unknown as INode;
		const refused = new NodeApiError(node, { message: 'No' });
		expect(withNextStep(context, refused)).not.toBeInstanceOf(NodeApiError);
	});
});

describe('the credential', () => {
	beforeEach(() => {
		jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 0);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	});

	it.each(['', '  ', 'ftp://transcriber.example.com', 'https:/transcriber', 'https://', '/'])(
		'a Base URL that is no web address is refused: "%s"',
		async (baseUrl) => {
			const { error } = await service.run(ACCOUNT, {
				credentials: service.credentials({ baseUrl }),
			});
			expect(error?.name).toMatch(/^Node(Api|Operation)Error$/);
			expect(error?.message).toMatch(
				/^The 'Base URL' of the credential is not a web address \[item 0\]$/,
			);
			expect(error?.description).toContain('https://');
		},
	);

	it.each([
		['id1:key-of-the-account', 'https://transcriber.example.com'],
		['1id:key-of-the-account', '1id:key-of-the-account'],
	])('a Base URL that may be the API key is refused without it', async (baseUrl, apiKey) => {
		const { error, data } = await service.run(ACCOUNT, { credentials: { baseUrl, apiKey } });
		expect(error?.message).toBe("The 'Base URL' of the credential is not a web address [item 0]");
		expect(findIn([error, data], ['key-of-the'])).toEqual([]);
	});

	it('a Base URL where nobody listens is an error that names it', async () => {
		// Port 9 is kept for a service that discards everything, and nobody runs.
		const credentials = service.credentials({ baseUrl: 'http://127.0.0.1:9' });
		const { error } = await service.run(ACCOUNT, { credentials });
		expect(error).toMatchObject(failureOf(0, 'The service cannot be reached'));
		expect(error?.description).toContain("'Base URL'");
	});

	it('a Base URL with a path that is not of the service is an error that names it', async () => {
		const credentials = service.credentials({ baseUrl: `${service.running().url}/cabinet` });
		const { error } = await service.run(ACCOUNT, { credentials });
		expect(error).toMatchObject(failureOf(0, 'There is nothing at this address of the service'));
		expect(error?.description).toContain("'Base URL'");
		expect(error?.httpCode).toBe('404');
	});

	few.it.each(['<html>Please log in</html>', '"ok"', 'true', '17'])(
		'a Base URL where something else answers with %s is an error that names it',
		async (body) => {
			service.running().fault({
				match: { path: '/account$' },
				action: { kind: 'respond', status: 200, body },
			});
			const { error } = await service.run(ACCOUNT);
			expect(error).toMatchObject(
				failureOf(0, 'Something other than the service answered at this address'),
			);
			expect(error?.description).toContain("'Base URL'");
		},
	);

	few.it.each(EVERY_OPERATION)(
		'a wrong API key is an error that names it, after one request: $name',
		async ({ parameters, input }) => {
			const items = [await input(service)];
			const credentials = service.credentials({ apiKey: 'wrong-key-4711' });
			const { error } = await service.run(parameters, { items, credentials });
			expect(error).toMatchObject(failureOf(0, 'The service does not accept the API key'));
			expect(error?.httpCode).toBe('401');
			expect(error?.description).toContain("'API Key'");
			expect(JSON.stringify([error?.message, error?.description])).not.toContain('4711');
			expect(service.lines()).toHaveLength(1);
		},
	);

	it('a key whose API is not enabled in the cabinet: the error says where to enable it', async () => {
		service.running().configure({ apiEnabled: false });
		const { error } = await service.run(ACCOUNT);
		expect(error?.description).toContain(
			'the API is enabled in the API section of your account at the service',
		);
		expect(error?.description).toContain('The API is not enabled in the cabinet');
	});
});

/** Three items of which one is wrong: right, and wrong, before or after it is sent. */
interface Mixed {
	title: string;
	parameters: INodeParameters;
	right: () => Promise<INodeExecutionData>;
	wrong: INodeExecutionData;
	message: string | RegExp;
}

const withJson = (item: INodeExecutionData, json: INodeExecutionData['json']) => ({
	...item,
	json,
});

const KNOWN_BEFORE: Mixed[] = [
	{
		title: 'task.get without an id',
		parameters: { resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
		right: async () => ({ json: { id: await service.pendingTask() } }),
		wrong: { json: { id: '' } },
		message: "The parameter 'Task' is empty",
	},
	{
		title: 'transcribeFile without a file',
		parameters: FILE,
		right: async () => itemWithFile(),
		wrong: { json: {} },
		message: /'data'/,
	},
	{
		title: 'transcribeFile with an empty file',
		parameters: FILE,
		right: async () => itemWithFile(),
		wrong: itemWithFile(''),
		message: "The file in 'data' is empty",
	},
	{
		title: 'transcribeFile with seven speakers',
		parameters: withOptions(FILE, { numSpeakers: '={{ $json.speakers }}' }),
		right: async () => withJson(itemWithFile(), { speakers: 2 }),
		wrong: withJson(itemWithFile(), { speakers: 7 }),
		message: speakers(7),
	},
	{
		title: 'transcribeUrl with bad JSON in customFields',
		parameters: withOptions(LINK, { customFields: '={{ $json.more }}' }),
		right: async () => ({ json: { more: '{}' } }),
		wrong: { json: { more: '{' } },
		message: "The parameter 'Custom Fields' is not a JSON object",
	},
	{
		title: 'sendBot without consent',
		parameters: { ...BOT, consentAcknowledged: '={{ $json.consent }}' },
		right: async () => ({ json: { consent: true } }),
		wrong: { json: { consent: false } },
		message: "'Consent Acknowledged' is off, so no bot was sent",
	},
	{
		title: 'dictionary.replace without terms',
		parameters: { ...REPLACE, terms: '={{ $json.terms }}' },
		right: async () => ({ json: { terms: ['n8n'] } }),
		wrong: { json: { terms: [] } },
		message: "The parameter 'Terms' has no terms",
	},
];

const KNOWN_AFTERWARDS: Mixed[] = [
	{
		title: 'task.get of a task that the service does not know',
		parameters: { resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
		right: async () => ({ json: { id: await service.pendingTask() } }),
		wrong: { json: { id: 'nobody' } },
		message: 'The service has no task with this ID',
	},
	{
		title: 'meeting.get of a bot that the service does not know',
		parameters: { resource: 'meeting', operation: 'get', botId: '={{ $json.id }}' },
		right: async () => ({ json: { id: await service.bot() } }),
		wrong: { json: { id: 'nobody' } },
		message: 'The service has no meeting bot with this ID',
	},
	{
		title: 'sendBot to a meeting that the service does not accept',
		parameters: { ...BOT, meetingUrl: '={{ $json.link }}' },
		right: async () => ({ json: { link: 'https://meet.example.com/abc' } }),
		wrong: { json: { link: 'https://example.com/abc' } },
		message: /^The service does not accept the link in 'Meeting URL'.*\[item \d\]$/,
	},
];

const itemsWith = async ({ right, wrong }: Mixed, at: number) => {
	const items = [await right(), await right()];
	items.splice(at, 0, wrong);
	return items;
};
const saying = (message: string | RegExp, at: number) =>
	typeof message === 'string' ? `${message} [item ${at}]` : expect.stringMatching(message);

describe('onError: stop', () => {
	few.it.each(KNOWN_BEFORE.flatMap((mixed) => [0, 1, 2].map((at) => ({ ...mixed, at }))))(
		'when item $at alone is wrong, nothing is sent for the others: $title',
		async ({ at, ...mixed }) => {
			const items = await itemsWith(mixed, at);
			const { error, items: output } = await service.run(mixed.parameters, { items });
			expect(output).toEqual([]);
			expect(error?.message).toEqual(saying(mixed.message, at));
			expect(error?.message).toContain(`[item ${at}]`);
			expect(error?.context).toMatchObject({ itemIndex: at });
			await expectSilence();
		},
	);

	few.it.each([0, 1, 2])(
		'when n8n cannot evaluate an expression of item %d, nothing is sent for the others',
		async (at) => {
			const items = itemsOf({ id: 'a' }, { id: 'b' });
			items.splice(at, 0, { json: { bad: true } });
			const broken = '={{ $json.bad ? $("A node that is not there").item.json.id : $json.id }}';
			const { error } = await service.run(
				{ resource: 'meeting', operation: 'cancel', botId: broken },
				{ items },
			);
			expect(error?.message).toContain('node');
			expect(error?.context).toMatchObject({ itemIndex: at });
			await expectSilence();
		},
	);

	few.it.each(KNOWN_AFTERWARDS)('the error names the item: $title', async (mixed) => {
		const items = await itemsWith(mixed, 1);
		const { error } = await service.run(mixed.parameters, { items });
		expect(error?.message).toMatch(mixed.message);
		expect(error?.message).toContain('[item 1]');
		expect(error?.context).toMatchObject({ itemIndex: 1 });
	});

	async function expectSilence(): Promise<void> {
		expect(service.lines()).toEqual([]);
		// The engine does not wait for items beside the one that failed: they must stay silent later, too.
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(service.lines()).toEqual([]);
	}
});

describe.each([
	['known before it is sent', KNOWN_BEFORE],
	['known from the answer', KNOWN_AFTERWARDS],
])('with On Error = Continue each item has its own outcome: %s', (_when, cases) => {
	few.it.each(cases)('continueRegularOutput: $title', async (mixed) => {
		const items = await itemsWith(mixed, 1);
		const outcome = await service.run(mixed.parameters, {
			items,
			node: { onError: 'continueRegularOutput' },
		});
		expect(outcome.error).toBeUndefined();
		expect(outcome.items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
		expect(outcome.json.map((json) => 'error' in json)).toEqual([false, true, false]);
		expect(outcome.json[1]).toEqual({ error: saying(mixed.message, 1) });
	});

	few.it.each(cases)('continueErrorOutput: $title', async (mixed) => {
		const items = await itemsWith(mixed, 1);
		const outcome = await service.run(mixed.parameters, {
			items,
			node: { onError: 'continueErrorOutput' },
		});
		expect(outcome.error).toBeUndefined();
		const [right = [], wrong = []] = outcome.outputs;
		expect(right.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		expect(right.every(({ json }) => !('error' in json))).toBe(true);
		expect(wrong.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
		expect(wrong[0]?.json).toEqual({ error: saying(mixed.message, 1) });
		expect(wrong[0]?.error?.name).toMatch(/^Node(Api|Operation)Error$/);
		expect(wrong[0]?.error?.context).toMatchObject({ itemIndex: 1 });
	});
});

describe('a message with a word that n8n takes for the code of a connection error', () => {
	const CODES = [
		...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'ERRADDRINUSE', 'EADDRNOTAVAIL'],
		...['ECONNABORTED', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'],
		...['EEXIST', 'EPERM', 'GETADDRINFO'],
	];
	const context = { getNode: () => ({ name: 'Transcriber' }) as INode };

	it.each(CODES)('stays as it is: %s', (code) => {
		expect(refuse(context, `It says ${code}`, 'Look').message).toBe(`It says ${code}`);
		expect(withNextStep(context, new Error(`It says ${code}`)).message).toBe(`It says ${code}`);
	});

	few.it.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'stays as it is in the engine of n8n: a failed task (%s)',
		async (onError) => {
			for (const reason of ['read ECONNRESET', 'connect ETIMEDOUT 10.0.0.1:443']) {
				const id = await service.pendingTask();
				service.running().finish(id, { status: 'failed', error: reason });
				const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
				const { error, json } = await service.run(wait, { items: itemsOf({}), node: { onError } });
				const shown = String(onError === 'stopWorkflow' ? error?.message : json[0]?.error);
				expect(shown).toContain(`ask ${id}`);
				expect(shown).toContain(reason);
			}
		},
	);

	few.it.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'stays as it is in the engine of n8n: a refused link (%s)',
		async (onError) => {
			const url = 'files.example.com/preexisting.mp3';
			const { error, json } = await service.run(
				{ ...LINK, url },
				{ items: itemsOf({}), node: { onError } },
			);
			expect(String(onError === 'stopWorkflow' ? error?.message : json[0]?.error)).toContain(url);
		},
	);
});
