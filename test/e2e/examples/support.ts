/** What the tests of the examples share: a user's settings, the table that is the CRM, and a form that is filled in. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { lineOf } from '../../n8n/lines';
import {
	itemsOf,
	type Execution,
	type StoredWorkflow,
	type Workflow,
	type WorkflowNode,
} from '../../n8n/rest';
import { readExample, type Bench } from '../harness';

const HAS_ADDRESS = /\.(transcriberTrigger|formTrigger)$/;

/** An example with an address for its trigger: the editor gives it one on import, n8n 2 also without the editor. */
export async function imported(file: string): Promise<Workflow> {
	const workflow = await readExample(file);
	for (const node of workflow.nodes) {
		if (HAS_ADDRESS.test(node.type)) node.webhookId ??= randomUUID();
	}
	return workflow;
}

export function nodeOf(workflow: Workflow, name: string): WorkflowNode {
	const node = workflow.nodes.find((one) => one.name === name);
	if (node === undefined) throw new Error(`"${workflow.name}" has no node "${name}"`);
	return node;
}

/** Changes what the sticky notes tell the user to change in the node 'Settings'. */
export function withSettings(workflow: Workflow, values: Record<string, string>): Workflow {
	const { assignments } = nodeOf(workflow, 'Settings').parameters.assignments as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	for (const assignment of assignments) {
		assignment.value = values[assignment.name] ?? assignment.value;
	}
	return workflow;
}

/** The meeting of the examples that cannot be transcribed. */
export const NO_SPEECH = {
	name: 'globex',
	seconds: 60,
	segments: [],
	summary: '',
	fail: 'No speech was found',
};

interface DataTable {
	id: string;
	name: string;
	projectId: string;
}

async function tableCalled(bench: Bench, wanted: string): Promise<DataTable | undefined> {
	const { data } = await bench.rest.get<{ data: DataTable[] }>('/data-tables-global?take=100');
	return data.find(({ name }) => name === wanted);
}

/** Empty where the table was not made. */
export async function rowsOf(bench: Bench, name: string): Promise<Array<Record<string, unknown>>> {
	const table = await tableCalled(bench, name);
	if (table === undefined) return [];
	const rows = await bench.rest.get<{ data: Array<Record<string, unknown>> }>(
		`/projects/${table.projectId}/data-tables/${table.id}/rows`,
	);
	return rows.data;
}

/** The rows of the CRM for the bots of this test file: all test files share one n8n, and so one table. */
export async function crmRows(bench: Bench): Promise<Array<Record<string, unknown>>> {
	const bots = bench.simulator.bots().map(({ id }) => id);
	return (await rowsOf(bench, 'Meetings (CRM)')).filter(({ bot_id: bot }) =>
		bots.includes(String(bot)),
	);
}

/** On n8n 1 no node can make a data table: the user does it, and so does this. */
export async function withCrmTable(bench: Bench, workflow: Workflow): Promise<Workflow> {
	if (lineOf(bench.n8n.version).hasDataTableNode) return workflow;
	const node = nodeOf(workflow, 'CRM Table');
	const { tableName, columns } = node.parameters as {
		tableName: string;
		columns: { column: object[] };
	};
	const { id: project } = await bench.rest.get<{ id: string }>('/projects/personal');
	const table =
		(await tableCalled(bench, tableName)) ??
		(await bench.rest.post<DataTable>(`/projects/${project}/data-tables`, {
			name: tableName,
			columns: columns.column,
		}));
	const chosen: WorkflowNode = {
		name: 'CRM Table',
		type: 'n8n-nodes-base.set',
		typeVersion: 3.4,
		position: node.position,
		parameters: { mode: 'raw', jsonOutput: JSON.stringify({ id: table.id }), options: {} },
	};
	const nodes = workflow.nodes.map((one) => (one === node ? chosen : one));
	return { ...workflow, nodes };
}

export function jsonOf(execution: Execution, node: string): unknown[] {
	return itemsOf(execution, node).map(({ json }) => json);
}

/** The meetings that bots were sent to, in the order of the requests. */
export function meetingsOf(bench: Bench): Array<Record<string, unknown>> {
	return bench.simulator.requests
		.filter(({ method, path }) => method === 'POST' && path === '/api/v1/meeting')
		.map(({ body }) => body as Record<string, unknown>);
}

export interface Page {
	title: string;
	text: string;
}

/** A published form that is filled in by somebody with a browser. */
export class FormVisitor {
	constructor(
		private readonly bench: Bench,
		private readonly workflow: StoredWorkflow,
	) {}

	private get address(): string {
		const { webhookId } = nodeOf(this.workflow, 'Upload Form');
		return `${this.bench.n8n.url}/form/${webhookId}`;
	}

	/** Opens the form, and sends the recording. */
	async upload(name: string, content: string): Promise<{ next?: string }> {
		await this.open();
		const form = new FormData();
		form.append('field-0', new Blob([content], { type: 'audio/mpeg' }), name);
		const answer = await fetch(this.address, { method: 'POST', body: form });
		const text = await answer.text();
		if (!answer.ok) throw new Error(text);
		return { next: (JSON.parse(text) as { formWaitingUrl?: string }).formWaitingUrl };
	}

	/** n8n goes on being activated for a moment after it says that it is. */
	private async open(): Promise<void> {
		const deadline = Date.now() + 10_000;
		for (;;) {
			const answer = await fetch(this.address);
			const text = await answer.text();
			if (answer.ok) return;
			if (answer.status !== 404 || Date.now() > deadline) throw new Error(text);
			await sleep(200);
		}
	}

	/** What the page shows in the end, which asks n8n until there is something to show. */
	async ending(next: string): Promise<Page> {
		const state = new URL(next);
		state.pathname += '/n8n-execution-status';
		const deadline = Date.now() + 60_000;
		while ((await (await fetch(state)).text()) !== 'form-waiting') {
			if (Date.now() > deadline) throw new Error('The form has no ending');
			await sleep(200);
		}
		const html = await (await fetch(next)).text();
		// The page tells n8n that it was shown, and the execution ends.
		await fetch(next, { method: 'POST' });
		const between = (tag: string) =>
			new RegExp(`<${tag}\\b[^>]*>([\\s\\S]*?)</${tag}>`).exec(html)?.[1]?.trim() ?? '';
		return { title: between('h1'), text: between('p') };
	}
}

/** The only execution of a workflow that was started from outside, at its end. */
export async function onlyExecution(bench: Bench, workflow: StoredWorkflow): Promise<Execution> {
	const deadline = Date.now() + 30_000;
	for (;;) {
		const [first, ...others] = await bench.rest.executions(workflow.id);
		if (others.length > 0) {
			const all = JSON.stringify([first, ...others].map((one) => one?.status));
			throw new Error(`There is more than one execution: ${all}`);
		}
		if (first !== undefined) return await bench.rest.waitForEnd(first.id);
		if (Date.now() > deadline) throw new Error('There is no execution');
		await sleep(200);
	}
}
