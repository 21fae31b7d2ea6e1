/** The triggers, for tasks that others have submitted. */
import { setTimeout as pause } from 'node:timers/promises';

import { until } from '../simulator/testing-client';
import { handOverTo } from '../TranscriberTrigger/client';
import { MEETING, WORKS, endNow, pendingTask, startedOnce, type Act } from './acts';
import { RestError } from '../n8n/rest';
import { NOT_CANCELLED, NO_BOT_KNOWN } from './messages';
import { acceptedSince, booksOf, isAskedAgain } from './invariants';
import type { Cell } from './cell';
import { DELETE_BOT, EXPORT, POST_BOT, RESULT, later, type Row } from './row';
import type { Target } from './weather';

export const triggerRows: Row[] = [
	{
		...trigger('transcriberTrigger: result', later(RESULT)),
		begin: async (cell) => await delivery({}, cell),
	},
	{
		...trigger('transcriberTrigger: export', later(EXPORT)),
		begin: async (cell) => await delivery({ exportFormat: 'srt' }, cell),
	},
	{
		...trigger('transcriberAccountTrigger: list', later({ method: 'GET', path: '/tasks' })),
		begin: polledAccount,
	},
	{ ...trigger('transcriberAccountTrigger: result', later(RESULT)), begin: polledAccount },
	{
		name: 'transcriberTrigger, meeting: bot',
		kind: 'activation',
		target: POST_BOT,
		submits: 1,
		begin: sentBot,
	},
];

/** Not in the soak, whose bounds were measured without it. */
export const switchOffRow: Row = {
	name: 'transcriberTrigger, meeting: switch off',
	kind: 'switch off',
	target: later(DELETE_BOT),
	submits: 0,
	begin: switchedOff,
};

function trigger(name: string, target: Target): Omit<Row, 'begin'> {
	return { name, kind: 'trigger', target, submits: 0 };
}

/** A task of somebody else, who has handed its secret to the trigger, ends. */
async function delivery(options: object, cell: Cell): Promise<Act> {
	const { simulator } = cell;
	const trigger = await cell.listen('transcriberTrigger', { options });
	await cell.isListening(trigger);
	const id = await pendingTask(cell, { webhook_url: trigger.url });
	const secret = simulator.task(id).webhookSecret ?? '';
	await handOverTo(trigger.url, id, secret, cell.apiKey, 1100);
	return {
		start: async () => endNow(simulator, id),
		isUnderWay: async () => simulator.faultsHappened > 0,
		end: async () => ({ result: await startedOnce(cell, trigger, id) }),
	};
}

/** n8n refuses a cron expression that is due more than once a minute, but takes several. */
export const EVERY_TEN_SECONDS = {
	pollTimes: {
		item: [0, 10, 20, 30, 40, 50].map((second) => ({
			mode: 'custom',
			cronExpression: `${second} * * * * *`,
		})),
	},
};

/** A task ends in an account that the Account Trigger polls every ten seconds. */
async function polledAccount(cell: Cell): Promise<Act> {
	const { simulator } = cell;
	const id = await pendingTask(cell);
	const trigger = await cell.listen('transcriberAccountTrigger', EVERY_TEN_SECONDS);
	// Publishing goes on after it was acknowledged. Its first poll takes what has ended for old.
	await cell.whyNotPublished(trigger);
	await eventually(() => simulator.requests.some(({ query }) => query['status'] === 'pending'));
	await pause(1_500);
	return {
		start: async () => endNow(simulator, id),
		isUnderWay: async () => simulator.faultsHappened > 0,
		end: async () => ({ result: await startedOnce(cell, trigger, id) }),
	};
}

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
	for (let tries = 0; tries < 12 && !(await condition()); tries++) {
		await until(condition).catch(() => undefined);
	}
}

/**
 * Publishing the workflow sends the bot, and its transcript starts the workflow. Where n8n cannot publish it, n8n 1 says
 * why at once, and n8n 2 in its publication status.
 */
async function sentBot(cell: Cell): Promise<Act> {
	const parameters = { source: 'meeting', ...MEETING };
	const before = booksOf(cell.simulator);
	const trigger = await cell.draft('transcriberTrigger', parameters);
	let refusal: Promise<string | undefined> = Promise.resolve(undefined);
	return {
		start: async () => void (refusal = cell.publish(trigger).then(() => undefined, wordsOfRefusal)),
		isUnderWay: async () => cell.simulator.faultsHappened > 0,
		async end() {
			const said = await refusal;
			if (said) return { result: said };
			// Without an answer, because n8n was killed, what its log says afterwards counts.
			if (said === '' && cell.n8n.log().includes(NO_BOT_KNOWN)) return { result: NO_BOT_KNOWN };
			const problem = await cell.whyNotPublished(trigger);
			const id = acceptedSince(before, cell.simulator).at(-1) ?? '';
			return { result: problem ?? (await startedOnce(cell, trigger, id)) };
		},
	};
}

/** '' if n8n has not answered. */
function wordsOfRefusal(error: unknown): string {
	return error instanceof RestError ? String(error) : '';
}

/** Longer than the trigger goes on trying, after the ten seconds in which it may be switched on again. */
const GIVEN_UP_MS = 200_000;
/** For what n8n's log may still say after the bot has been stopped. */
const SAYS_NO_MORE_MS = 5_000;

/** The workflow is switched off while its bot records: the bot is stopped, or n8n's log says that it is not. */
async function switchedOff(cell: Cell): Promise<Act> {
	const { n8n, simulator } = cell;
	simulator.configure({ meetingSeconds: 1e9 });
	const trigger = await cell.listen('transcriberTrigger', { source: 'meeting', ...MEETING });
	const problem = await cell.whyNotPublished(trigger);
	if (problem !== undefined) throw new Error(problem);
	await eventually(() => simulator.bots().some(({ phase }) => phase === 'recording'));
	const [{ id } = { id: '' }] = simulator.bots();
	// What n8n knows of the bot is saved when the publishing is through.
	await eventually(async () => {
		const saved = await n8n.rest.get(`/workflows/${trigger.workflow.id}`);
		return JSON.stringify(saved).includes(id);
	});
	const before = booksOf(simulator);
	const isStopped = () => simulator.bot(id).phase !== 'recording';
	const saysNot = () => n8n.log().includes(`meeting bot ${id} ${NOT_CANCELLED}`);
	return {
		start: async () => await cell.switchOffOne(trigger),
		isUnderWay: async () => simulator.faultsHappened > 0,
		async end() {
			const deadline = Date.now() + GIVEN_UP_MS;
			const isOver = () =>
				isStopped() && (!cell.isAnswerLost || isAskedAgain(switchOffRow, before, simulator));
			while (!isOver() && !saysNot() && Date.now() < deadline) await pause(500);
			await pause(SAYS_NO_MORE_MS);
			if (saysNot()) return { result: NOT_CANCELLED };
			return { result: isStopped() ? WORKS : 'the bot records, and nothing says so' };
		},
	};
}
