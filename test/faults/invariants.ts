/** What must hold in every cell, whatever comes out: by the books of the service, not by the node's words. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import type { Execution } from '../n8n/rest';
import type { LoggedRequest, Simulator } from '../simulator';
import { findIn, secretsInAddresses } from '../support/search';
import type { Cell } from './cell';
import type { Row } from './row';

/** Where the id of what the service has accepted was found. `crash`: nowhere, which only a known gap may do. */
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

/**
 * Nothing is paid twice, what must be sent once is sent once, and what has worked was sent. `hasGap`: the node cannot
 * prevent that it is paid once more.
 */
export function wrongInBooks(
	row: Row,
	before: Books,
	simulator: Simulator,
	{ hasWorked, hasGap }: { hasWorked: boolean; hasGap: boolean },
): string[] {
	const accepted = acceptedSince(before, simulator).length;
	const wrong: string[] = [];
	if (accepted > row.submits + (hasGap ? 1 : 0)) wrong.push(`PAID TWICE: ${accepted} accepted`);
	if (hasWorked && accepted < row.submits) wrong.push(`ONLY ${accepted} ACCEPTED`);
	if (row.kind === 'once' || row.kind === 'activation') {
		const arrived = mayHaveArrived(row, before, simulator);
		if (arrived > (hasGap ? 2 : 1)) wrong.push(`SENT ${arrived} TIMES`);
	}
	return wrong;
}

/** How many of the requests that meet the fault the service may have accepted. */
function mayHaveArrived(row: Row, before: Books, simulator: Simulator): number {
	return requestsOf(row, before, simulator).filter(({ status }) => !isRefusal(status)).length;
}

/**
 * Whether the service says that it has done nothing. What a gateway answers in its place says nothing of that: 502 may stand
 * before a request that was processed.
 */
function isRefusal(status = 0): boolean {
	return status === 503 || (status >= 400 && status < 500);
}

/** The rate limits of the service document, by what they limit. */
function limitOf({ method, path }: Pick<LoggedRequest, 'method' | 'path'>): string {
	if (/\/transcribe(-url)?$/.test(path)) return 'transcribe';
	if (method === 'POST' && path.endsWith('/meeting')) return 'meeting';
	return path.endsWith('/summary') ? 'summary' : 'other';
}

/** What may be lost between the clocks of two timers, in ms. */
const TIMER_MS = 50;

/** Requests of the same limit that have come before the time that the refusal has named. */
export function tooEarly(
	before: Books,
	{ requests }: Pick<Simulator, 'requests'>,
	until: (refused: number) => number,
): string[] {
	const later = requests.slice(before.requests);
	const place = later.findIndex(({ status }) => status === 429);
	const refused = later[place];
	if (!refused) return ['nothing was refused with 429'];
	const next = later.slice(place + 1).find((one) => limitOf(one) === limitOf(refused));
	const early = next ? Math.round(until(refused.at) - next.at) : 0;
	return early > TIMER_MS ? [`ASKED ${early} ms BEFORE Retry-After`] : [];
}

/** Whether it was asked again, and answered, after an answer was lost. */
export function isAskedAgain(row: Row, before: Books, simulator: Simulator): boolean {
	const asked = requestsOf(row, before, simulator);
	const { status = 0 } = asked.at(-1) ?? {};
	return asked.length > 1 && status > 0 && status < 500;
}

/**
 * What is wrong with the moment of the kill: the request that met the fault has to be open then, and a trigger must not
 * have started its workflow. `asleep`: no request is open.
 */
export function wrongInKill(
	row: Row,
	before: Books,
	{ simulator, executions, killedAt }: Pick<Cell, 'simulator' | 'executions' | 'killedAt'>,
): string[] {
	if (killedAt === undefined) return ['n8n was not killed'];
	if (row.kind === 'asleep') return [];
	const wrong: string[] = [];
	const asked = requestsOf(row, before, simulator).filter(({ at }) => at < killedAt);
	// The Account Trigger may poll while another poll is open.
	const isOpen = (row.kind === 'trigger' ? asked : asked.slice(-1)).some(
		({ status }) => status === undefined,
	);
	if (!isOpen) wrong.push('no request was open when n8n was killed');
	const hasStarted = executions.some(
		({ status, startedAt }) => status === 'success' && Date.parse(startedAt ?? '') < killedAt,
	);
	if (row.kind === 'trigger' && hasStarted)
		wrong.push('the trigger had started its workflow before n8n was killed');
	return wrong;
}

/** The requests of the kind that meets the fault. */
function requestsOf({ target }: Row, before: Books, simulator: Simulator): LoggedRequest[] {
	const path = new RegExp(`^/api/v1${target.path}$`);
	return simulator.requests
		.slice(before.requests)
		.filter((one) => one.method === target.method && path.test(one.path));
}

/** Whether it is paid once more, or, of what is no submit, asked for once more. */
export function isOnceMore(row: Row, before: Books, simulator: Simulator): boolean {
	if (row.submits === 0) return mayHaveArrived(row, before, simulator) > 1;
	return acceptedSince(before, simulator).length > row.submits;
}

/** What an error says if the answer with the id was lost; bound to the code by the suite of mayBeAccepted.ts. */
export const MAY_BE_ACCEPTED =
	/may (also )?have accepted|If the service has accepted it, a Retry of|not known whether the service accepted|accepted, but without an id|accepted the bot, but without an id|not known whether the service has sent/;

/** Whether the fault hit the submit, so that the answer with the id may be lost. If it hit a later request, the node has the id. */
export function mayHaveLostId({ kind }: Row): boolean {
	return kind === 'file' || kind === 'once' || kind === 'activation';
}

/** Where each id was reported; `undefined` if nowhere. `mayWarn`: it is enough that an error says what may be accepted. */
export function placesOf(
	ids: string[],
	result: string,
	executions: Execution[],
	retried: Execution | undefined,
	{ simulator, mayWarn }: { simulator: Simulator; mayWarn: boolean },
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
		const isWarned = mayWarn && errors.some((words) => MAY_BE_ACCEPTED.test(words));
		return isWarned ? 'warning' : undefined;
	});
}

/** API keys and webhook secrets that are where they do not belong, in whatever form. */
export function secretsOutside(cell: Cell, executions: Execution[], log: string): string[] {
	const { hidden, output } = secretsOf(cell);
	const all = [...hidden, ...output];
	const places: Array<[place: string, value: unknown, secrets: string[]]> = [
		['THE EXECUTION', executions.map(({ raw }) => raw), hidden],
		['AN ERROR', executions.map(({ error }) => error), all],
		["N8N'S LOG", log, all],
	];
	const found = places
		.filter(([, value, secrets]) => findIn(value, secrets).length > 0)
		.map(([place]) => place);
	if (secretsInAddresses(cell.simulator.requests, all).length > 0) found.push('AN ADDRESS');
	return found.map((place) => `SECRET IN ${place}`);
}

/** `output`: those that **Rotate** and **Call a URL When Ready** have to put out. */
export function secretsOf({
	simulator,
	apiKey,
	receiver,
}: Cell): Record<'hidden' | 'output', string[]> {
	const hidden = [apiKey];
	const output = simulator.apiKey === apiKey ? [] : [simulator.apiKey];
	const submissions = [
		...simulator.tasks().map(({ webhookSecret, parameters }) => ({ webhookSecret, ...parameters })),
		...simulator.bots(),
	];
	// The simulator has the address as URLs are normally written.
	const { href } = new URL(receiver);
	for (const { webhookSecret, webhookUrl } of submissions) {
		if (webhookSecret) (webhookUrl === href ? output : hidden).push(webhookSecret);
	}
	return { hidden, output };
}

/** Those of `output` that an execution of the cell does show: n8n must have stored them. */
export function secretsShown(cell: Cell): string[] {
	const { output } = secretsOf(cell);
	return findIn(
		cell.executions.map(({ raw }) => raw),
		output,
	);
}

export const NOTHING_SHOWN = 'THE SCAN IS UNTRIED: no output has shown a secret';

/**
 * What is wrong with the files of n8n's folder, such as its database. `hidden` must stand in none of them, in plain text or in
 * base64, and has the API key of each of the `cells`. Most of `shown` must stand in one: a scan that does not find these would
 * not find the others. SQLite may store one in two pages, where nothing finds it.
 */
export async function wrongInFiles(
	folder: string,
	{ hidden, shown, cells }: { hidden: string[]; shown: string[]; cells: number },
): Promise<string[]> {
	const found = await foundInFiles(folder, [...hidden, ...shown]);
	const files = hidden.flatMap((secret) => [...(found.get(secret) ?? [])]);
	const unseen = shown.filter((secret) => !found.has(secret)).length;
	const unlike = [...hidden, ...shown].filter(
		(secret) => !tokensIn(secret).includes(secret),
	).length;
	const keys = new Set(hidden.filter((secret) => secret.startsWith(KEY_OF_CELL))).size;
	return [
		...[...new Set(files)].map((file) => `SECRET IN ${file}`),
		...(unseen > shown.length / 2
			? [`THE SCAN IS BLIND: ${unseen} of ${shown.length} secrets of outputs not found`]
			: []),
		...(unlike > 0 ? [`THE SCAN IS BLIND: ${unlike} secrets look like none`] : []),
		...(keys < cells ? [`THE SCAN IS BLIND: ${keys} API keys of ${cells} cells`] : []),
	];
}

/** How the API key of a cell begins. */
export const KEY_OF_CELL = 'faults-';

/** What a webhook secret of the simulator, the API key of a cell, or a new one looks like. */
const SECRETS = /(?=(faults-[0-9a-f-]{36}|key-[0-9a-f]{32}|[0-9a-f]{48}))/g;

/** In base64, what is long enough to hold a secret. */
const CODED = /[\w+/-]{48,}/g;

/** Longer than a secret in base64. */
const OVERLAP = 200;

function tokensIn(text: string): string[] {
	return [text, ...decoded(text)].flatMap((one) =>
		[...one.matchAll(SECRETS)].map(([, token = '']) => token),
	);
}

/** What stands there in base64, which may begin in the middle of what looks like it. */
function decoded(text: string): string[] {
	return [...text.matchAll(CODED)].flatMap(([run]) =>
		[0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString('latin1')),
	);
}

/** Where each secret stands, in plain text or in base64. */
async function foundInFiles(folder: string, secrets: string[]): Promise<Map<string, Set<string>>> {
	const known = new Set(secrets);
	const found = new Map<string, Set<string>>();
	for (const name of await readdir(folder, { recursive: true })) {
		const file = path.join(folder, name);
		if (name.includes('node_modules') || !(await stat(file)).isFile()) continue;
		let rest = '';
		for await (const chunk of createReadStream(file, 'latin1')) {
			const text = rest + String(chunk);
			for (const token of tokensIn(text)) {
				if (known.has(token)) found.set(token, (found.get(token) ?? new Set()).add(name));
			}
			rest = text.slice(-OVERLAP);
		}
	}
	return found;
}
