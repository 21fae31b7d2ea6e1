/** What every benchmark needs: the service as a process of its own, a fresh n8n, the nodes that are compared. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { inOneLine, NODE_TYPE, root } from '../test/e2e/harness';
import { startN8n, type HostOptions, type N8nHost } from '../test/n8n/host';
import type { Execution, NodeRun, StoredWorkflow, Workflow, WorkflowNode } from '../test/n8n/rest';
import type { LoggedRequest, SimulatorOptions, Task } from '../test/simulator/index';

/** The node that is measured, whichever it is. */
export const SUBJECT = 'Subject';

export interface Run {
	/** The package as `npm pack` makes it. */
	tarball: string;
	/** Small sizes and few rounds: to see that everything works, not to measure. */
	isQuick: boolean;
	log(line: string): void;
}

/** What a benchmark has found out. */
export interface Report {
	/** The first row is the heading. */
	table: string[][];
	goals: Goal[];
	/** Said below the table. */
	remarks: string[];
}

export interface Goal {
	text: string;
	isReached: boolean;
}

type Credential = { id: string; name: string };

/** Undone in reverse order, whichever way the run ends. */
const cleanUps: Array<() => Promise<void>> = [];

export async function cleanUp(): Promise<void> {
	for (const undo of cleanUps.splice(0).reverse()) await undo().catch(() => undefined);
}

/** Makes sure that `undo` happens: when it is called, or when the run ends. */
export function undoOnce(undo: () => Promise<void>): () => Promise<void> {
	cleanUps.push(undo);
	return async () => {
		const place = cleanUps.indexOf(undo);
		if (place < 0) return;
		cleanUps.splice(place, 1);
		await undo();
	};
}

export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const folder = await mkdtemp(path.join(tmpdir(), 'transcriber-bench-'));
	const dispose = undoOnce(async () => await rm(folder, { recursive: true, force: true }));
	return await work(folder).finally(dispose);
}

/** A fresh n8n: memory that one node has taken must not count for the other. */
export async function withN8n<T>(
	{ tarball, log }: Run,
	options: HostOptions,
	work: (n8n: N8nHost) => Promise<T>,
): Promise<T> {
	const n8n = await startN8n({
		packageTarball: tarball,
		binaryMode: 'filesystem',
		log,
		...options,
	});
	const stop = undoOnce(async () => await n8n.stop());
	return await work(n8n).finally(stop);
}

/** The simulator outside of this process: with memory and an event loop of its own. */
export class Service {
	private constructor(
		readonly url: string,
		readonly apiKey: string,
	) {}

	static async with<T>(
		options: SimulatorOptions,
		work: (service: Service) => Promise<T>,
	): Promise<T> {
		const apiKey = options.apiKey ?? 'bench-api-key';
		const cli = path.join(root, 'test', 'simulator', 'cli.ts');
		const child = spawn(
			process.execPath,
			['--import', 'tsx', cli, '--port', '0', '--options', JSON.stringify({ ...options, apiKey })],
			{ cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
		);
		const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
		const stop = undoOnce(async () => {
			child.kill('SIGKILL');
			await ended;
		});
		try {
			const url = await new Promise<string>((resolve, reject) => {
				let output = '';
				child.stdout.on('data', (chunk: Buffer) => {
					output += chunk.toString();
					const ready = /ready at (\S+)/.exec(output);
					if (ready?.[1] !== undefined) resolve(ready[1]);
				});
				child.once('error', reject);
				child.once('exit', () => reject(new Error('The simulator did not start')));
			});
			return await work(new Service(url, apiKey));
		} finally {
			await stop();
		}
	}

	async requests(): Promise<LoggedRequest[]> {
		return await this.control('GET', 'requests');
	}

	async tasks(): Promise<Task[]> {
		return (await this.control<{ tasks: Task[] }>('GET', 'state')).tasks;
	}

	/** As a rotation would: from now on only this key is valid. */
	async changeKey(apiKey: string): Promise<void> {
		await this.control('POST', 'configure', { apiKey });
	}

	async reset(): Promise<void> {
		await this.control('POST', 'reset', {});
	}

	/** A task, made without n8n. */
	async submit(): Promise<string> {
		const body = new FormData();
		body.append('file', new Blob(['sound']), 'talk.mp3');
		const answer = await fetch(`${this.url}/api/v1/transcribe`, {
			method: 'POST',
			headers: { 'X-API-Key': this.apiKey },
			body,
		});
		if (!answer.ok) throw new Error(`The simulator refuses a submit: ${await answer.text()}`);
		return ((await answer.json()) as { task_id: string }).task_id;
	}

	async credentialIn(n8n: N8nHost, apiKey = this.apiKey): Promise<Credential> {
		return await n8n.rest.createCredential('transcriberApi', { baseUrl: this.url, apiKey });
	}

	private async control<T>(method: string, name: string, body?: object): Promise<T> {
		const answer = await fetch(`${this.url}/_simulator/${name}`, {
			method,
			body: body && JSON.stringify(body),
		});
		if (!answer.ok) throw new Error(`Simulator, ${name}: ${await answer.text()}`);
		return (await answer.json()) as T;
	}
}

type Parameters = Record<string, unknown>;

/** Our node. */
export function transcriber(parameters: Parameters): WorkflowNode {
	return {
		name: SUBJECT,
		type: NODE_TYPE,
		typeVersion: 1,
		parameters,
		credentials: { transcriberApi: { name: '' } },
	};
}

/** What users have without our node: n8n's HTTP Request node, with the same credential. */
export function httpRequest(parameters: Parameters): WorkflowNode {
	return {
		name: SUBJECT,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.5,
		parameters: {
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'transcriberApi',
			options: {},
			...parameters,
		},
		credentials: { transcriberApi: { name: '' } },
	};
}

/** The upload as n8n's own node makes it. */
export function httpUpload(service: Service, options: Parameters = {}): WorkflowNode {
	return httpRequest({
		method: 'POST',
		url: `${service.url}/api/v1/transcribe`,
		sendBody: true,
		contentType: 'multipart-form-data',
		bodyParameters: {
			parameters: [{ parameterType: 'formBinaryData', name: 'file', inputDataFieldName: 'data' }],
		},
		options,
	});
}

/** A workflow that is started by hand: `nodes` one after the other, the first one given `items`. */
export function line(nodes: WorkflowNode[], items: Parameters[] = [{}]): Workflow {
	const all: WorkflowNode[] = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		...nodes,
	];
	return {
		name: 'Benchmark',
		nodes: all,
		connections: inOneLine(all),
		pinData: { Start: items.map((json) => ({ json })) },
	};
}

/** Runs to the end, asking for it so seldom that n8n has nothing else to do. */
export async function runToEnd(
	{ rest }: N8nHost,
	workflow: StoredWorkflow,
	askEveryMs: number,
): Promise<Execution> {
	const id = await rest.run(workflow);
	for (;;) {
		await sleep(askEveryMs);
		const execution = await rest.execution(id);
		if (!['new', 'running', 'waiting', 'unknown'].includes(execution.status)) return execution;
	}
}

/** How a node's last run went. */
export function runOf(execution: Execution, node = SUBJECT): NodeRun {
	const run = execution.runData[node]?.at(-1);
	if (run === undefined) {
		throw new Error(`"${node}" has not run: ${execution.error?.message ?? execution.status}`);
	}
	return run;
}

/** The same, where a benchmark makes no sense unless the node succeeds. */
export function successOf(execution: Execution): NodeRun {
	const run = runOf(execution);
	if (run.error === undefined) return run;
	throw new Error(`The node has failed: ${run.error.message} ${run.error.description ?? ''}`);
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length / 2;
	const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
	if (low === undefined || high === undefined) throw new Error('There is nothing to measure');
	return (low + high) / 2;
}

export function sum(values: number[]): number {
	return values.reduce((total, value) => total + value, 0);
}

export const MEGABYTE = 1_000_000;

export function inMegabytes(bytes: number): string {
	return `${Math.round(bytes / MEGABYTE)} MB`;
}

export function inSeconds(ms: number): string {
	return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function times(ratio: number): string {
	return `${ratio.toFixed(2)} ×`;
}
