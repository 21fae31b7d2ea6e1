/** What must hold in every cell, whatever comes out: by the books of the service, not by the node's words. */
import type { Execution } from '../n8n/rest';
import type { Simulator } from '../simulator';
import type { Cell } from './cell';
import type { Row } from './row';

/** Where the id of what the service has accepted was found. */
export type Place = 'output' | 'error' | 'retry' | 'warning' | 'crash';

export interface Books {
	submissions: string[];
	requests: number;
}

/** Tasks that were submitted and bots that were sent; the task of a bot belongs to its bot. */
export function booksOf(simulator: Simulator): Books {
	const tasks = simulator.tasks().filter(({ botId }) => botId === undefined);
	const submissions = [...tasks, ...simulator.bots()].map(({ id }) => id);
	return { submissions, requests: simulator.requests.length };
}

export function acceptedSince(before: Books, simulator: Simulator): string[] {
	return booksOf(simulator).submissions.filter((id) => !before.submissions.includes(id));
}

/** Nothing is paid twice, and what must be sent once is sent once. */
export function paidTwice(row: Row, before: Books, simulator: Simulator): string[] {
	const accepted = acceptedSince(before, simulator);
	const wrong: string[] = [];
	if (accepted.length > row.submits) wrong.push(`PAID TWICE: ${accepted.length} accepted`);
	if (row.kind === 'once') {
		const path = new RegExp(`^/api/v1${row.target.path}$`);
		const mayHaveArrived = simulator.requests
			.slice(before.requests)
			.filter((one) => one.method === row.target.method && path.test(one.path))
			.filter(({ status }) => status === undefined || status === 200);
		if (mayHaveArrived.length > 1) wrong.push(`SENT ${mayHaveArrived.length} TIMES`);
	}
	return wrong;
}

const MAY_BE_ACCEPTED =
	/may have accepted|accepted, but without an id|accepted the bot, but without an id|not known whether the service has sent/;

/** Where each id was reported; `undefined` if nowhere. */
export function placesOf(
	ids: string[],
	result: string,
	executions: Execution[],
	retried: Execution | undefined,
	simulator: Simulator,
): Array<Place | undefined> {
	return ids.map((id) => {
		const { taskId = id } = simulator.bots().find((bot) => bot.id === id) ?? {};
		const names = [id, taskId];
		const isIn = (value: unknown) => {
			const text = JSON.stringify(value) ?? '';
			return names.some((name) => text.includes(name));
		};
		const outputs = (all: Execution[]) =>
			all.flatMap(({ runData }) => Object.values(runData).flat()).map(({ data }) => data);
		const errors = [
			result,
			...executions.map(({ error }) => `${error?.message} ${error?.description}`),
		];
		if (isIn(outputs(executions))) return 'output';
		if (isIn(errors)) return 'error';
		if (retried && isIn([outputs([retried]), retried.error?.message])) return 'retry';
		if (errors.some((words) => MAY_BE_ACCEPTED.test(words))) return 'warning';
		return executions.some(({ status }) => status === 'crashed') ? 'crash' : undefined;
	});
}

/** API keys and webhook secrets that are where they do not belong. */
export function secretsOutside(
	row: Pick<Row, 'name'>,
	cell: Cell,
	executions: Execution[],
	log: string,
) {
	const { simulator, apiKey } = cell;
	const isRotation = row.name.startsWith('apiKey.rotate');
	const isForOthers = row.name.includes('callUrl');
	const secrets = [...simulator.tasks(), ...simulator.bots()]
		.map(({ webhookSecret }) => webhookSecret)
		.filter((secret) => secret !== undefined);
	const wrong: string[] = [];
	const stored = executions.map(({ raw }) => JSON.stringify(raw));
	const errors = executions.map(({ error }) => JSON.stringify(error) ?? '');
	const check = (what: string, texts: string[], secret: string) => {
		if (texts.some((text) => text.includes(secret))) wrong.push(what);
	};
	const keys = [...new Set([apiKey, simulator.apiKey])];
	for (const key of keys) {
		const isNewKey = isRotation && key === simulator.apiKey && key !== apiKey;
		if (!isNewKey) check('API KEY IN THE EXECUTION', stored, key);
		check('API KEY IN AN ERROR', errors, key);
		check("API KEY IN N8N'S LOG", [log], key);
	}
	for (const secret of secrets) {
		if (!isForOthers) check('WEBHOOK SECRET IN THE EXECUTION', stored, secret);
		check('WEBHOOK SECRET IN AN ERROR', errors, secret);
		check("WEBHOOK SECRET IN N8N'S LOG", [log], secret);
	}
	return wrong;
}
