/** The part of n8n's internal REST interface that its editor uses and that tests need; the same on 1.x and 2.x. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface WorkflowNode {
	id?: string;
	name: string;
	type: string;
	typeVersion: number;
	position?: [number, number];
	parameters: Record<string, unknown>;
	credentials?: Record<string, { id?: string; name: string }>;
	webhookId?: string;
	onError?: string;
	retryOnFail?: boolean;
	maxTries?: number;
	waitBetweenTries?: number;
	disabled?: boolean;
	executeOnce?: boolean;
}

export interface Workflow {
	id?: string;
	name: string;
	nodes: WorkflowNode[];
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
	pinData?: Record<string, unknown>;
	active?: boolean;
	versionId?: string;
}

export interface StoredWorkflow extends Workflow {
	id: string;
	versionId: string;
}

export interface BinaryItem {
	id?: string;
	data: string;
	fileName?: string;
	mimeType: string;
	fileExtension?: string;
	fileSize?: string;
	bytes?: number;
}

export interface Item {
	json: Record<string, unknown>;
	binary?: Record<string, BinaryItem>;
	pairedItem?: unknown;
}

export interface ExecutionError {
	name?: string;
	message: string;
	description?: string | null;
	httpCode?: string | null;
	context?: Record<string, unknown>;
	node?: { name: string };
}

export interface NodeRun {
	executionStatus: string;
	startTime: number;
	executionTime: number;
	data?: Record<string, Array<Item[] | null>>;
	error?: ExecutionError;
}

export interface Execution {
	id: string;
	status: string;
	mode: string;
	workflowId: string;
	waitTill?: string | null;
	startedAt?: string;
	stoppedAt?: string;
	runData: Record<string, NodeRun[]>;
	error?: ExecutionError;
	/** Everything n8n stored about it, decoded. */
	raw?: StoredData;
}

export interface StoredData {
	resultData?: { runData?: Record<string, NodeRun[]>; error?: ExecutionError };
	/** What is still to run: empty after a success. */
	executionData?: { nodeExecutionStack?: unknown[] };
	/** Set while it is suspended. */
	waitTill?: string;
}

export interface Account {
	email: string;
	password: string;
}

/** Every host is a throw-away n8n on loopback: its login is no secret. */
export const OWNER: Account = { email: 'owner@example.com', password: 'Transcriber-1' };

export class RestError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly body: string,
	) {
		super(message);
	}
}

export class N8nRest {
	private cookie = '';

	constructor(readonly url: string) {}

	/** Makes the owner account where there is none yet, and signs in. */
	async signIn(account: Account = OWNER): Promise<void> {
		const { email, password } = account;
		const settings = await this.get<{
			userManagement: { showSetupOnFirstLoad?: boolean };
		}>('/settings');
		if (settings.userManagement.showSetupOnFirstLoad) {
			await this.post('/owner/setup', { ...account, firstName: 'Test', lastName: 'Owner' });
		} else {
			await this.post('/login', { emailOrLdapLoginId: email, password });
		}
	}

	async get<T>(path: string): Promise<T> {
		return await this.call<T>('GET', path);
	}

	async post<T>(path: string, body: unknown = {}): Promise<T> {
		return await this.call<T>('POST', path, body);
	}

	/** Any other path of the interface; `path` is what follows `/rest`. */
	async call<T>(method: string, path: string, body?: unknown): Promise<T> {
		const send = async () =>
			await this.fetch(path, {
				method,
				headers: {
					...(this.cookie === '' ? {} : { cookie: this.cookie }),
					...(body === undefined ? {} : { 'content-type': 'application/json' }),
				},
				body: body === undefined ? undefined : JSON.stringify(body),
			});
		let answer = await send();
		// An n8n with very much to do takes its database for lost now and then, and refuses everything.
		for (let tries = 0; answer.status === 503 && tries < 120; tries++) {
			await answer.arrayBuffer();
			await sleep(500);
			answer = await send();
		}
		for (const cookie of answer.headers.getSetCookie()) {
			if (cookie.startsWith('n8n-auth=')) this.cookie = cookie.replace(/;.*/, '');
		}
		const text = await answer.text();
		if (!answer.ok) {
			throw new RestError(
				`n8n answered ${answer.status} to ${method} /rest${path}: ${text.slice(0, 500)}`,
				answer.status,
				text,
			);
		}
		return (text === '' ? undefined : (JSON.parse(text) as { data: T }).data) as T;
	}

	/** A busy n8n closes connections that are just about to be used. What only reads is asked again. */
	private async fetch(path: string, init: RequestInit): Promise<Response> {
		for (let tries = 1; ; tries++) {
			try {
				return await fetch(`${this.url}/rest${path}`, init);
			} catch (error) {
				if (init.method !== 'GET' || tries > 5) throw error;
			}
			await sleep(500);
		}
	}

	/** Names of all node types that the editor is given. */
	async nodeTypes(): Promise<Array<{ name: string } & Record<string, unknown>>> {
		return await this.asset('/types/nodes.json');
	}

	async credentialTypes(): Promise<Array<{ name: string } & Record<string, unknown>>> {
		return await this.asset('/types/credentials.json');
	}

	private async asset<T>(path: string): Promise<T> {
		const answer = await fetch(`${this.url}${path}`, { headers: { cookie: this.cookie } });
		if (!answer.ok) throw new RestError(`${path}: ${answer.status}`, answer.status, '');
		return (await answer.json()) as T;
	}

	async createCredential(
		type: string,
		data: Record<string, unknown>,
		name = type,
	): Promise<{ id: string; name: string }> {
		const { id } = await this.post<{ id: string }>('/credentials', { name, type, data });
		return { id, name };
	}

	/** Saves a credential and does what the editor does on "Test": the message is what the user sees. */
	async testCredential(
		type: string,
		data: Record<string, unknown>,
	): Promise<{ status: string; message: string }> {
		const { id, name } = await this.createCredential(type, data, 'Tested credential');
		return await this.post('/credentials/test', { credentials: { id, name, type, data } });
	}

	/** Imports a workflow; credentials named in `credentials` (by type) are put into every node that wants them. */
	async createWorkflow(
		workflow: Workflow,
		credentials: Record<string, { id: string; name: string }> = {},
	): Promise<StoredWorkflow> {
		const nodes = workflow.nodes.map((node, index) => {
			const own = Object.keys(node.credentials ?? {})
				.filter((type) => type in credentials)
				.map((type) => [type, credentials[type]] as const);
			return {
				...node,
				id: node.id ?? `node-${index}`,
				position: node.position ?? [index * 220, 0],
				...(node.credentials === undefined
					? {}
					: { credentials: { ...node.credentials, ...Object.fromEntries(own) } }),
			};
		});
		return await this.post('/workflows', {
			name: workflow.name,
			nodes,
			connections: workflow.connections,
			settings: { executionOrder: 'v1', ...workflow.settings },
			pinData: workflow.pinData ?? {},
			active: false,
		});
	}

	/** 1.x switches a workflow on with a plain update, 2.x publishes a version of it. */
	async activate(workflow: StoredWorkflow): Promise<void> {
		const path = `/workflows/${workflow.id}`;
		const { versionId } = await this.get<StoredWorkflow>(path);
		try {
			await this.post(`${path}/activate`, { versionId });
		} catch (error) {
			if (!(error instanceof RestError && error.status === 404)) throw error;
			await this.call('PATCH', path, { active: true, versionId });
		}
	}

	async deactivate(workflow: StoredWorkflow): Promise<void> {
		const path = `/workflows/${workflow.id}`;
		const { versionId } = await this.get<StoredWorkflow>(path);
		try {
			await this.post(`${path}/deactivate`, {});
		} catch (error) {
			if (!(error instanceof RestError && error.status === 404)) throw error;
			await this.call('PATCH', path, { active: false, versionId });
		}
	}

	/** Presses "Execute workflow" and says which execution that became. */
	async run(workflow: StoredWorkflow): Promise<string> {
		const stored = await this.get<StoredWorkflow>(`/workflows/${workflow.id}`);
		const trigger = stored.nodes.find((node) => /trigger$/i.test(node.type));
		if (trigger === undefined) throw new Error(`Workflow "${stored.name}" has no trigger`);
		// 1.x runs the workflow it is sent, 2.x the one it has stored.
		const { executionId } = await this.post<{ executionId?: string }>(
			`/workflows/${workflow.id}/run`,
			{ workflowData: stored, triggerToStartFrom: { name: trigger.name } },
		);
		if (executionId === undefined) throw new Error(`Workflow "${stored.name}" did not start`);
		return executionId;
	}

	/** Runs a workflow to its end. */
	async runToEnd(workflow: StoredWorkflow, timeoutMs?: number): Promise<Execution> {
		return await this.waitForEnd(await this.run(workflow), timeoutMs);
	}

	async execution(id: string): Promise<Execution> {
		const stored = await this.get<
			(Omit<Execution, 'runData' | 'error' | 'raw'> & { data: string }) | undefined
		>(`/executions/${id}`);
		if (stored === undefined) throw new Error(`n8n keeps no execution ${id}`);
		const { data, ...rest } = stored;
		// Empty as long as nothing of it was saved.
		const raw = unflatten(data) as StoredData | undefined;
		return {
			...rest,
			id: String(stored.id),
			runData: raw?.resultData?.runData ?? {},
			error: raw?.resultData?.error,
			raw,
		};
	}

	async executions(workflowId: string): Promise<Array<{ id: string; status: string }>> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const list = await this.get<{ results: Array<{ id: string; status: string }> }>(
			`/executions?filter=${filter}&limit=100`,
		);
		return list.results.map(({ id, status }) => ({ id: String(id), status }));
	}

	/** 'Retry with original workflow' of the list of executions, to its end. */
	async retry(id: string): Promise<Execution> {
		const retried = await this.post<{ id: string }>(`/executions/${id}/retry`, {
			loadWorkflow: false,
		});
		return await this.waitForEnd(retried.id);
	}

	/** Waits until an execution is over; one that is suspended is not. */
	async waitForEnd(id: string, timeoutMs = 60_000): Promise<Execution> {
		const isOver = ({ status }: Execution) =>
			!['new', 'running', 'waiting', 'unknown'].includes(status);
		const execution = await this.waitFor(id, isOver, timeoutMs);
		// 1.x stores that it is over a moment before it stores what came out: until then nothing is there, or the state in
		// which the execution was suspended or woken.
		const isStoredWhole = ({ status, runData, error, raw }: Execution) => {
			if (error !== undefined) return true;
			if (status === 'error' || Object.keys(runData).length === 0 || raw?.waitTill) return false;
			return status !== 'success' || !raw?.executionData?.nodeExecutionStack?.length;
		};
		let latest = execution;
		for (let tries = 0; tries < 50 && !isStoredWhole(latest); tries++) {
			await sleep(200);
			latest = await this.execution(id);
		}
		return latest;
	}

	/** Reads an execution again and again until it is as wanted. */
	async waitFor(
		id: string,
		isWanted: (execution: Execution) => boolean,
		timeoutMs = 60_000,
	): Promise<Execution> {
		const deadline = Date.now() + timeoutMs;
		for (;;) {
			const execution = await this.execution(id);
			if (isWanted(execution)) return execution;
			if (Date.now() > deadline) {
				throw new Error(`Execution ${id} is still ${execution.status} after ${timeoutMs / 1000} s`);
			}
			await sleep(200);
		}
	}

	async stopExecution(id: string): Promise<void> {
		await this.post(`/executions/${id}/stop`);
	}

	/** The bytes of a file that a node put out, wherever n8n keeps it. */
	async download(binary: BinaryItem): Promise<Buffer> {
		if (binary.id === undefined) return Buffer.from(binary.data, 'base64');
		const answer = await fetch(
			`${this.url}/rest/binary-data?action=download&id=${encodeURIComponent(binary.id)}`,
			{ headers: { cookie: this.cookie } },
		);
		if (!answer.ok) throw new RestError('The file cannot be read', answer.status, '');
		return Buffer.from(await answer.arrayBuffer());
	}

	/**
	 * Calls a production webhook. n8n 2 goes on publishing after it has answered, on a busy machine for long: a
	 * webhook that is not there yet (404) is called again for a minute.
	 */
	async callWebhook(path: string, init: RequestInit = {}): Promise<Response> {
		const deadline = Date.now() + 60_000;
		for (;;) {
			const answer = await fetch(`${this.url}/webhook/${path}`, init);
			if (answer.status !== 404 || Date.now() > deadline) return answer;
			await answer.arrayBuffer();
			await sleep(200);
		}
	}
}

/** All items that a node put out, over all its runs. */
export function itemsOf(execution: Execution, node: string): Item[] {
	return (execution.runData[node] ?? [])
		.flatMap((run) => run.data?.main?.flat() ?? [])
		.filter((item): item is Item => item !== null && item !== undefined);
}

/**
 * n8n stores executions in the `flatted` format: a list of values, in which a string inside an object or array is the
 * place in the list where the value itself stands.
 */
function unflatten(text: string): unknown {
	const list = JSON.parse(text) as unknown[];
	const done = new Map<number, Record<string, unknown>>();
	const valueAt = (place: number): unknown => {
		const stored = list[place];
		if (typeof stored !== 'object' || stored === null) return stored;
		const known = done.get(place);
		if (known !== undefined) return known;
		const value = (Array.isArray(stored) ? [] : {}) as Record<string, unknown>;
		done.set(place, value);
		for (const [key, inner] of Object.entries(stored)) {
			value[key] = typeof inner === 'string' ? valueAt(Number(inner)) : inner;
		}
		return value;
	};
	return valueAt(0);
}
