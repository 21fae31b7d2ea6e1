/** What can go wrong between n8n and the service: the columns of the matrix. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { FaultRule, Simulator } from '../simulator';

/** The requests that meet the fault, and how many of them pass first. */
export interface Target {
	method: string;
	/** Source of a regular expression for what follows /api/v1. */
	path: string;
	skip?: number;
	/** The request before it. Unset: it is the first, or `isLater`. */
	after?: { method: string; path: string };
	/** It comes at a time that only the node knows. */
	isLater?: boolean;
}

export interface Weather {
	name: FaultName;
	/** In docs/faults.md. */
	title: string;
	/** A minute or more. */
	isLong: boolean;
	begin: (simulator: Simulator, target: Target, trap: string) => void;
	/** Before when nothing of the same rate limit may be asked. `refused`, `armed`: when, all in ms since 1970. */
	retryAfter?: (refused: number, armed: number) => number;
	/**
	 * The execution has been started. Returns until when the service refuses connections, in ms since 1970, if it has
	 * done so from the start of a Transcriber node.
	 */
	started?: (simulator: Simulator, row: { kind: string; target: Target }) => number | undefined;
}

export type FaultName =
	| '503 once'
	| '503 for a minute'
	| '429'
	| '429 with Retry-After'
	| '429 by a clock that is ahead'
	| '429 by a clock that is behind'
	| '401 once'
	| '401 for good'
	| 'refused for 5 s'
	| 'refused for 40 s'
	| 'reset before the answer'
	| 'reset after it was accepted'
	| 'reset in the answer'
	| '502 after it was accepted'
	| '30 s of silence'
	| '70 s of silence'
	| 'truncated JSON'
	| 'HTML page'
	| 'empty answer'
	| 'redirect'
	| 'kill -9';

const HOUR_S = 3600;

/** From the moment in which the fault is armed to the date of its `Retry-After`. */
const DATE_MS = 20_000;

/** After these, n8n has no usable answer to what the service has done. */
export const UNANSWERED: FaultName[] = [
	'reset after it was accepted',
	'reset in the answer',
	'502 after it was accepted',
	'70 s of silence',
];

/** How long n8n is killed after the request has come, at most: its answer is later than that, in ms. */
export const UNANSWERED_MS = 600_000;

const HTML = '<!DOCTYPE html><html><title>Welcome</title><body>Log in to go on</body></html>';

/** As nginx words it. */
const BAD_GATEWAY = '<html><head><title>502 Bad Gateway</title></head><body></body></html>';

const respond = (status: number, more: object = {}): FaultRule['action'] => ({
	kind: 'respond',
	status,
	body: status === 503 ? undefined : { detail: { message: 'Simulated refusal' } },
	...more,
});

export const WEATHER: Weather[] = [
	once('503 once', '503 once', respond(503)),
	{
		name: '503 for a minute',
		title: '503 for a minute',
		isLong: true,
		begin: (simulator, target) => rule(simulator, target, respond(503), { forMs: 60_000 }),
	},
	once('429', '429 without `Retry-After`, once', respond(429)),
	{
		...once(
			'429 with Retry-After',
			'429 with `Retry-After: 3`, once',
			respond(429, { headers: { 'Retry-After': '3' } }),
		),
		retryAfter: (refused) => refused + 3_000,
	},
	wrongClock('429 by a clock that is ahead', 'an hour ahead', HOUR_S),
	wrongClock('429 by a clock that is behind', 'an hour behind', -HOUR_S),
	once('401 once', '401 once', respond(401)),
	{
		name: '401 for good',
		title: '401 from now on',
		isLong: true,
		begin: (simulator, target) => rule(simulator, target, respond(401), { times: Infinity }),
	},
	refusedFor('refused for 5 s', 5),
	refusedFor('refused for 40 s', 40),
	once('reset before the answer', 'Connection reset, nothing done', {
		kind: 'cut',
		when: 'beforeBody',
	}),
	once('reset after it was accepted', 'Connection reset after the service has accepted', {
		kind: 'cut',
		when: 'afterProcessing',
	}),
	once('reset in the answer', 'Connection reset in the middle of the answer', {
		kind: 'cut',
		when: 'midAnswer',
		afterBytes: 10,
	}),
	once('502 after it was accepted', 'Accepted, and answered by a gateway with 502', {
		kind: 'garble',
		status: 502,
		body: BAD_GATEWAY,
		headers: { 'Content-Type': 'text/html' },
	}),
	once('30 s of silence', '30 s of silence, then the answer', {
		kind: 'delay',
		ms: 30_000,
		processed: true,
	}),
	once('70 s of silence', '70 s of silence, then the answer', {
		kind: 'delay',
		ms: 70_000,
		processed: true,
	}),
	once('truncated JSON', 'Accepted, and answered with the first half of the JSON', {
		kind: 'garble',
		keepBytes: 10,
	}),
	once('HTML page', 'A web page with status 200 instead of the service', {
		kind: 'respond',
		status: 200,
		body: HTML,
		headers: { 'Content-Type': 'text/html' },
	}),
	once('empty answer', 'Accepted, and answered with an empty 200', { kind: 'garble', body: '' }),
	{
		name: 'redirect',
		title: '302 to another host',
		isLong: false,
		begin: (simulator, target, trap) =>
			rule(simulator, target, { kind: 'redirect', status: 302, location: `${trap}/elsewhere` }),
	},
	once('kill -9', 'n8n killed with -9 after the service has accepted', {
		kind: 'delay',
		ms: UNANSWERED_MS,
		processed: true,
	}),
];

function once(name: FaultName, title: string, action: FaultRule['action']): Weather {
	const isLong = action.kind === 'delay' && action.ms >= 30_000;
	return { name, title, isLong, begin: (simulator, target) => rule(simulator, target, action) };
}

function rule(
	simulator: Simulator,
	{ method, path, skip }: Target,
	action: FaultRule['action'],
	more: Partial<FaultRule> = {},
): void {
	simulator.fault({ match: { method, path: `^/api/v1${path}$` }, skip, action, ...more });
}

function refusedFor(name: FaultName, seconds: number): Weather {
	const ms = seconds * 1000;
	return {
		name,
		title: `Connection refused for ${seconds} s`,
		isLong: seconds > 15,
		begin(simulator, target) {
			if (target.after) rule(simulator, target.after, { kind: 'down', ms });
			else if (target.isLater) rule(simulator, target, { kind: 'down', ms, cut: true });
			else simulator.down(UNANSWERED_MS);
		},
		started(simulator, { kind, target: { after, isLater } }) {
			if (after || isLater) return undefined;
			simulator.down(ms);
			return kind === 'activation' ? undefined : Date.now() + ms;
		},
	};
}

/** The date is right by the clock of the service, which the header `Date` shows. */
function wrongClock(name: FaultName, words: string, aheadSeconds: number): Weather {
	return {
		name,
		title: `429 with \`Retry-After\` as a date, by a clock that is ${words}`,
		isLong: false,
		// A date has no parts of a second.
		retryAfter: (_, armed) => Math.floor((armed + DATE_MS) / 1000) * 1000,
		begin: (simulator, target) => {
			simulator.configure({ clockAheadSeconds: aheadSeconds });
			const at = Date.now() + aheadSeconds * 1000;
			const until = new Date(at + DATE_MS).toUTCString();
			rule(simulator, target, respond(429, { headers: { 'Retry-After': until } }));
		},
	};
}

/** Ends the fault, and waits until the service answers. */
export async function goodWeather(simulator: Simulator): Promise<void> {
	simulator.clearFaults();
	simulator.configure({ clockAheadSeconds: 0 });
	const isUp = async () => await fetch(simulator.url).then(Boolean, () => false);
	if (!(await isUp())) simulator.down(0);
	while (!(await isUp())) await sleep(500);
}
