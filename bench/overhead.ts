/**
 * What the node's own policy (pacing, retries, checks, pairing) costs on a small request: beside n8n's HTTP Request
 * node, and beside a bare declarative node, which tells what of it is the price of n8n's declarative engine.
 */
import { cp } from 'node:fs/promises';
import path from 'node:path';

import type { N8nHost } from '../test/n8n/host';
import type { StoredWorkflow, WorkflowNode } from '../test/n8n/rest';
import {
	httpRequest,
	inSeconds,
	line,
	median,
	runToEnd,
	Service,
	SUBJECT,
	successOf,
	times,
	transcriber,
	withFolder,
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
	return await withFolder(async (userFolder) => {
		const nodes = path.join(userFolder, '.n8n', 'nodes', 'node_modules');
		await cp(path.join(__dirname, 'bare'), path.join(nodes, 'n8n-nodes-bare'), { recursive: true });
		return await Service.with({ rateLimits: false, tasksInProgress: BATCH }, async (service) => {
			return await withN8n(run, { userFolder }, async (n8n) => await compare(run, service, n8n));
		});
	});
}

/** One of the nodes that are compared. */
interface Subject {
	name: string;
	node: WorkflowNode;
	/** Time of a round, in ms. */
	rounds: number[];
}

async function compare(run: Run, service: Service, n8n: N8nHost): Promise<Report> {
	const items: Array<Record<string, unknown>> = [];
	while (items.length < BATCH) items.push({ task_id: await service.submit() });
	const ours: Subject = { name: '**Transcriber**, Transcript: Get', node: taskGet, rounds: [] };
	const bare: Subject = { name: 'A bare declarative node', node: bareGet, rounds: [] };
	const theirs: Subject = { name: 'HTTP Request', node: httpGet(service), rounds: [] };
	const subjects = [ours, bare, theirs];
	// The first round is for the compiler.
	for (let round = 0; round <= (run.isQuick ? 1 : ROUNDS); round++) {
		const spent = new Map(subjects.map((subject) => [subject, 0]));
		for (let batch = 0; batch < BATCHES; batch++) {
			const apiKey = `bench-${round}-${batch}`;
			await service.changeKey(apiKey);
			// Who comes later meets what the others have left behind.
			const turn = batch % subjects.length;
			for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)]) {
				const workflow = await stored(n8n, service, apiKey, subject.node, items);
				spent.set(subject, (spent.get(subject) ?? 0) + (await timeOf(n8n, workflow)));
			}
		}
		if (round === 0) continue;
		for (const [{ rounds }, ms] of spent) rounds.push(ms);
		run.log(`${BATCH * BATCHES} requests: ${[...spent.values()].join(' ms, ')} ms`);
	}
	const against = (subject: Subject) => median(ours.rounds) / median(subject.rounds);
	return {
		table: [
			['', `Time for ${BATCH * BATCHES} requests`, 'Transcriber against it'],
			...subjects.map((subject) => [
				subject.name,
				inSeconds(median(subject.rounds)),
				subject === ours ? '' : times(against(subject)),
			]),
		],
		goals: [
			{
				text: `no more than ${MOST_TIME} × the time of the bare declarative node (${times(against(bare))})`,
				isReached: against(bare) <= MOST_TIME,
			},
		],
		remarks: [
			`${BATCHES} executions with ${BATCH} items each, all nodes in turns; the median of ${ours.rounds.length} rounds. The bare node makes the same request with n8n's declarative engine and adds nothing: no checks, pacing, retries or pairing.`,
		],
	};
}

const taskGet = transcriber({
	resource: 'task',
	operation: 'get',
	taskId: { __rl: true, mode: 'id', value: '={{ $json.task_id }}' },
});

const bareGet: WorkflowNode = {
	name: SUBJECT,
	type: 'n8n-nodes-bare.bare',
	typeVersion: 1,
	parameters: { taskId: '={{ $json.task_id }}' },
	credentials: { transcriberApi: { name: '' } },
};

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
