/** Whether the triggers that were there for the whole run have started their workflows once for each transcript. */
import type { Listening } from '../faults/cell';
import { secretsOutside } from '../faults/invariants';
import type { N8nHost } from '../n8n/host';
import { itemsOf, type Execution } from '../n8n/rest';
import type { Account } from './account';
import { query } from './database';

export interface Start {
	taskId: string;
	/** In ms since 1970. */
	at: number;
}

/** From a start to the kill that keeps n8n from storing it, at most. */
const UNSTORED_MS = 5_000;

/** `kills`: when n8n was killed, in ms since 1970. */
export async function compareStarts(
	n8n: N8nHost,
	account: Account,
	kills: number[],
): Promise<Compared> {
	const delivered = await executionsOf(n8n, account.triggers.deliveries);
	const polled = await executionsOf(n8n, account.triggers.polled);
	return compareExecutions(account, { delivered, polled }, kills, n8n.log());
}

export interface Compared {
	/** How many executions both triggers have started. */
	started: number;
	/** For how many submissions the Transcriber Trigger has started. */
	notified: number;
	wrong: string[];
}

/** `delivered`: by the Transcriber Trigger. `polled`: by the Account Trigger. */
export function compareExecutions(
	{ cell, notified }: Pick<Account, 'cell' | 'notified'>,
	{ delivered, polled }: Record<'delivered' | 'polled', Execution[]>,
	kills: number[],
	log: string,
): Compared {
	const { simulator } = cell;
	const completed = simulator.tasks().filter(({ status }) => status === 'completed');
	const ids = completed.map(({ id }) => id);
	const tasks = notified.map((id) => {
		const bot = simulator.bots().find((one) => one.id === id);
		return bot?.taskId ?? id;
	});
	// What tells why a start was missed is gone after the run.
	const courseOf = (id: string) => {
		const crashed = delivered.filter(({ status }) => status === 'crashed');
		const calls = simulator.deliveries.filter(({ taskId }) => taskId === id);
		const answers = calls.map(({ at, fault, status }) => `${clock(at)} ${fault ?? ''} ${status}`);
		return `: ${answers.slice(0, 8).join(', ')} … ${answers.at(-1)}; killed ${kills.map(clock).join(', ')}; crashed ${crashed.map(({ startedAt }) => startedAt).join(', ')}`;
	};
	const ofDeliveries = startsIn(delivered);
	const deliveries = compared('Transcriber Trigger', tasks, ofDeliveries, kills, ids, courseOf);
	const polls = compared('Transcriber Account Trigger', ids, startsIn(polled), kills);
	const secrets = secretsOutside(cell, [...delivered, ...polled], log);
	const wrong = [...deliveries.wrong, ...polls.wrong, ...secrets];
	const started = delivered.length + polled.length;
	return { started, notified: deliveries.right, wrong };
}

function clock(at: number): string {
	return new Date(at).toISOString().slice(11, 23);
}

async function executionsOf(n8n: N8nHost, { workflow }: Listening): Promise<Execution[]> {
	const sql = `SELECT id FROM execution_entity WHERE workflowId = '${workflow.id}' ORDER BY id`;
	const found: Execution[] = [];
	for (const { id } of await query<{ id: number }>(n8n, sql)) {
		found.push(await n8n.rest.execution(String(id)));
	}
	return found;
}

function startsIn(executions: Execution[]): Start[] {
	return executions.flatMap((execution) => {
		const at = Date.parse(execution.startedAt ?? '');
		const items = itemsOf(execution, 'Trigger');
		if (items.length > 0) return items.map(({ json }) => ({ taskId: String(json['task_id']), at }));
		// Killed before the node's run was stored: the item stands with what was still to run.
		const open = JSON.stringify(execution.raw?.executionData ?? {});
		return [...open.matchAll(/"task_id":"([^"]+)"/g)].map(([, id]) => ({ taskId: id ?? '', at }));
	});
}

/**
 * Which starts are missing, or too many, and for how many of the tasks it has started. `others`: tasks for which it may have
 * started, too, but only once. `courseOf`: how one was missed.
 */
export function compared(
	name: string,
	ids: string[],
	starts: Start[],
	kills: number[],
	others: string[] = [],
	courseOf: (id: string) => string = () => '',
): { right: number; wrong: string[] } {
	const expected = new Set(ids);
	const known = new Set([...ids, ...others]);
	const wrong = [...known].flatMap((id) => {
		const times = starts.filter(({ taskId }) => taskId === id).map(({ at }) => at);
		if (times.length === 0) {
			return expected.has(id) ? [`MISSED: ${name} has not started for ${id}${courseOf(id)}`] : [];
		}
		// Killed between the start and its acknowledgement: the service delivers again, and has to be heard.
		const isRepeat = times.slice(1).some((at, index) => {
			const before = times[index] ?? at;
			return !kills.some((kill) => before <= kill && kill <= Math.min(at, before + UNSTORED_MS));
		});
		return isRepeat ? [`STARTED TWICE: ${name} for ${id}`] : [];
	});
	const foreign = starts.filter(({ taskId }) => !known.has(taskId));
	wrong.push(...foreign.map(({ taskId }) => `STARTED: ${name} for ${taskId}`));
	const right = [...expected].filter((id) => starts.some(({ taskId }) => taskId === id)).length;
	return { right, wrong };
}
