/** Hand-overs and deliveries through two webhook processes, which know nothing of each other but what n8n has saved. */
import { Bench, chain } from '../e2e/harness';
import {
	eventually,
	inTurn,
	taskIdsIn,
	Triggers,
	UNHURRIED_SERVICE,
	type Trigger,
} from '../e2e/triggers';
import { itemsOf } from '../n8n/rest';
import type { Simulator } from '../simulator';
import { isBack, kill, served } from './harness';

const WEBHOOKS = ['webhook-1', 'webhook-2'] as const;

describe('a trigger on two webhook processes', () => {
	let bench: Bench;
	let triggers: Triggers;
	let simulator: Simulator;

	beforeAll(async () => {
		bench = await Bench.open(UNHURRIED_SERVICE);
		({ simulator } = bench);
		triggers = new Triggers({ url: bench.n8n.url, rest: bench.rest }, simulator, bench.credential);
	});

	afterAll(async () => await bench.close());

	/** Which of them has answered such a request. */
	function servedBy(request: string, from: number): string[] {
		const lines = served()
			.slice(from)
			.filter((line) => line.includes(` ${request} `));
		return [...new Set(lines.map((line) => line.replace(/ .*/, '')))].sort();
	}

	/** Runs a Transcriber node over so many items, which hands them over to the trigger. */
	async function submitted(
		items: number,
		parameters: Record<string, unknown>,
	): Promise<Array<Record<string, unknown>>> {
		const workflow = chain(parameters, { items: Array.from({ length: items }, () => ({})) });
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi: bench.credential });
		const execution = await bench.rest.runToEnd(stored, 180_000);
		expect(execution.error).toBeUndefined();
		return itemsOf(execution, 'Subject').map(({ json }) => json);
	}

	/** Ends a submission at the service, and says how its task is called. */
	function finish({ task_id: taskId, bot_id: botId }: Record<string, unknown>): string {
		if (botId) simulator.endMeeting(String(botId));
		const id = String(taskId ?? simulator.bot(String(botId)).taskId);
		simulator.finish(id);
		return id;
	}

	async function endingsSaved({ workflow }: Trigger, wanted: number): Promise<void> {
		const deadline = Date.now() + 60_000;
		for (let found = 0; found !== wanted;) {
			expect(Date.now()).toBeLessThan(deadline);
			const stored = await bench.rest.get<{ staticData: object }>(`/workflows/${workflow.id}`);
			const [, endings = ''] = /"endings":"([^"]*)"/.exec(JSON.stringify(stored.staticData)) ?? [];
			found = endings.split(';').length - 1;
		}
	}

	it('40 submissions of Transcriber nodes: 40 executions, none lost, none twice', async () => {
		const trigger = await triggers.activeTrigger();
		const notify = { onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const link = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://example.com/a.mp3',
		};
		const meeting = {
			resource: 'meeting',
			operation: 'sendBot',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
		};
		const before = served().length;
		// Both kinds, because a worker keeps to 10 recordings and 20 bots a minute.
		const runs = [...Array<object>(2).fill(link), ...Array<object>(8).fill(meeting)];
		const submissions = (
			await Promise.all(runs.map(async (run) => await submitted(4, { ...run, ...notify })))
		).flat();
		expect(submissions).toHaveLength(40);
		expect(servedBy(`PUT ${new URL(trigger.url).pathname}`, before)).toEqual(WEBHOOKS);

		const ids = submissions.map(finish).sort();
		const executions = await triggers.executionsOf(trigger, 40);
		expect(taskIdsIn(executions).sort()).toEqual(ids);
		expect(executions.every(({ status }) => status === 'success')).toBe(true);
		expect(servedBy(`POST ${new URL(trigger.url).pathname}`, before)).toEqual(WEBHOOKS);
		// The service was never told to come back.
		expect(simulator.deliveries.map(({ status }) => status)).toEqual(Array(40).fill(200));

		// Either process may have written over what the other one had saved: each finds that out by itself.
		await endingsSaved(trigger, 40);
		// Each once more through either process, as the service does when it did not hear the answer.
		const repeats = await inTurn(
			[...simulator.deliveries, ...simulator.deliveries],
			async (sent) => {
				const answer = await fetch(sent.url, {
					method: 'POST',
					headers: sent.headers,
					body: sent.raw,
				});
				return answer.status;
			},
		);
		expect(new Set(repeats)).toEqual(new Set([200]));
		expect(await triggers.countExecutions(trigger)).toBe(40);
	}, 300_000);

	it('what is handed over survives kill -9 of both processes', async () => {
		const trigger = await triggers.activeTrigger();
		const ids = await triggers.submitted(40, trigger.url);
		const start = Date.now();
		const tries = await Promise.all(ids.map((id) => triggers.handOver(trigger.url, id)));
		const seconds = ((Date.now() - start) / 1000).toFixed(1);
		console.log(`40 hand-overs: ${seconds} s, ${tries.reduce((a, b) => a + b)} requests`);
		for (const name of WEBHOOKS) await kill(name);
		await Promise.all(WEBHOOKS.map(isBack));
		for (const id of ids) simulator.finish(id);
		const executions = await triggers.executionsOf(trigger, 40);
		expect(taskIdsIn(executions).sort()).toEqual([...ids].sort());
	}, 300_000);

	it('kill -9 of one process while secrets are handed over and delivered: none lost', async () => {
		const trigger = await triggers.activeTrigger();
		const ids = await triggers.submitted(40, trigger.url);
		const before = served().length;
		const handedOver = Promise.all(ids.map((id) => triggers.handOver(trigger.url, id)));
		await eventually(() => served().length > before + 20);
		await kill('webhook-1');
		await handedOver;
		await isBack('webhook-1');

		const from = simulator.deliveries.length;
		const answered = () =>
			simulator.deliveries
				.slice(from)
				.filter(({ status }) => status === 200)
				.map(({ taskId }) => taskId);
		for (const id of ids) simulator.finish(id);
		await eventually(() => answered().length > 0);
		await kill('webhook-2');
		await eventually(() => new Set(answered()).size === 40);
		const started = taskIdsIn(await triggers.executionsOf(trigger, 40));
		expect([...new Set(started)].sort()).toEqual([...ids].sort());
		// One that was started but not answered any more is delivered, and started, again.
		const refused = new Set(
			simulator.deliveries
				.slice(from)
				.filter(({ status }) => status !== 200)
				.map(({ taskId }) => taskId),
		);
		const twice = started.filter((id, place) => started.indexOf(id) !== place);
		console.log(`${refused.size} delivered again, ${twice.length} started twice`);
		expect(twice.filter((id) => !refused.has(String(id)))).toEqual([]);
		await isBack('webhook-2');
	}, 300_000);
});
