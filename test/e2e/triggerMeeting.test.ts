/** The trigger with the source Meeting in a real n8n of its own: when it sends its bot, and when it stops it. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { N8nHost } from '../n8n/host';
import type { StoredWorkflow } from '../n8n/rest';
import type { Simulator } from '../simulator';
import { ask } from '../simulator/testing-client';
import { TriggerBench, eventually, taskIdsIn } from './triggers';

let bench: TriggerBench;
let n8n: N8nHost;
let simulator: Simulator;

beforeAll(async () => {
	bench = await TriggerBench.open();
	({ n8n, simulator } = bench);
});

afterAll(async () => await bench.close());

const meeting = {
	source: 'meeting',
	meetingUrl: 'https://meet.example.com/weekly',
	consentAcknowledged: true,
};
const sent = () =>
	simulator.requests.filter(({ method, path }) => `${method} ${path}` === 'POST /api/v1/meeting')
		.length;
const bot = async (id: string) => (await ask(simulator, `GET /meeting/${id}`)).body;

it('activation sends a bot, a restart and a new version do not, and its transcript arrives', async () => {
	const before = sent();
	const trigger = await bench.activeTrigger(meeting);
	await eventually(() => sent() - before === 1);
	const [first] = simulator.bots().slice(-1);
	const id = first?.id ?? '';
	// n8n saves what it knows of the bot when the activation is through.
	await eventually(async () => {
		const saved = await n8n.rest.get(`/workflows/${trigger.workflow.id}`);
		return JSON.stringify(saved).includes(id);
	});
	await bench.crash(trigger);
	const stored = await n8n.rest.get<StoredWorkflow>(`/workflows/${trigger.workflow.id}`);
	const nodes = stored.nodes.map((node) => ({ ...node, position: [40, 40] }));
	await n8n.rest.call('PATCH', `/workflows/${stored.id}`, { ...stored, nodes });
	await n8n.rest.activate(trigger.workflow);
	// Longer than a trigger that is switched off waits before it cancels its bot.
	await sleep(12_000);
	expect(sent() - before).toBe(1);
	expect(await bot(id)).toMatchObject({ status: 'joining' });

	simulator.endMeeting(id);
	const taskId = String((await bot(id)).task_id);
	simulator.finish(taskId);
	expect(taskIdsIn(await bench.executionsOf(trigger, 1))).toEqual([taskId]);
	await n8n.rest.deactivate(trigger.workflow);
});

it('deactivation cancels the bot', async () => {
	const before = sent();
	const trigger = await bench.activeTrigger(meeting);
	await eventually(() => sent() - before === 1);
	const [last] = simulator.bots().slice(-1);
	await n8n.rest.deactivate(trigger.workflow);
	await eventually(async () => (await bot(last?.id ?? '')).status === 'cancelled');
});

it('listening for a test event, and stopping, leaves the bot of the published workflow alone', async () => {
	const before = sent();
	const { workflow } = await bench.activeTrigger(meeting);
	await eventually(() => sent() - before === 1);
	const [last] = simulator.bots().slice(-1);
	const stored = await n8n.rest.get<StoredWorkflow>(`/workflows/${workflow.id}`);
	const answer = await n8n.rest.post<{ waitingForWebhook?: boolean }>(
		`/workflows/${workflow.id}/run`,
		{ workflowData: stored, triggerToStartFrom: { name: 'Trigger' } },
	);
	expect(answer.waitingForWebhook).toBe(true);
	await n8n.rest.call('DELETE', `/test-webhook/${workflow.id}`);
	// Longer than a trigger that is switched off waits before it cancels its bot.
	await sleep(14_000);
	expect(await bot(last?.id ?? '')).toMatchObject({ status: 'joining' });
	await n8n.rest.deactivate(workflow);
});

it('without consent no bot is sent, and n8n says why', async () => {
	const before = sent();
	const trigger = await bench.triggerWith({ ...meeting, consentAcknowledged: false });
	// 2.x activates after it has answered.
	const refusal: unknown = await n8n.rest
		.activate(trigger.workflow)
		.catch((error: unknown) => error);
	await eventually(() =>
		`${String(refusal)} ${n8n.log()}`.includes("'Consent Acknowledged' is off"),
	);
	await n8n.rest.deactivate(trigger.workflow).catch(() => undefined);
	expect(sent()).toBe(before);
});

it('one click on Publish sends one bot, although n8n tries again and each answer is lost', async () => {
	const before = simulator.bots().length;
	const action = { kind: 'cut', when: 'afterProcessing' } as const;
	simulator.fault({ match: { path: '/meeting$' }, times: 5, action });
	const startAt = "={{ $now.plus(1, 'hour') }}";
	const trigger = await bench.triggerWith({ ...meeting, startAt });
	const refusal = await n8n.rest.activate(trigger.workflow).catch(String);
	// From 2.41, n8n tries five times, after pauses of 1, 2, 4 and 8 seconds.
	await sleep(20_000);
	expect(simulator.bots().length - before).toBe(1);
	// What the user sees: in n8n 1 the first error, in n8n 2 the last one.
	const status = `/workflows/${trigger.workflow.id}/publication-status`;
	const shown = await n8n.rest.get(status).catch(() => refusal);
	expect(JSON.stringify(shown)).toContain('The connection to the service broke');
	await n8n.rest.deactivate(trigger.workflow).catch(() => undefined);
});
