/** A bot or a task that could not be cancelled may go on, which costs money: the error says so, whatever the reason. */
// Also covers sendCancel.ts.

import type { INodeParameters } from 'n8n-workflow';

import type { FaultRule } from '../../simulator/index';
import { captureLogs } from '../../support/logs';
import { giveUpSoon } from '../../support/scale';
import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();
beforeEach(giveUpSoon);

const CANCELS: Array<[string, string, () => Promise<INodeParameters>]> = [
	[
		'Meeting: Cancel or Stop',
		'DELETE',
		async () => ({
			resource: 'meeting',
			operation: 'cancel',
			botId: await service.bot(),
		}),
	],
	[
		'Transcript: Cancel',
		'POST',
		async () => ({
			resource: 'task',
			operation: 'cancel',
			taskId: byId(await service.pendingTask()),
		}),
	],
];

const respond = (status: number, body?: object | string): FaultRule['action'] => ({
	kind: 'respond',
	status,
	body,
});
const REASONS: Array<[string, FaultRule['action']]> = [
	['404 of a lost route', respond(404, '404 page not found')],
	['503', respond(503, { detail: { error_code: 'service_unavailable' } })],
	['502 of a proxy', respond(502, '<html>502 Bad Gateway</html>')],
	['500', respond(500)],
	['429', respond(429)],
	['401', respond(401)],
	['408 of a gateway', respond(408)],
	['407 of a proxy', respond(407)],
	['409, while it goes on', respond(409, { detail: 'Busy' })],
	['a broken connection', { kind: 'cut', when: 'beforeBody' }],
];
const GOES_ON = /if it goes on, which costs money, try again/;

describe.each(CANCELS)('%s', (_name, method, prepare) => {
	it.each(REASONS)('that gets %s', async (_reason, action) => {
		const parameters = await prepare();
		service.running().fault({ match: { method }, times: 1e6, action });
		const { error } = await service.run(parameters);
		expect(error?.description).toMatch(GOES_ON);
		const { json } = await service.run(parameters, { node: { onError: 'continueRegularOutput' } });
		expect(json[0]?.error).toMatch(GOES_ON);
	});

	it('that is stopped before its answer is in the log of n8n, which drops the error', async () => {
		const parameters = await prepare();
		service.running().fault({ match: { method }, action: { kind: 'stall' } });
		const sent = () => service.lines().some((line) => line.startsWith(method));
		const logs = captureLogs();
		await service.run(parameters, { cancelWhen: sent });
		logs.release();
		const [id = ''] =
			service
				.lines()
				.at(-1)
				?.match(/[\da-f-]{36}/) ?? [];
		expect(logs.of('Transcriber')).toContainEqual(expect.stringMatching(GOES_ON));
		expect(logs.of('Transcriber').join()).toContain(id);
	});

	it('that is stopped while its refusal is looked into is in that log, too', async () => {
		const parameters = await prepare();
		service.running().fault({ match: { method }, action: respond(409, { detail: 'Busy' }) });
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'delay', ms: 1_000 } });
		const logs = captureLogs();
		const isLooking = () => service.lines().at(-1)?.startsWith('GET') ?? false;
		await service.run(parameters, { cancelWhen: isLooking });
		logs.release();
		expect(logs.of('Transcriber').join()).toMatch(GOES_ON);
	});

	it('that is about an id the service does not know is about that id alone', async () => {
		const parameters = await prepare();
		const body = { detail: { error_code: 'not_found', message: 'Nothing here' } };
		service.running().fault({ match: { method }, times: 1e6, action: respond(404, body) });
		const { error } = await service.run(parameters);
		expect(error?.description).toMatch(/^Check the/);
		expect(error?.description).not.toMatch(GOES_ON);
	});
});

it('A bot that has ended without a task may still get one: the error says how to stop that', async () => {
	const botId = await service.bot();
	const respond409 = respond(409, { detail: 'Ended' });
	service.running().fault({ match: { method: 'DELETE' }, action: respond409 });
	const state = { bot_id: botId, status: 'completed', task_id: '' };
	service.running().fault({ match: { method: 'GET' }, action: respond(200, state) });
	const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId });
	expect(error?.description).toMatch(/may still get a task.*Transcript: Cancel/);
	expect(error?.description).not.toContain('nothing left');
});

describe('A bot that has left, where the node goes on after errors: the output names', () => {
	const cancelled = async (state: object, body?: object) => {
		const botId = await service.bot();
		const known = { bot_id: botId, status: 'completed', ...state };
		service.running().fault({ match: { method: 'GET' }, times: 9, action: respond(200, known) });
		service.running().fault({ match: { method: 'DELETE' }, times: 9, action: respond(409, body) });
		const parameters = { resource: 'meeting', operation: 'cancel', botId };
		const { json } = await service.run(parameters, { node: { onError: 'continueRegularOutput' } });
		return json[0]?.error;
	};

	it('the task that may go on, and how to stop it', async () => {
		expect(await cancelled({ task_id: 't1' })).toMatch(
			/stop that with Transcript: Cancel \(task t1\)/,
		);
	});

	it('where to look for the task that may follow', async () => {
		expect(await cancelled({ task_id: null })).toMatch(
			/may still get a task: look with Meeting: Get/,
		);
	});

	it('the words of the service once, also if n8n must not read them', async () => {
		const words = /^The meeting bot has already ended.*“Already cancelled”\. \[item 0\]$/;
		expect(await cancelled({}, { detail: 'Already canceled' })).toMatch(words);
	});

	it('no step if nothing is left', async () => {
		const words = await cancelled({ status: 'failed' });
		expect(words).toMatch(
			/^The meeting bot has already ended \(failed\)\. The service answered HTTP 409/,
		);
		expect(words).not.toContain('Transcript: Cancel');
	});
});
