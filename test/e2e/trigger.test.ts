/** The trigger in a real n8n of its own, which is killed and started again: deliveries and hand-overs. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { N8nHost } from '../n8n/host';
import { lineOf } from '../n8n/lines';
import { itemsOf, type StoredWorkflow, type Workflow } from '../n8n/rest';
import type { Simulator } from '../simulator';
import { deliver, post, sign } from '../TranscriberTrigger/client';
import { NODE_TYPE, inOneLine } from './harness';
import { TriggerBench, eventually, inTurn, taskIdsIn } from './triggers';

/** For what takes a minute where n8n has the machine for itself, in ms. */
const LONG = 600_000;

let bench: TriggerBench;
let n8n: N8nHost;
let simulator: Simulator;

beforeAll(async () => {
	bench = await TriggerBench.open();
	({ n8n, simulator } = bench);
});

afterAll(async () => await bench.close());

describe('Hand-over and delivery', () => {
	it('a result that takes longer than a delivery may wait is fetched on, and the next delivery outputs it', async () => {
		simulator.fault({ match: { webhook: true }, times: 1, action: { kind: 'lose' } });
		const trigger = await bench.activeTrigger({ options: {} });
		const [id = ''] = await bench.submitted(1, trigger.url);
		await bench.handOver(trigger.url, id);
		simulator.finish(id);
		const match = { method: 'GET', path: `/tasks/${id}$` };
		simulator.fault({ match, times: 1, action: { kind: 'delay', ms: 8_500 } });
		const deliverOnce = async () =>
			(await deliver(trigger.url, { task_id: id }, bench.secretOf(id))).status;
		const results = () => simulator.requests.filter(({ path }) => path.endsWith(`${id}/result`));
		expect(await deliverOnce()).toBe(503);
		await eventually(() => results().some(({ status }) => status === 200));
		expect(await deliverOnce()).toBe(200);
		const [execution] = await bench.executionsOf(trigger, 1);
		const [item] = execution ? itemsOf(execution, 'Trigger') : [];
		expect(item?.json).toMatchObject({
			task_id: id,
			status: 'completed',
			text: expect.any(String),
		});
		expect(results()).toHaveLength(1);
	});

	it(
		'many concurrent hand-overs, kill -9, as many deliveries: as many executions with the right ids',
		async () => {
			// The limits of the trigger are the same on both lines, so a part of them is enough for n8n 1.
			const many = lineOf(n8n.version).savesBeforeItAnswers ? 200 : 60;
			const trigger = await bench.activeTrigger();
			const ids = await bench.submitted(many, trigger.url);
			const start = Date.now();
			const tries = await Promise.all(ids.map((id) => bench.handOver(trigger.url, id)));
			const took = ((Date.now() - start) / 1000).toFixed(1);
			console.log(`${many} hand-overs: ${took} s, ${tries.reduce((a, b) => a + b)} requests`);
			await bench.crash(trigger);
			const begin = Date.now();
			await bench.deliverAll(ids);
			const executions = await bench.executionsOf(trigger, many);
			console.log(`${many} deliveries: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
			expect(taskIdsIn(executions).sort()).toEqual([...ids].sort());
			expect(executions.every(({ status }) => status === 'success')).toBe(true);

			// Each once more, as the service does when it did not hear the answer.
			const repeats = await inTurn(
				ids,
				async (id) => await deliver(trigger.url, { task_id: id }, bench.secretOf(id)),
			);
			expect(repeats.every(({ status }) => status === 200)).toBe(true);
			await bench.crash(trigger);
			const again = await inTurn(
				ids,
				async (id) => await deliver(trigger.url, { task_id: id }, bench.secretOf(id)),
			);
			expect(again.every(({ status }) => status === 200)).toBe(true);
			expect(await bench.countExecutions(trigger)).toBe(many);
		},
		LONG,
	);

	it(
		'kill -9 while deliveries are being answered: none is lost',
		async () => {
			const trigger = await bench.activeTrigger();
			const ids = await bench.submitted(60, trigger.url);
			await Promise.all(ids.map((id) => bench.handOver(trigger.url, id)));
			const before = simulator.deliveries.length;
			for (const id of ids) simulator.finish(id);
			await eventually(() =>
				simulator.deliveries.slice(before).some(({ status }) => status === 200),
			);
			await n8n.kill();
			// What was answered in the last moment is still on its way.
			await eventually(() =>
				simulator.deliveries.slice(before).every(({ status, error }) => status ?? error),
			);
			const answered = simulator.deliveries
				.slice(before)
				.filter(({ status }) => status === 200)
				.map(({ taskId }) => taskId);
			await bench.crash(trigger);
			await eventually(() => bench.areAccepted(ids));
			// n8n 1 answers a moment before it has saved the execution: waiting for one that the kill took would not end.
			const { savesBeforeItAnswers } = lineOf(n8n.version);
			const executions = await bench.executionsOf(
				trigger,
				savesBeforeItAnswers ? ids.length : ids.length - answered.length,
			);
			// One that was cut down is reported as crashed, with the delivery in it.
			const lost = ids.filter((id) => {
				const statuses = executions
					.filter(({ raw }) => JSON.stringify(raw)?.includes(id))
					.map(({ status }) => status);
				// Without an answer the service delivers again, also what n8n has saved already.
				const most = answered.includes(id) ? 1 : 2;
				const successes = statuses.filter((status) => status === 'success');
				expect(successes.length).toBeLessThanOrEqual(most);
				// n8n never takes up one that was killed between its creation and its start: that is none. It never
				// ends one that was killed between its start and its first node, but shows it, with the delivery in it.
				const known = statuses.filter((status) => status !== 'new');
				const shown = ['success', 'crashed', 'running'];
				expect(known.filter((status) => !shown.includes(status))).toEqual([]);
				return known.length === 0;
			});
			expect(lost.filter((id) => savesBeforeItAnswers || !answered.includes(id))).toEqual([]);
			const survivors = executions.filter(({ status }) => status === 'success');
			console.log(
				`${executions.length} executions, ${executions.length - survivors.length} crashed, ${lost.length} lost`,
			);
		},
		LONG,
	);

	it('the transcript itself is output, unless the option is off', async () => {
		const trigger = await bench.activeTrigger({ options: {} });
		const [id = ''] = await bench.submitted(1, trigger.url);
		await bench.handOver(trigger.url, id);
		simulator.finish(id);
		const [execution] = await bench.executionsOf(trigger, 1);
		const [item] = execution ? itemsOf(execution, 'Trigger') : [];
		expect(item?.json).toMatchObject({ task_id: id, status: 'completed' });
		expect(item?.json.text).toEqual(expect.any(String));
	});

	it('a Code node beside it that uses static data: what it writes over is saved again', async () => {
		const trigger = await bench.activeTrigger();
		const [kept = '', first = ''] = await bench.submitted(2, trigger.url);
		await bench.handOver(trigger.url, first);
		const { workflow } = trigger;
		// The executions of this workflow save the static data that was loaded when they began.
		const stored = await n8n.rest.get<StoredWorkflow>(`/workflows/${workflow.id}`);
		const nodes = stored.nodes.map((node) =>
			node.name === 'End'
				? {
						...node,
						type: 'n8n-nodes-base.code',
						typeVersion: 2,
						parameters: {
							jsCode:
								"$getWorkflowStaticData('global').seen = Date.now(); await new Promise((r) => setTimeout(r, 4000)); return [];",
						},
					}
				: node,
		);
		await n8n.rest.call('PATCH', `/workflows/${stored.id}`, { ...stored, nodes });
		await n8n.rest.activate(workflow);
		simulator.finish(first);
		await bench.handOver(trigger.url, kept);
		await bench.executionsOf(trigger, 1);
		// Longer than the time between two looks by now.
		await sleep(20_000);
		await bench.crash(trigger);
		expect((await deliver(trigger.url, { task_id: kept }, bench.secretOf(kept))).status).toBe(200);
		expect((await deliver(trigger.url, { task_id: first }, bench.secretOf(first))).status).toBe(
			200,
		);
		expect(taskIdsIn(await bench.executionsOf(trigger, 2)).sort()).toEqual([kept, first].sort());
	});

	it('a doubled, a forged and an unsigned delivery: one execution', async () => {
		const trigger = await bench.activeTrigger();
		const [doubled = '', forged = '', unsigned = ''] = await bench.submitted(3, trigger.url);
		await Promise.all([doubled, forged, unsigned].map((id) => bench.handOver(trigger.url, id)));
		for (const [id, kind] of [
			[doubled, 'double'],
			[forged, 'forge'],
			[unsigned, 'unsigned'],
		] as const) {
			const before = simulator.deliveries.length;
			simulator.fault({ match: { webhook: true }, action: { kind } });
			simulator.finish(id);
			await eventually(() => {
				const answers = simulator.deliveries.slice(before).map(({ status }) => status);
				return answers.length >= 2 && answers.includes(200) && !answers.includes(undefined);
			});
		}
		expect(taskIdsIn(await bench.executionsOf(trigger, 3)).sort()).toEqual(
			[doubled, forged, unsigned].sort(),
		);
	});

	it('while the editor listens for a test event, at the Test URL', async () => {
		const trigger = await bench.triggerWith();
		const { workflow, testUrl } = trigger;
		const stored = await n8n.rest.get<StoredWorkflow>(`/workflows/${workflow.id}`);
		const answer = await n8n.rest.post<{ waitingForWebhook?: boolean }>(
			`/workflows/${workflow.id}/run`,
			{ workflowData: stored, triggerToStartFrom: { name: 'Trigger' } },
		);
		expect(answer.waitingForWebhook).toBe(true);
		const [id = ''] = await bench.submitted(1, testUrl);
		await bench.handOver(testUrl, id);
		simulator.finish(id);
		const executions = await bench.executionsOf(trigger, 1);
		expect(executions).toMatchObject([{ mode: 'manual', status: 'success' }]);
		expect(taskIdsIn(executions)).toEqual([id]);
	});
});

describe('notifyTrigger', () => {
	const sender = (parameters: Record<string, unknown>): Workflow => {
		const nodes: Workflow['nodes'] = [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
			{
				name: 'Subject',
				type: NODE_TYPE,
				typeVersion: 1,
				parameters: { onCompletion: 'notifyTrigger', ...parameters },
				credentials: { transcriberApi: { name: '' } },
			},
		];
		const pinData = { Start: [{ json: { no: 1 } }, { json: { no: 2 } }, { json: { no: 3 } }] };
		return { name: 'Submit', nodes, connections: inOneLine(nodes), pinData };
	};
	const link = {
		resource: 'transcription',
		operation: 'transcribeUrl',
		url: 'https://example.com/a.mp3',
	};

	it('submits, hands the secrets over, and the trigger starts once for each', async () => {
		const trigger = await bench.activeTrigger();
		const workflow = await n8n.rest.createWorkflow(sender({ ...link, triggerUrl: trigger.url }), {
			transcriberApi: bench.credential,
		});
		const execution = await n8n.rest.runToEnd(workflow);
		const ids = itemsOf(execution, 'Subject').map(({ json }) => String(json.task_id));
		expect(execution.status).toBe('success');
		expect(ids).toHaveLength(3);
		for (const id of ids) expect(JSON.stringify(execution.raw)).not.toContain(bench.secretOf(id));
		for (const id of ids) simulator.finish(id);
		expect(taskIdsIn(await bench.executionsOf(trigger, 3)).sort()).toEqual([...ids].sort());
	});

	it('a trigger that is not active: nothing is submitted, and the error says what to do', async () => {
		const trigger = await bench.triggerWith();
		const before = simulator.tasks().length;
		const workflow = await n8n.rest.createWorkflow(sender({ ...link, triggerUrl: trigger.url }), {
			transcriberApi: bench.credential,
		});
		const { error } = await n8n.rest.runToEnd(workflow);
		expect(simulator.tasks()).toHaveLength(before);
		expect(error?.message).toContain('so nothing was submitted: its workflow is not active');
		expect(error?.description).toContain('activate) the workflow');
	});
});

const MULTIPART = '--x\r\nContent-Disposition: form-data; name="task_id"\r\n\r\n7f3c\r\n--x--\r\n';

describe('What n8n answers itself', () => {
	it.each([
		['malformed JSON', 'application/json', '{"task_id":', 422],
		['multipart', 'multipart/form-data; boundary=x', MULTIPART, 401],
		['no type', '', '{}', 401],
	])('%s', async (_, type, raw, status) => {
		const trigger = await bench.activeTrigger();
		const headers = { 'content-type': type, 'x-service-signature': sign(raw, 'x') };
		expect((await post(trigger.url, raw, headers)).status).toBe(status);
		expect(await bench.countExecutions(trigger)).toBe(0);
	});
});
