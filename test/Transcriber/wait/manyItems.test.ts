/**
 * More items in a run than the rate limit allows status requests in a minute: time in the queue is
 * not a missing answer.
 */
// Also covers pollUntilEnded.ts, nodes/Transcriber/submit/suspension/resultsAfterWaking.ts.

import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { RETRY, TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { until } from '../../simulator/testing-client';
import { replaceValues } from '../../support/scale';
import { byId, itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';
import { atLength, long } from '../../support/long';
import { sign } from '../../TranscriberTrigger/client';

const service = serviceForTests();

const AWAIT = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'awaitWebhook',
};
const links = (count: number) =>
	itemsOf(
		...Array.from({ length: count }, (_, i) => ({ url: `https://files.example.com/${i}.mp3` })),
	);

/** A minute becomes half a second, and 60 questions a minute become two. */
function slowTurns(): void {
	jest.replaceProperty(LIMITS, 'other', 2);
	jest.replaceProperty(LIMITS, 'windowMs', 500);
	jest.replaceProperty(TIMEOUTS, 'request', 2_000);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 2_000);
	jest.replaceProperty(POLL, 'look', 2_000);
}

async function asleep() {
	const workflow = workflowWith(AWAIT, service.credentials(), { onError: 'continueRegularOutput' });
	const sleeping = await workflow.start(links(6));
	expect(sleeping.isSuspended).toBe(true);
	const tasks = service.running().tasks();
	for (const { id } of tasks) service.running().finish(id);
	return { workflow, sleeping, task: tasks[0] };
}

const errorsIn = (json: Array<{ error?: unknown }> = []) =>
	json.map(({ error }) => error).filter(Boolean);

long.it(
	'every finished task comes out when the time of a suspended run is up',
	async () => {
		const { workflow, sleeping } = await asleep();
		slowTurns();
		const { json } = await workflow.timeIsUp(sleeping);
		expect(json).toHaveLength(6);
		expect(errorsIn(json)).toEqual([]);
	},
	60_000,
);

long.it(
	'every finished task comes out of a woken run, without a second look at those that are known to be completed',
	async () => {
		const { workflow, sleeping, task } = await asleep();
		service.running().requests.splice(0);
		const raw = JSON.stringify({ task_id: task?.id, status: 'completed' });
		const { woken } = await workflow.deliver(sleeping, raw, sign(raw, task?.webhookSecret ?? ''));
		expect(woken?.json).toHaveLength(6);
		expect(errorsIn(woken?.json)).toEqual([]);
		// The decision to wake asks about the five others, and all six fetch their results.
		expect(service.lines().filter((line) => line.startsWith('GET'))).toHaveLength(11);
	},
);

it('every finished task comes out of Task: Wait Until Finished', async () => {
	const ids: string[] = [];
	for (let i = 0; i < atLength(6, 4); i++) ids.push(await service.completedTask());
	slowTurns();
	const { json } = await service.run(
		{
			resource: 'task',
			operation: 'wait',
			taskId: byId('={{ $json.id }}'),
			waitOptions: { pollInterval: 0.2 },
		},
		{
			items: itemsOf(...ids.map((id) => ({ id }))),
			node: { onError: 'continueRegularOutput' },
		},
	);
	expect(json).toHaveLength(ids.length);
	expect(errorsIn(json)).toEqual([]);
}, 120_000);

it('the first looks come one after the other, so that each finished task is looked at before the Timeout', async () => {
	slowTurns();
	// Two of them are kept for what is urgent, so four requests a second: too few for eight looks at the end.
	jest.replaceProperty(LIMITS, 'other', 4);
	replaceValues(POLL, { perTask: 1_000, lastLook: 1_000 });
	const waitOptions = { pollInterval: 0.2, timeout: 8 / 60 };
	const running = service.run({ ...AWAIT, onCompletion: 'poll', waitOptions }, { items: links(8) });
	await until(() => service.running().tasks().length === 8);
	for (const { id } of service.running().tasks()) service.running().finish(id);
	const { json, error } = await running;
	expect(error).toBeUndefined();
	expect(json.map(({ status }) => status)).toEqual(Array(8).fill('completed'));
}, 60_000);

describe('A wait that gets no turn within its Timeout, because other requests use up the rate limit,', () => {
	/** Get of many tasks at once, in another workflow: 20 seconds of requests. */
	async function busyKey(id: string) {
		jest.replaceProperty(LIMITS, 'windowMs', 1_000);
		jest.replaceProperty(LIMITS, 'other', 5);
		jest.replaceProperty(TIMEOUTS, 'request', 60_000);
		const stop = { now: false };
		const many = service.run(
			{ resource: 'task', operation: 'get', taskId: byId(id) },
			{ items: itemsOf(...Array.from({ length: 100 }, () => ({}))), cancelWhen: () => stop.now },
		);
		await until(() => service.lines().length > 0);
		return async () => {
			stop.now = true;
			await many;
		};
	}

	it.each([
		['an id that the user gives', { resource: 'task', operation: 'wait' }, 'not known'],
		[
			'a task that it has submitted',
			{
				resource: 'transcription',
				operation: 'transcribeUrl',
				onCompletion: 'poll',
				url: 'https://files.example.com/talk.mp3',
			},
			'pending',
		],
	])('does not say of %s that it has not ended', async (_, parameters, status) => {
		const id = await service.completedTask();
		const end = await busyKey(id);
		const { error } = await service.run({
			...parameters,
			taskId: byId(id),
			waitOptions: { timeout: 0.03 },
		});
		await end();
		expect(error?.message).toMatch(
			new RegExp(
				`^Task \\S+: n8n could not ask whether it has ended within 0.03 minutes \\(status: ${status}\\)`,
			),
		);
		expect(error?.description).toMatch(/^It is not lost\. .*Wait Until Finished/);
	});
});
