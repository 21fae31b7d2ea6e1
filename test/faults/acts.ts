/** How a row is carried out: what is there before, what is started, and how it comes out. */
import { itemsOf, type Execution, type Item } from '../n8n/rest';
import { AUDIO, ask, submit, until } from '../simulator/testing-client';
import type { Cell, Listening } from './cell';
import { acceptedSince, booksOf } from './invariants';

export interface Act {
	start: () => Promise<void>;
	/** Whether it is where n8n is to be killed. */
	isUnderWay: () => Promise<boolean>;
	/** `works`, or what the user gets to read, or what is wrong. */
	end: () => Promise<Outcome>;
	/** The same for n8n's Retry of its execution. */
	outcomeOf?: (retried: Execution) => Promise<Outcome>;
}

export interface Outcome {
	result: string;
	/** The execution of the node, if it failed or crashed: n8n offers its Retry. */
	failed?: Execution;
}

export const WORKS = 'works';
export const CRASHED = 'n8n reports the crash';

type Parameters = Record<string, unknown>;

export const WAIT = { pollInterval: 4, timeout: 4 };
export const LINK = 'https://files.example.com/talk.mp3';
export const MEETING = {
	meetingUrl: 'https://meet.example.com/abc',
	consentAcknowledged: true,
};
const FILE = { name: 'talk.mp3', mimeType: 'audio/mpeg', content: 'sound' };

export interface ActionRow {
	parameters: (id: string, cell: Cell) => Parameters;
	/** Makes what the operation needs. Its answer is the `id`. */
	given?: (cell: Cell) => Promise<string>;
	file?: boolean;
	/** The file comes with the trigger, so that n8n saves it before the node runs. */
	isReceived?: boolean;
	/** Ends the given task after the node has looked once. */
	endsAfterLook?: boolean;
	/** It is killed while the execution is suspended. */
	asleep?: boolean;
	/** What is wrong with the output or at the service; '' if nothing is. `id`: given, or of what was submitted. */
	wrong: (items: Item[], cell: Cell, id: string) => Promise<string> | string;
}

export async function action(row: ActionRow, cell: Cell): Promise<Act> {
	const { n8n, simulator } = cell;
	const id = (await row.given?.(cell)) ?? '';
	const parameters = row.parameters(id, cell);
	// A trigger that the parameters name is there already, and is judged by whoever has made it.
	const trigger =
		parameters['onCompletion'] === 'notifyTrigger' && !parameters['triggerUrl']
			? await cell.listen('transcriberTrigger', {})
			: undefined;
	if (trigger) await cell.isListening(trigger);
	let execution = '';
	let before = booksOf(simulator);
	const outcomeOf = async (ended: Execution): Promise<Outcome> => {
		if (ended.status === 'crashed') return { result: CRASHED, failed: ended };
		if (ended.status !== 'success') return { result: wordsOf(ended), failed: ended };
		const items = itemsOf(ended, 'Subject');
		// Of two, one may have been paid for by an execution that n8n has forgotten.
		const accepted = id ? [id] : acceptedSince(before, simulator);
		const output = JSON.stringify(items);
		// A bot of which only the id came out may have got its task meanwhile.
		const isShown = (one: string) =>
			[one, taskOf(simulator, one)].some((id) => output.includes(id));
		const own = accepted.find(isShown) ?? accepted[0] ?? '';
		const wrong = await row.wrong(items, cell, own);
		return { result: wrong || (trigger ? await startedOnce(cell, trigger, own) : WORKS) };
	};
	return {
		outcomeOf,
		async start() {
			before = booksOf(simulator);
			const all = trigger ? { ...parameters, triggerUrl: trigger.url } : parameters;
			execution = row.isReceived
				? await cell.runReceived(all)
				: await cell.run(all, row.file ? { file: FILE } : {});
			if (row.endsAfterLook) void endAfterLook(cell, id);
		},
		async isUnderWay() {
			if (!row.asleep) return simulator.faultsHappened > 0;
			return (await n8n.rest.execution(execution)).status === 'waiting';
		},
		async end() {
			return await outcomeOf(await cell.ended(execution));
		},
	};
}

export function wordsOf({ error }: Execution): string {
	return [error?.message, error?.description].filter(Boolean).join(' ');
}

async function endAfterLook({ simulator }: Cell, id: string): Promise<void> {
	const isLook = ({ path, status }: { path: string; status?: number }) =>
		path.endsWith(`/${id}`) && status === 200;
	while (!simulator.requests.some(isLook)) {
		await new Promise((resolve) => setTimeout(resolve, 200).unref());
	}
	endNow(simulator, id);
}

/** A task, or the meeting of a bot with its task. */
export function endNow(simulator: Cell['simulator'], id: string): void {
	const bot = simulator.bots().find((one) => one.id === id);
	if (bot && bot.taskId === undefined) simulator.endMeeting(id);
	const task = simulator.tasks().find((one) => one.id === (bot?.taskId ?? id));
	if (task && ['pending', 'processing'].includes(task.status)) simulator.finish(task.id);
}

/** Whether a trigger has started exactly one execution, for this task or for the task of this bot. */
export async function startedOnce(cell: Cell, trigger: Listening, id: string): Promise<string> {
	const started = await cell.startedBy(trigger);
	const ids = started.flatMap((one) => itemsOf(one, 'Trigger')).map(({ json }) => json.task_id);
	if (ids.length !== 1) return `the workflow was started ${ids.length} times`;
	return ids[0] === taskOf(cell.simulator, id) ? WORKS : `it was started with ${String(ids[0])}`;
}

/** The id itself, or of a bot that of its task. */
export function taskOf(simulator: Cell['simulator'], id: string): string {
	return simulator.bots().find((bot) => bot.id === id)?.taskId ?? id;
}

/** One that does not end by itself. */
export async function pendingTask(cell: Cell, form: Record<string, string> = {}): Promise<string> {
	const { simulator } = cell;
	simulator.configure({ processingSeconds: 1e9 });
	const id = await submit(simulator, { form, file: AUDIO });
	simulator.configure({ processingSeconds: 300 });
	return id;
}

export async function finishedTask(cell: Cell): Promise<string> {
	const id = await pendingTask(cell);
	cell.simulator.finish(id);
	return id;
}

export async function pendingBot({ simulator }: Cell): Promise<string> {
	simulator.configure({ meetingSeconds: 1e9 });
	const json = { meeting_url: MEETING.meetingUrl, consent_acknowledged: true };
	const { body } = await ask(simulator, 'POST /meeting', { json });
	// How long the meeting lasts is decided when the bot has joined.
	await until(() => simulator.bot(String(body['bot_id'])).phase === 'recording');
	simulator.configure({ meetingSeconds: 330 });
	return String(body['bot_id']);
}
