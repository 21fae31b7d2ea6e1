/** What an expression joins from parts of which one is missing is never sent, because it costs money. */
import type { INodeParameters } from 'n8n-workflow';

import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { BOT, FILE, LINK } from '../../support/parameters';

const service = serviceForTests();
const sentBodies = () => service.running().requests.map(({ body }) => body);

describe("an 'Idempotency Key' that an expression has spoiled is refused, because all files would get the transcript of the first", () => {
	it.each([
		['an expression in a field that is set to Fixed', '{{ $json.fileId }}', 'as plain text'],
		['an expression without its braces', '=$json.fileId', 'as plain text'],
		['a missing field that is added to a text', '={{ "file-" + $json.fileId }}', "has 'undefined'"],
		['a missing field in a template', '={{ `file-${$json.fileId}` }}', "has 'undefined'"],
		['a missing field after a text', '=file-{{ $json.fileId }}', 'its expression gives nothing'],
		['missing fields alone', '={{ $json.a }}-{{ $json.b }}', 'its expression gives nothing'],
	])('%s', async (_what, idempotencyKey, message) => {
		const { error } = await service.run(
			{ ...FILE, options: { idempotencyKey } },
			{ items: [itemWithFile('one')] },
		);
		expect(error?.message).toContain("'Idempotency Key'");
		expect(error?.message).toContain(message);
		expect(error?.description).toContain('Nothing was sent.');
		expect(service.lines()).toEqual([]);
	});

	it.each([
		['one part of several that gives nothing', '={{ $json.folder }}/{{ $json.fileId }}', '/17'],
		['a text that the user has typed', 'null-and-undefined', 'null-and-undefined'],
		['a word that stands in the item', '={{ $json.name + "-1" }}', 'undefined-behaviour-1'],
		['a word that stands in the expression', '={{ "undefined-" + $json.fileId }}', 'undefined-17'],
	])('but not %s', async (_what, idempotencyKey, sent) => {
		const item = itemWithFile('one');
		item.json = { fileId: '17', name: 'undefined-behaviour' };
		const { error } = await service.run(
			{ ...FILE, options: { idempotencyKey } },
			{ items: [item] },
		);
		expect(error).toBeUndefined();
		expect(service.sent().headers['idempotency-key']).toBe(sent);
	});
});

describe('a text with a missing value in it is refused by name before anything is sent', () => {
	const CALL = {
		onCompletion: 'callUrl',
		webhookUrl: '={{ "https://crm.example.com/" + $json.id }}',
	};

	it.each<[string, INodeParameters]>([
		['Prompt', { ...LINK, options: { prompt: '={{ "Names: " + $json.names }}' } }],
		['Prompt', { ...LINK, options: { prompt: 'Names: {{ $json.names }}' } }],
		['Summary Template', { ...LINK, options: { summaryTemplate: '{{ $json.template }}' } }],
		['Summary Template', { ...LINK, options: { summaryTemplate: '={{ $json.kind + "-call" }}' } }],
		['URL', { ...LINK, url: '={{ "https://drive.example.com/uc?id=" + $json.id }}' }],
		['URL', { ...LINK, url: '={{ ["https://drive.example.com", $json.size * 2].join("/") }}' }],
		['Meeting URL', { ...BOT, meetingUrl: '={{ "https://meet.example.com/" + $json.code }}' }],
		['Webhook URL', { ...LINK, ...CALL }],
	])('%s: %j', async (name, parameters) => {
		const { error } = await service.run(parameters, { items: itemsOf({}) });
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

it('a prompt may hold braces that are no expression', async () => {
	await service.run({ ...LINK, options: { prompt: 'Dear {{name}}' } });
	expect(service.sent().body).toMatchObject({ prompt: 'Dear {{name}}' });
});

it('a prompt may hold the words where the item does', async () => {
	const prompt = '={{ "About: " + $json.title }}';
	const items = itemsOf({ title: 'null and undefined' });
	const { error } = await service.run({ ...LINK, options: { prompt } }, { items });
	expect(error).toBeUndefined();
	expect(service.sent().body).toMatchObject({ prompt: 'About: null and undefined' });
});
