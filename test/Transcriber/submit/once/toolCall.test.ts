/** Which calls of an AI agent are the same call. */
import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';

import { toolCallOf } from '../../../../nodes/Transcriber/submit/once/toolCall';
import { itemContext } from '../../../support/itemContext';
import { BOT, FILE, LINK } from '../../../support/parameters';

describe('a call of an AI agent', () => {
	const tool = (parameters: INodeParameters, call: IDataObject, agent: IDataObject = {}) =>
		toolCallOf(itemContext({ ...BOT, ...parameters }, { call, items: [{ json: agent }] }));
	const atNow = { startAt: '={{ $now.toISO() }}' };

	it('is the same whatever id n8n gives the call', () => {
		const [one, two] = ['call_1', 'call_2'].map((toolCallId) =>
			tool(atNow, { url: 'a', toolCallId }, { toolCallId }),
		);
		expect(two).toBe(one);
	});

	it('is another one if the model says something else', () => {
		expect(tool(atNow, { url: 'a' })).not.toBe(tool(atNow, { url: 'b' }));
		expect(tool(atNow, { url: 'a' })).toContain('"a"');
	});

	it("is another one for another of the agent's items", () => {
		expect(tool(atNow, {}, { row: 1 })).not.toBe(tool(atNow, {}, { row: 2 }));
	});

	it('is the same whatever it is given besides, if its parameters do not depend on the time', () => {
		expect(tool({}, { url: 'a' }, { row: 1 })).toBe(tool({}, { url: 'b' }, { row: 2 }));
	});

	it('is the same whatever the user enters for the model, or for the time after the submit', () => {
		const changes = [
			{ descriptionType: 'manual', toolDescription: 'Transcribes' },
			{ toolDescription: '={{ $json.description }}' },
			{ onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' },
			{ onCompletion: 'notifyTrigger', triggerUrl: 'https://n8n.example.com/webhook/a' },
		];
		for (const change of changes) expect(tool(change, {})).toBe(tool({}, {}));
	});

	it('is another one with any other parameter, and with another address that the model may choose', () => {
		const calls = ['a', 'b'].map((row) => {
			const webhookUrl = '={{ $json.row }}';
			return tool({ onCompletion: 'callUrl', webhookUrl }, {}, { row });
		});
		expect(calls[0]).not.toBe(calls[1]);
		const other = { meetingUrl: 'https://meet.example.com/other' };
		expect(tool(other, {})).not.toBe(tool({}, {}));
	});

	it('is the same with another timeout or document: how to wait decides nothing about what is paid', () => {
		const waiting = (waitOptions: INodeParameters) =>
			tool({ onCompletion: 'poll', waitOptions }, {});
		expect(waiting({ timeout: 10 })).toBe(waiting({ timeout: 20, exportFormat: 'srt' }));
	});

	it.each<[string, INodeParameters, INodeParameters]>([
		[
			'time in another time zone',
			{ startAt: '2030-01-01T10:00Z' },
			{ startAt: '2030-01-01T13:00:00+03:00' },
		],
		['time with a blank', { startAt: '2030-01-01T10:00Z' }, { startAt: '2030-01-01 10:00:00Z' }],
		[
			'link with a host in capitals',
			{ meetingUrl: 'https://meet.example.com' },
			{ meetingUrl: 'HTTPS://Meet.Example.com/' },
		],
		[
			'link of a recording with a host in capitals',
			{ ...LINK, url: 'https://files.example.com/a.mp3' },
			{ ...LINK, url: ' HTTPS://Files.Example.com/a.mp3' },
		],
		['language in capitals', { ...LINK, language: 'ru' }, { ...LINK, language: 'RU' }],
	])('is the same with the same %s', (_what, one, other) => {
		expect(tool(other, {})).toBe(tool(one, {}));
	});

	it.each<[string, INodeParameters, INodeParameters]>([
		['time', { startAt: '2030-01-01T10:00Z' }, { startAt: '2030-01-01T10:00+03:00' }],
		['time that nobody can read', { startAt: 'tomorrow' }, { startAt: 'today' }],
		[
			'path of a link',
			{ meetingUrl: 'https://a.example/Ab' },
			{ meetingUrl: 'https://a.example/aB' },
		],
		['link that nobody can read', { meetingUrl: 'room 1' }, { meetingUrl: 'room 2' }],
		['language', { ...LINK, language: 'ru' }, { ...LINK, language: 'en' }],
	])('is another one with another %s', (_what, one, other) => {
		expect(tool(other, {})).not.toBe(tool(one, {}));
	});

	it('is the same with a file that n8n has moved', () => {
		const [one, two] = ['temp', '17'].map((execution) => {
			const id = `filesystem-v2:workflows/w/executions/${execution}/binary_data/6f1a`;
			const data: IBinaryData = { id, data: 'filesystem-v2', mimeType: 'audio/mpeg' };
			const items = [{ json: {}, binary: { data } }];
			const parameters = { ...FILE, binaryPropertyName: '={{ $binary.data }}' };
			return toolCallOf(itemContext(parameters, { call: {}, items }));
		});
		expect(two).toBe(one);
		expect(two).toContain('6f1a');
	});
});
