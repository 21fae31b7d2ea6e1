// Also covers index.ts, checkGivenIdempotencyKey.ts, languages.ts, options.ts, transcribeFile.ts,
// transcribeUrl.ts, nodes/shared/webhook/publicAddress.ts.

import type { INodeParameters } from 'n8n-workflow';

import { describeWaiting, describeWebhookTo } from '../../../support/completion';
import { itemContext } from '../../../support/itemContext';
import { givenKey } from '../../../../nodes/Transcriber/resources/transcription/checkGivenIdempotencyKey';
import { itemsOf, itemWithFile, serviceForTests } from '../../../support/service';
import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { until } from '../../../simulator/testing-client';
import { FILE, LINK } from '../../../support/parameters';
import { few } from '../../../support/long';

const service = serviceForTests();

/** The language stands beside the options. Not set, it is not sent. */
const withLanguage = ({ language = '={{ undefined }}', ...options }: INodeParameters) => ({
	language,
	options,
});

/** Each option and what it becomes on the wire. In a form, everything is text. */
const OPTIONS: Array<
	[name: string, value: string | number, wire: Record<string, string | number>]
> = [
	['language', 'en', { language: 'en' }],
	['numSpeakers', 1, { num_speakers: 1 }],
	['numSpeakers', 6, { num_speakers: 6 }],
	['prompt', 'Анна Петрова, OKR', { prompt: 'Анна Петрова, OKR' }],
	['domain', 'legal', { domain: 'legal' }],
	['domain', 'medical', { domain: 'medical' }],
	['domain', 'tech', { domain: 'tech' }],
	['summaryTemplate', 'podcast', { summary_template: 'podcast' }],
	['summaryTemplate', 'board-of-directors', { summary_template: 'board-of-directors' }],
];
const asText = (fields: Record<string, string | number>) =>
	Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

describe('transcription.transcribeFile', () => {
	const run = async (given: INodeParameters = {}, items = [itemWithFile()]) =>
		await service.run({ ...FILE, ...withLanguage(given) }, { items });

	it('sends POST /transcribe as multipart/form-data with the file: name, type and bytes', async () => {
		await run();
		const request = service.sent();
		expect(request).toMatchObject({ method: 'POST', path: '/api/v1/transcribe', query: {} });
		expect(request.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
		expect(request.file).toEqual({
			field: 'file',
			name: 'talk.mp3',
			mimeType: 'audio/mpeg',
			size: 5,
			sha256: 'dd29442deca69f52c50006b831cb216edf78a7da33748f0a80ff19f2ebe57ecd',
		});
	});

	it('sends nothing else but the language when no option is set', async () => {
		await service.run(FILE, { items: [itemWithFile()] });
		expect(service.sent().body).toEqual({ language: 'ru' });
	});

	it('sends the API key and an Idempotency-Key as headers, once each', async () => {
		await run();
		const names = service.sent().rawHeaders.filter((_, index) => index % 2 === 0);
		expect(names.filter((name) => /^x-api-key$/i.test(name))).toHaveLength(1);
		expect(names.filter((name) => /^idempotency-key$/i.test(name))).toHaveLength(1);
		expect(service.sent().headers['x-api-key']).toBe('test-api-key');
	});

	it('outputs the submit response with the names of the service', async () => {
		const { items } = await run();
		const [task] = service.running().tasks();
		expect(items).toEqual([
			{ json: { task_id: task?.id, status: 'pending' }, pairedItem: { item: 0 } },
		]);
	});

	it('outputs status awaiting_balance when the balance is insufficient: that is no error', async () => {
		service.running().configure({ balance: 0 });
		const { json, error } = await run();
		expect(error).toBeUndefined();
		expect(json).toEqual([{ task_id: expect.any(String), status: 'awaiting_balance' }]);
	});

	it('takes the file from the field that binaryPropertyName names', async () => {
		const item = itemWithFile('other', { fileName: 'b.wav', mimeType: 'audio/wav', property: 'b' });
		item.binary = { ...item.binary, ...itemWithFile().binary };
		await service.run({ ...FILE, binaryPropertyName: 'b' }, { items: [item] });
		expect(service.sent().file).toMatchObject({ name: 'b.wav', mimeType: 'audio/wav', size: 5 });
	});

	it('takes binaryPropertyName from an expression per item', async () => {
		const items = ['a', 'b'].map((property) => ({
			...itemWithFile(property, { fileName: `${property}.mp3`, property }),
			json: { property },
		}));
		await service.run({ ...FILE, binaryPropertyName: '={{ $json.property }}' }, { items });
		const names = service.running().requests.map(({ file }) => file?.name);
		expect(names.sort()).toEqual(['a.mp3', 'b.mp3']);
	});

	few.it.each(OPTIONS)('%s %j is sent under the name of the service', async (name, value, wire) => {
		const { error } = await run({ [name]: value });
		expect(error).toBeUndefined();
		expect(service.sent().body).toEqual(asText(wire));
	});

	it('sends all options together', async () => {
		await run(Object.fromEntries(OPTIONS.map(([name, value]) => [name, value])));
		expect(service.sent().body).toEqual(asText(Object.assign({}, ...OPTIONS.map(([, , w]) => w))));
	});

	it('takes options from expressions per item, also a language that is not in the list', async () => {
		const items = [
			{ ...itemWithFile('1', { fileName: '1.mp3' }), json: { language: 'tlh', speakers: 2 } },
			{ ...itemWithFile('2', { fileName: '2.mp3' }), json: { language: 'uk', speakers: 3 } },
		];
		const { error } = await run(
			{ language: '={{ $json.language }}', numSpeakers: '={{ $json.speakers }}' },
			items,
		);
		expect(error).toBeUndefined();
		const sent = service.running().requests.map(({ file, body }) => [file?.name, body]);
		expect(Object.fromEntries(sent)).toEqual({
			'1.mp3': { language: 'tlh', num_speakers: '2' },
			'2.mp3': { language: 'uk', num_speakers: '3' },
		});
	});

	it('takes a number of speakers that an expression gives as text, as spreadsheets do', async () => {
		const { error } = await run({ numSpeakers: '={{ "3" }}' });
		expect(error).toBeUndefined();
		expect(service.sent().body).toEqual({ num_speakers: '3' });
	});

	it('does not send an option that an expression leaves empty', async () => {
		await run({ prompt: '={{ "" }}', summaryTemplate: '' });
		expect(service.sent().body).toEqual({});
	});

	describe('options.customFields', () => {
		it('adds fields that the node does not know; objects and lists go as JSON', async () => {
			await run({ customFields: '{ "beta": true, "tags": ["a", "b"], "retention_days": 3 }' });
			expect(service.sent().body).toEqual({
				beta: 'true',
				tags: '["a","b"]',
				retention_days: '3',
			});
		});

		it('wins over the other options', async () => {
			await run({ language: 'en', customFields: '{ "language": "de" }' });
			expect(service.sent().body).toEqual({ language: 'de' });
		});

		it('removes a field with null', async () => {
			await run({ language: 'en', prompt: 'OKR', customFields: '{ "language": null }' });
			expect(service.sent().body).toEqual({ prompt: 'OKR' });
		});

		it('may be an object from an expression', async () => {
			await run({ customFields: '={{ { beta: "yes" } }}' });
			expect(service.sent().body).toEqual({ beta: 'yes' });
		});

		it('may be empty', async () => {
			const { error } = await run({ customFields: '' });
			expect(error).toBeUndefined();
			expect(service.sent().body).toEqual({});
		});
	});

	describe('Idempotency-Key', () => {
		it('is the one that was checked, also if its expression gives another value each time', async () => {
			const context = itemContext(FILE);
			let reads = 0;
			const changing = Object.create(context, {
				getNodeParameter: { value: () => ({ idempotencyKey: `key ${++reads}` }) },
			}) as typeof context;
			const recording = { name: 'talk', isSame: async () => await Promise.resolve(false) };
			expect(await givenKey(changing, recording, 'files')).toBe('key 1');
		});

		const keys = () =>
			service.running().requests.map(({ headers }) => String(headers['idempotency-key']));

		it('is the one that options.idempotencyKey gives, and is no field of the form', async () => {
			await run({ idempotencyKey: 'meeting-17' });
			expect(keys()).toEqual(['meeting-17']);
			expect(service.sent().body).toEqual({});
		});

		it('given twice, the service answers with the same task', async () => {
			const first = await run({ idempotencyKey: 'meeting-17' });
			const second = await run({ idempotencyKey: 'meeting-17' });
			expect(second.json).toEqual(first.json);
			expect(service.running().tasks()).toHaveLength(1);
		});

		it('given for one file with two languages is refused before anything is sent', async () => {
			const items = ['ru', 'en'].map((language) => ({ ...itemWithFile(), json: { language } }));
			const options = { idempotencyKey: 'meeting-17' };
			const parameters = { ...FILE, options, language: '={{ $json.language }}' };
			const { error } = await service.run(parameters, { items });
			expect(error?.message).toMatch(
				/^'Idempotency Key' is 'meeting-17' for one recording with settings that may differ/,
			);
			expect(service.lines()).toEqual([]);
		});

		it('given twice for the same, in one run, is one task', async () => {
			const { json, error } = await run({ idempotencyKey: 'meeting-17' }, [
				itemWithFile(),
				itemWithFile(),
			]);
			expect(error).toBeUndefined();
			expect(json).toHaveLength(2);
			expect(service.running().tasks()).toHaveLength(1);
		});

		it('is derived when it is not given, another one for each item and execution', async () => {
			await run({}, [itemWithFile('1'), itemWithFile('2')]);
			await run();
			expect(keys()).toHaveLength(3);
			expect(new Set(keys()).size).toBe(3);
		});

		it('is the same when the same item of the same execution runs again', async () => {
			const execution = { executionId: '77', resumeToken: 'of execution 77' };
			await service.run(FILE, { items: [itemWithFile()], ...execution });
			await service.run(FILE, { items: [itemWithFile()], ...execution });
			expect(keys()[0]).toBe(keys()[1]);
			expect(service.running().tasks()).toHaveLength(1);
		});

		it('keeps keys apart that differ only in letters of another language, such as file names', async () => {
			const first = await run({ idempotencyKey: 'встреча.mp3' });
			const second = await run({ idempotencyKey: 'беседа.mp3' });
			expect([first.error, second.error]).toEqual([undefined, undefined]);
			expect(service.running().tasks()).toHaveLength(2);
		});
	});

	it('names the tasks already accepted when another item fails', async () => {
		service.running().fault({
			match: { path: '/transcribe$' },
			skip: 1,
			action: { kind: 'respond', status: 413, readBody: true },
		});
		const { error } = await run({}, [itemWithFile('1'), itemWithFile('2')]);
		const [task] = service.running().tasks();
		expect(error?.message).toContain('The file (less than 1 MB) is larger than the service takes');
		expect(error?.description).toContain(`task ${task?.id}`);
	});

	describe('onCompletion', () => {
		describeWebhookTo({
			service,
			parameters: FILE,
			item: () => itemWithFile(),
			isShownElsewhere: true,
		});
	});

	describe('onCompletion poll', () => {
		describeWaiting({
			service,
			startWaiting: async (waitOptions) => {
				const outcome = service.run(
					{ ...FILE, onCompletion: 'poll', waitOptions },
					{ items: [itemWithFile('sound', { fileName: 'interview.final.mp3' })] },
				);
				return { taskId: await submittedTask(), outcome };
			},
			fileNameFor: () => 'interview.final',
			mayAwaitBalance: true,
			isShownElsewhere: true,
		});

		it('with several items each output belongs to its item, in their order', async () => {
			jest.replaceProperty(POLL, 'perTask', 50);
			service.running().configure({ processingSeconds: 20, queueSeconds: 1 });
			const { json, items } = await service.run(
				{
					...FILE,
					onCompletion: 'poll',
					waitOptions: { pollInterval: 0.05, exportFormat: 'srt', includeResult: false },
				},
				{ items: ['1', '2', '3'].map((name) => itemWithFile(name, { fileName: `${name}.mp3` })) },
			);
			expect(items.map(({ binary }) => binary?.['data']?.fileName)).toEqual([
				'1.srt',
				'2.srt',
				'3.srt',
			]);
			const names = json.map(({ task_id: id }) => service.running().task(String(id)).name);
			expect(names).toEqual(['1.mp3', '2.mp3', '3.mp3']);
		});

		it('names an exported file after the whole name of a file without an extension', async () => {
			service.running().configure({ processingSeconds: 20, queueSeconds: 1 });
			const waitOptions = { pollInterval: 0.05, exportFormat: 'srt', includeResult: false };
			const { items } = await service.run(
				{ ...FILE, onCompletion: 'poll', waitOptions },
				{ items: [itemWithFile('1', { fileName: 'Meeting 12.05 with Anna' })] },
			);
			expect(items[0]?.binary?.['data']?.fileName).toBe('Meeting 12.05 with Anna.srt');
		});
	});
});

describe('transcription.transcribeUrl', () => {
	const run = async (given: INodeParameters = {}) =>
		await service.run({ ...LINK, ...withLanguage(given) });

	it.each([
		['https://files.example.com/2026/Team%20call.mp3?token=abc#t=1', 'Team call.srt'],
		['https://files.example.com/2026/call.final.MP4', 'call.final.srt'],
		['https://files.example.com/2026/100%.mp3', '100%.srt'],
		['https://files.example.com/watch?v=abc.mp3', undefined],
		['https://files.example.com', undefined],
	])('names an exported file after the file of the link: %s', async (url, fileName) => {
		service.running().configure({ processingSeconds: 20, queueSeconds: 1 });
		const waitOptions = { pollInterval: 0.05, exportFormat: 'srt', includeResult: false };
		const parameters = { ...LINK, url, onCompletion: 'poll', waitOptions };
		const { items, json } = await service.run(parameters);
		const expected = fileName ?? `${String(json[0]?.['task_id'])}.srt`;
		expect(items.map(({ binary }) => binary?.['data']?.fileName)).toEqual([expected]);
	});

	it('sends POST /transcribe-url with the link in a JSON body, and nothing else', async () => {
		await run();
		const request = service.sent();
		expect(request).toMatchObject({
			method: 'POST',
			path: '/api/v1/transcribe-url',
			query: {},
			body: { url: LINK.url },
		});
		expect(request.body).toEqual({ url: LINK.url });
		expect(request.headers['content-type']).toMatch(/^application\/json\b/);
		expect(request.headers['x-api-key']).toBe('test-api-key');
	});

	it('sends no Idempotency-Key unless the user gives one: the service document has none for it', async () => {
		await run();
		expect(service.sent().headers).not.toHaveProperty('idempotency-key');
	});

	it('sends the Idempotency-Key that the user gives, as a header', async () => {
		await run({ idempotencyKey: '={{ "talk-" + 17 }}' });
		expect(service.sent().headers['idempotency-key']).toBe('talk-17');
		expect(service.sent().body).toEqual({ url: LINK.url });
	});

	it('is not repeated after a broken connection because of a key, which may not be heeded', async () => {
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'cut', when: 'afterProcessing' },
		});
		const options = { idempotencyKey: 'talk-17' };
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { error } = await service.run({ ...LINK, options }, { node });
		expect(error?.message).toMatch(/^It is not known whether the service accepted this item/);
		expect(service.lines()).toHaveLength(1);
	});

	it('waits while another request with the same key is still being worked on', async () => {
		jest.replaceProperty(RETRY, 'base', 1);
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 409 },
		});
		const { error } = await run({ idempotencyKey: 'talk-17' });
		expect(error).toBeUndefined();
		expect(service.running().requests.map(({ status }) => status)).toEqual([409, 200]);
	});

	it('refuses one key for two different links before anything is sent', async () => {
		const { error } = await service.run(
			{ ...LINK, url: '={{ $json.url }}', options: { idempotencyKey: 'talk' } },
			{ items: itemsOf({ url: 'https://a.example.com/1' }, { url: 'https://a.example.com/2' }) },
		);
		expect(error?.message).toMatch(/^'Idempotency Key' is 'talk' for two different links/);
		expect(service.lines()).toEqual([]);
	});

	it.each([
		'https://a.example.com/1 https://a.example.com/2',
		'https://a.example.com/1\nhttps://a.example.com/2',
		'https://a.example.com/my talk.mp3',
		'https://a.example.com/ta\tlk.mp3',
	])('refuses a link with a blank or a line break in it: %j', async (url) => {
		for (const items of [itemsOf({ url })]) {
			const { error } = await service.run({ ...LINK, url: '={{ $json.url }}' }, { items });
			expect(error?.message).toMatch(/^'URL' has a blank or a line break in it/);
		}
		expect(service.lines()).toEqual([]);
	});

	it('takes a link with blanks and line breaks around it', async () => {
		await service.run(
			{ ...LINK, url: '={{ $json.url }}' },
			{ items: itemsOf({ url: `\n ${LINK.url} \r\n` }) },
		);
		expect(service.sent().body).toMatchObject({ url: LINK.url });
	});

	it('outputs the submit response with the names of the service', async () => {
		const { items } = await run();
		const [task] = service.running().tasks();
		expect(items).toEqual([
			{ json: { task_id: task?.id, status: 'pending' }, pairedItem: { item: 0 } },
		]);
	});

	few.it.each(OPTIONS)('%s %j is sent under the name of the service', async (name, value, wire) => {
		const { error } = await run({ [name]: value });
		expect(error).toBeUndefined();
		expect(service.sent().body).toEqual({ url: LINK.url, ...wire });
	});

	it('sends a number of speakers that an expression gives as text as a number', async () => {
		await run({ numSpeakers: '={{ "3" }}' });
		expect(service.sent().body).toEqual({ url: LINK.url, num_speakers: 3 });
	});

	it('takes link and options from expressions per item', async () => {
		await service.run(
			{ ...LINK, url: '={{ $json.link }}', language: '={{ $json.language }}' },
			{
				items: itemsOf(
					{ link: 'https://files.example.com/1.mp3', language: 'tlh' },
					{ link: 'https://files.example.com/2.mp3', language: 'uk' },
				),
			},
		);
		const bodies = service.running().requests.map(({ body }) => body);
		expect(bodies).toHaveLength(2);
		expect(bodies).toEqual(
			expect.arrayContaining([
				{ url: 'https://files.example.com/1.mp3', language: 'tlh' },
				{ url: 'https://files.example.com/2.mp3', language: 'uk' },
			]),
		);
	});

	describe('options.customFields', () => {
		it('adds fields as they are, wins over the other options, and removes a field with null', async () => {
			await run({
				language: 'en',
				prompt: 'OKR',
				customFields: '{ "language": "de", "prompt": null, "tags": ["a"], "beta": true }',
			});
			expect(service.sent().body).toEqual({
				url: LINK.url,
				language: 'de',
				tags: ['a'],
				beta: true,
			});
		});

		it('can rename the field of the link, whose name is not documented', async () => {
			service.running().configure({ shapes: { urlField: 'source_url' } });
			const { error } = await run({
				customFields: `{ "url": null, "source_url": "${LINK.url}" }`,
			});
			expect(error).toBeUndefined();
			expect(service.sent().body).toEqual({ source_url: LINK.url });
		});
	});

	describe('onCompletion', () => {
		describeWebhookTo({ service, parameters: LINK, item: () => ({ json: {} }) });
	});

	describe('onCompletion poll', () => {
		describeWaiting({
			service,
			startWaiting: async (waitOptions) => {
				const outcome = service.run({ ...LINK, onCompletion: 'poll', waitOptions });
				return { taskId: await submittedTask(), outcome };
			},
			fileNameFor: () => 'talk',
			mayAwaitBalance: true,
		});
	});
});

describe.each([
	['transcribeFile', FILE, () => [itemWithFile()]],
	['transcribeUrl', LINK, () => itemsOf({})],
])(
	'%s: what is known to be wrong in customFields is refused as in the parameter',
	(name, parameters, items) => {
		const run = async (customFields: object, more: INodeParameters = {}) =>
			await service.run(
				{ ...parameters, options: { customFields: JSON.stringify(customFields) }, ...more },
				{ items: items() },
			);

		it.each([
			[{ webhook_url: 'http://hooks.example.com/a' }, /webhook_url' does not start with https/],
			[{ webhook_url: 'https://192.168.1.5/a' }, /webhook_url' is a local address/],
			[{ webhook_url: { a: 1 } }, /webhook_url' has to be a text/],
			[{ num_speakers: 7 }, /num_speakers' has to be a whole number from 1 to 6/],
		])('%j', async (customFields, message) => {
			const { error } = await run(customFields);
			expect(error?.message).toMatch(message);
			expect(service.lines()).toEqual([]);
		});

		it.each([
			['awaitWebhook', {}],
			['callUrl', { webhookUrl: 'https://hooks.example.com/a' }],
			['notifyTrigger', { triggerUrl: 'https://n8n.example.com/webhook/x/transcriber' }],
		])('a webhook_url where %s already sends one', async (onCompletion, more) => {
			const { error } = await run(
				{ webhook_url: 'https://hooks.example.com/b' },
				{ onCompletion, ...more },
			);
			expect(error?.message).toMatch(
				/^'Custom Fields' has a webhook_url, but 'Get the Transcript'/,
			);
			expect(service.lines()).toEqual([]);
		});

		it('a webhook_url of null leaves that of Get the Transcript as it is', async () => {
			const webhookUrl = 'https://hooks.example.com/a';
			await run({ webhook_url: null }, { onCompletion: 'callUrl', webhookUrl });
			expect(service.sent().body).toMatchObject({ webhook_url: webhookUrl });
		});

		it('a public webhook_url is sent where no other is', async () => {
			await run({ webhook_url: 'https://hooks.example.com/b' });
			expect(service.sent().body).toMatchObject({ webhook_url: 'https://hooks.example.com/b' });
		});

		it('values that may be new are sent', async () => {
			await run({ domain: 'finance', language: 'x-new' });
			expect(service.running().requests.map(({ body }) => body)).toMatchObject([
				{ domain: 'finance', language: 'x-new' },
			]);
		});

		it('the recording itself', async () => {
			const other =
				name === 'transcribeFile' ? { file: 'x' } : { url: 'ftp://files.example.com/a' };
			const { error } = await run(other);
			expect(error?.message).toMatch(
				name === 'transcribeFile'
					? /^'Custom Fields' has a field called file/
					: /^'Custom Fields: url' is not a web address/,
			);
			expect(service.lines()).toEqual([]);
		});
	},
);

async function submittedTask(): Promise<string> {
	await until(() => service.running().tasks().length > 0);
	return service.running().tasks()[0]?.id ?? '';
}
