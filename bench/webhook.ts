/**
 * Deliveries to the trigger, which verifies signatures and drops repeats, beside n8n's own Webhook node, which does
 * neither. The same workflow behind both, the same load, on both lines of n8n.
 *
 * n8n 2 sets up a sandbox for expressions for each call of a webhook, unless the node is its own Webhook node and has
 * no expression in it. No other node can do without, so the Webhook node is measured with an expression too: that
 * tells what is n8n's share and what is the trigger's. n8n 1 has no such sandbox.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { inOneLine, NODE_TYPE } from '../test/e2e/harness';
import type { N8nHost } from '../test/n8n/host';
import type { WorkflowNode } from '../test/n8n/rest';
import { N8N_1, N8N_2 } from '../test/n8n/versions';
import { putAll, sign } from '../test/TranscriberTrigger/client';
import { inSeconds, median, times, withN8n, type Goal, type Report, type Run } from './parts';

const SECRETS = [5, 5_000] as const;
const QUICK_SECRETS = [5, 50] as const;
const ROUNDS = 7;
const DELIVERIES = 150;
const QUICK_DELIVERIES = 50;
/** Secrets that are handed over with one request, as a Transcriber node does. */
const TOGETHER = 100;
const AT_ONCE = 10;
const LEAST_THROUGHPUT = 0.9;
/** The difference between few and many secrets that the noise of a machine makes. */
const NOISE = 0.05;
/** Longer than the trigger needs to be sure of what it has stored. */
const SETTLED_MS = 1_500;
const API_KEY = 'bench-api-key';

/** One of the workflows that are compared. */
interface Receiver {
	url: string;
	workflowId: string;
	/** Takes the deliveries in, whose secrets it must have been handed before. */
	isTrigger: boolean;
	/** Deliveries a second, one number for each round. */
	rates: number[];
	/** How many executions there must be. */
	executions: number;
}

export async function webhook(run: Run): Promise<Report> {
	const [few, many] = run.isQuick ? QUICK_SECRETS : SECRETS;
	const [now, lts] = [await onLine(run, N8N_2), await onLine(run, N8N_1)];
	const row = (name: string, pick: (line: Line) => Receiver) => [
		name,
		...[now, lts].flatMap((line) => [
			`${Math.round(median(pick(line).rates))} a second`,
			times(against(pick(line), line.theirs)),
		]),
	];
	return {
		table: [
			['', ...[N8N_2, N8N_1].flatMap((version) => [`n8n ${version}`, 'Against its Webhook'])],
			row(`**Transcriber Trigger**, ${few} secrets waiting`, ({ withFew }) => withFew),
			row(`**Transcriber Trigger**, ${many} secrets waiting`, ({ withMany }) => withMany),
			row(
				'n8n Webhook with an expression, verifies nothing',
				({ withExpression }) => withExpression,
			),
			row('n8n Webhook, verifies nothing', ({ theirs }) => theirs),
		],
		goals: [
			throughput(now, now.theirs, `the Webhook node of n8n ${N8N_2}`),
			throughput(now, now.withExpression, 'the same with an expression'),
			throughput(lts, lts.theirs, `the Webhook node of n8n ${N8N_1}`),
			...[now, lts].map(({ version, withFew, withMany }) => {
				const ofMany = against(withMany, withFew);
				return {
					text: `n8n ${version}: no slower with ${many} secrets than with ${few} (${times(ofMany)})`,
					isReached: ofMany >= 1 - NOISE,
				};
			}),
		],
		remarks: [
			`${run.isQuick ? QUICK_DELIVERIES : DELIVERIES} deliveries, ${AT_ONCE} at a time, each starts an execution with one more node; in turns, the median of ${now.theirs.rates.length} rounds. The trigger checks each signature with the secret of that submission and drops repeats. n8n 2 sets up a sandbox for expressions for each call of a webhook, except for its own Webhook node without expressions; n8n 1 does not.`,
		],
	};
}

/** What was measured on one line of n8n. */
interface Line {
	version: string;
	theirs: Receiver;
	withExpression: Receiver;
	withFew: Receiver;
	withMany: Receiver;
}

async function onLine(run: Run, version: string): Promise<Line> {
	const deliveries = run.isQuick ? QUICK_DELIVERIES : DELIVERIES;
	const [few, many] = run.isQuick ? QUICK_SECRETS : SECRETS;
	return await withN8n(run, { version }, async (n8n) => {
		const theirs = await receiver(n8n, ownWebhook('bench'));
		const withExpression = await receiver(
			n8n,
			ownWebhook('bench-expression', { responseData: '={{ "Accepted" }}' }),
		);
		const [withFew, withMany] = [await receiver(n8n, trigger()), await receiver(n8n, trigger())];
		for (const [to, count] of [
			[withFew, few],
			[withMany, many],
		] as const) {
			const started = Date.now();
			await handOver(to, idsOf(count));
			run.log(`${count} secrets handed over in ${inSeconds(Date.now() - started)}`);
		}

		const all = [theirs, withExpression, withFew, withMany];
		// The first round is for the compiler.
		for (let round = 0; round <= (run.isQuick ? 1 : ROUNDS); round++) {
			const turn = round % all.length;
			for (const to of [...all.slice(turn), ...all.slice(0, turn)]) {
				const ids = idsOf(deliveries);
				if (to.isTrigger) await handOver(to, ids);
				const rate = await deliverAll(to, ids);
				await executionsAreOver(n8n, to);
				if (round > 0) to.rates.push(rate);
			}
			run.log(all.map(({ rates }) => `${Math.round(rates.at(-1) ?? 0)}/s`).join(', '));
		}
		return { version, theirs, withExpression, withFew, withMany };
	});
}

function against(to: Receiver, base: Receiver): number {
	return median(to.rates) / median(base.rates);
}

function throughput({ withFew, withMany }: Line, base: Receiver, name: string): Goal {
	const ratios = [against(withFew, base), against(withMany, base)];
	return {
		text: `at least ${LEAST_THROUGHPUT} × the throughput of ${name} (${ratios.map(times).join(', ')})`,
		isReached: Math.min(...ratios) >= LEAST_THROUGHPUT,
	};
}

function trigger(): WorkflowNode {
	return {
		name: 'Receiver',
		type: `${NODE_TYPE}Trigger`,
		typeVersion: 1,
		parameters: { options: { includeResult: false } },
		credentials: { transcriberApi: { name: '' } },
	};
}

function ownWebhook(path: string, options: Record<string, string> = {}): WorkflowNode {
	return {
		name: 'Receiver',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		parameters: { httpMethod: 'POST', path, options },
	};
}

async function receiver(n8n: N8nHost, node: WorkflowNode): Promise<Receiver> {
	const webhookId = randomUUID();
	const isTrigger = node.type === `${NODE_TYPE}Trigger`;
	const nodes: WorkflowNode[] = [
		{ ...node, webhookId },
		{ name: 'End', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
	];
	const credential = await n8n.rest.createCredential('transcriberApi', {
		// Nothing calls the service in this benchmark.
		baseUrl: 'https://transcriber.example.com',
		apiKey: API_KEY,
	});
	const workflow = await n8n.rest.createWorkflow(
		{ name: 'Benchmark', nodes, connections: inOneLine(nodes) },
		{ transcriberApi: credential },
	);
	await n8n.rest.activate(workflow);
	const path = isTrigger ? `${webhookId}/transcriber` : String(node.parameters['path']);
	const url = `${n8n.url}/webhook/${path}`;
	const isThere = async () => (await post(url, '{}')) !== 404;
	while (!(await isThere())) await sleep(200);
	const to: Receiver = {
		url,
		workflowId: workflow.id,
		isTrigger,
		rates: [],
		executions: 0,
	};
	// Asking whether it is there has started an execution of the one that believes everybody.
	if (!isTrigger) to.executions = 1;
	return to;
}

function idsOf(count: number): string[] {
	return Array.from({ length: count }, () => randomUUID());
}

const secretOf = (id: string) => `secret-of-${id}`;

/** Until the trigger has all of them durably. */
async function handOver({ url }: Receiver, ids: string[]): Promise<void> {
	const isStored = async (part: string[]) => {
		const handOvers = part.map((id) => ({ id, secret: secretOf(id) }));
		const { status, body } = await putAll(url, handOvers, API_KEY);
		if (status !== 200 && status !== 202) throw new Error(`Hand-over: HTTP ${status}`);
		return body['stored'] === true;
	};
	const parts = Array.from({ length: Math.ceil(ids.length / TOGETHER) }, (_, index) =>
		ids.slice(index * TOGETHER, (index + 1) * TOGETHER),
	);
	await someAtOnce(parts, async (part) => void (await isStored(part)));
	await sleep(SETTLED_MS);
	await someAtOnce(parts, async (part) => {
		while (!(await isStored(part))) await sleep(SETTLED_MS);
	});
}

/** Deliveries a second. */
async function deliverAll(to: Receiver, ids: string[]): Promise<number> {
	const started = performance.now();
	await someAtOnce(ids, async (id) => {
		const taskId = `task-of-${id}`;
		const body = {
			event: 'meeting.transcript.completed',
			bot_id: id,
			task_id: taskId,
			status: 'completed',
			result_url: `/api/v1/tasks/${taskId}/result`,
		};
		const raw = JSON.stringify(body);
		const status = await post(to.url, raw, { 'x-service-signature': sign(raw, secretOf(id)) });
		if (status !== 200) throw new Error(`Delivery to ${to.url}: HTTP ${status}`);
	});
	to.executions += ids.length;
	return (1000 * ids.length) / (performance.now() - started);
}

/** The status of the answer. */
async function post(
	url: string,
	body: string,
	headers: Record<string, string> = {},
): Promise<number> {
	const answer = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body,
	});
	await answer.arrayBuffer();
	return answer.status;
}

async function someAtOnce<T>(list: T[], work: (one: T) => Promise<void>): Promise<void> {
	const waiting = [...list];
	const worker = async () => {
		for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await work(one);
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** No receiver may have work left that the next one's deliveries would wait for, nor any that is lost. */
async function executionsAreOver({ rest }: N8nHost, to: Receiver): Promise<void> {
	const count = async (filter: object) => {
		const query = encodeURIComponent(JSON.stringify({ workflowId: to.workflowId, ...filter }));
		return (await rest.get<{ count: number }>(`/executions?filter=${query}&limit=1`)).count;
	};
	const deadline = Date.now() + 60_000;
	while ((await count({ status: ['success'] })) < to.executions) {
		if (Date.now() > deadline) throw new Error(`${to.url}: not every delivery became an execution`);
		await sleep(200);
	}
	const found = await count({});
	if (found !== to.executions) {
		throw new Error(`${to.url}: ${found} executions for ${to.executions} deliveries`);
	}
}
