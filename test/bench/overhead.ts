/** What the node's own policy (pacing, retries, checks, pairing) costs on a small request. */
import type { N8nHost } from '../n8n/host';
import type { StoredWorkflow, WorkflowNode } from '../n8n/rest';
import {
	httpRequest,
	inSeconds,
	line,
	median,
	runToEnd,
	Service,
	successOf,
	sum,
	times,
	transcriber,
	withN8n,
	type Report,
	type Run,
} from './parts';

/** Under the 60 requests a minute that the node keeps to for each API key; so each batch has its own. */
const BATCH = 50;
const BATCHES = 4;
const ROUNDS = 9;
const MOST_TIME = 1.05;
const ASK_AFTER_MS = 900;

export async function overhead(run: Run): Promise<Report> {
	return await Service.with({ rateLimits: false, tasksInProgress: BATCH }, async (service) => {
		return await withN8n(run, {}, async (n8n) => {
			const items: Array<Record<string, unknown>> = [];
			while (items.length < BATCH) items.push({ task_id: await service.submit() });
			const ours: number[] = [];
			const theirs: number[] = [];
			// The first round is for the compiler.
			for (let round = 0; round <= (run.isQuick ? 1 : ROUNDS); round++) {
				const time = { ours: [] as number[], theirs: [] as number[] };
				for (let batch = 0; batch < BATCHES; batch++) {
					const apiKey = `bench-${round}-${batch}`;
					await service.changeKey(apiKey);
					const nodes = [
						['ours', taskGet],
						['theirs', httpGet(service)],
					] as const;
					// Who comes second meets what the first has left behind.
					for (const [who, node] of batch % 2 ? nodes : [...nodes].reverse()) {
						time[who].push(await timeOf(n8n, await stored(n8n, service, apiKey, node, items)));
					}
				}
				if (round === 0) continue;
				ours.push(sum(time.ours));
				theirs.push(sum(time.theirs));
				run.log(`${BATCH * BATCHES} requests: ${sum(time.ours)} ms, ${sum(time.theirs)} ms`);
			}
			const ratio = median(ours) / median(theirs);
			return {
				table: [
					['', `Time for ${BATCH * BATCHES} requests`, 'Against HTTP Request'],
					['**Transcriber**, Task: Get', inSeconds(median(ours)), times(ratio)],
					['HTTP Request', inSeconds(median(theirs)), ''],
				],
				goals: [
					{
						text: `no more than ${MOST_TIME} × the time of the HTTP Request node (${times(ratio)})`,
						isReached: ratio <= MOST_TIME,
					},
				],
				remarks: [
					`${BATCHES} executions with ${BATCH} items each, both nodes in turns; the median of ${ours.length} rounds.`,
				],
			};
		});
	});
}

const taskGet = transcriber({
	resource: 'task',
	operation: 'get',
	taskId: { __rl: true, mode: 'id', value: '={{ $json.task_id }}' },
});

function httpGet(service: Service): WorkflowNode {
	return httpRequest({ url: `=${service.url}/api/v1/tasks/{{ $json.task_id }}` });
}

async function stored(
	n8n: N8nHost,
	service: Service,
	apiKey: string,
	node: WorkflowNode,
	items: Array<Record<string, unknown>>,
): Promise<StoredWorkflow> {
	return await n8n.rest.createWorkflow(line([node], items), {
		transcriberApi: await service.credentialIn(n8n, apiKey),
	});
}

async function timeOf(n8n: N8nHost, workflow: StoredWorkflow): Promise<number> {
	const run = successOf(await runToEnd(n8n, workflow, ASK_AFTER_MS));
	const items = run.data?.main?.flat() ?? [];
	if (items.length !== BATCH) throw new Error(`${items.length} answers to ${BATCH} requests`);
	return run.executionTime;
}
