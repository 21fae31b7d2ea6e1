/** Contract, "Trigger node": how often a process calls its own trigger, and when it stops. */
// Also covers repairStaticData.ts.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { IWebhookFunctions } from 'n8n-workflow';

import {
	canCallItself,
	isOwnCall,
	watchSavedData,
} from '../../nodes/TranscriberTrigger/repairStaticData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { contextsWith } from '../shared/n8nInternals/contexts';
import { until } from '../simulator/testing-client';
import { captureLogs } from '../support/logs';
import { additionalDataFor } from '../support/n8n';

const SAVED = { status: 200, body: { stored: true } };
const WAS_MISSING = { status: 202, body: { stored: false } };
const BUSY = { status: 503, body: { message: 'Database is not ready!' } };
const SWITCHED_OFF = { status: 404, body: { message: 'The webhook is not registered' } };
const UNKNOWN_CALL = { status: 400, body: { message: 'Not a hand-over' } };

interface Reply {
	status: number;
	body: object | string;
	location?: string;
}

/** The trigger of this process: gives these answers one after the other, and the last one from then on. */
const calls: Array<{ method?: string; path?: string; body: Record<string, unknown> }> = [];
let replies: Reply[] = [];
let server: Server;
let origin = '';
beforeAll(async () => {
	server = createServer((request, response) => {
		let text = '';
		request.on('data', (piece: Buffer) => (text += piece.toString()));
		request.on('end', () => {
			const { method, url: path } = request;
			calls.push({ method, path, body: JSON.parse(text || '{}') as Record<string, unknown> });
			const { status, body, location }: Reply = replies[0] ?? SAVED;
			if (replies.length > 1) replies.shift();
			response.statusCode = status;
			if (location) response.setHeader('location', location);
			const isText = typeof body === 'string';
			response.setHeader('content-type', isText ? 'text/html' : 'application/json');
			response.end(isText ? body : JSON.stringify(body));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** Watches of other suites go on in the same process: only what this test has begun has its clock. */
const begun = new AsyncLocalStorage<object>();
/** The clock stands still, but jumps over each pause between two calls. What the pauses were: */
const pauses: number[] = [];
/** After so many calls, the watch sleeps. */
let most = 0;
/** What ends the pauses in which watches sleep. */
const sleeping: Array<() => void> = [];
let url = '';
let test = {};
beforeEach(() => {
	calls.length = pauses.length = 0;
	most = 6;
	url = `${origin}/webhook/${randomUUID()}/transcriber`;
	test = {};
	const [realNow, realTimeout] = [Date.now, AbortSignal.timeout];
	let now = realNow();
	jest
		.spyOn(Date, 'now')
		.mockImplementation(() => (begun.getStore() === test ? now : realNow.call(Date)));
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
		if (begun.getStore() !== test) return realTimeout.call(AbortSignal, ms);
		const controller = new AbortController();
		pauses.push(ms);
		const wake = () => {
			now += ms;
			controller.abort();
		};
		if (calls.length < most) setTimeout(wake, 0);
		else sleeping.push(wake);
		return controller.signal;
	});
});

function watch(): void {
	begun.run(test, () => watchSavedData(context(), url));
}

/** Ends all watches, also one whose last call a busy machine has not answered yet. */
afterEach(async () => {
	replies = [SWITCHED_OFF];
	for (let isQuiet = false; !isQuiet;) {
		const woken = sleeping.splice(0);
		for (const wake of woken) wake();
		await turns();
		isQuiet = woken.length + sleeping.length === 0;
	}
	jest.restoreAllMocks();
});

/** Time for a pause and a call. */
async function turns(): Promise<void> {
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
}

const context = () =>
	contextsWith(additionalDataFor({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' }))
		.webhookCall as unknown as IWebhookFunctions;

/** Watches until `count` calls are over, with these answers: the last one of them again and again. */
async function watched(count: number, ...given: Reply[]): Promise<void> {
	most = count;
	replies = given;
	watch();
	await until(() => calls.length === count && pauses.length > count);
}

/** The same for a watch that ends with the last of these calls. */
async function endedWatch(count: number, ...given: Reply[]): Promise<void> {
	most = count + 10;
	replies = given;
	watch();
	await until(() => calls.length === count && pauses.length === count);
	await turns();
	expect([calls.length, pauses.length]).toEqual([count, count]);
}

const isSoon = (ms: number | undefined) =>
	ms !== undefined && ms >= STORE.safeAfterMs && ms <= 2 * STORE.safeAfterMs + 1;

describe('A call to itself', () => {
	it('has a token that only this process knows', async () => {
		await watched(1, SAVED);
		const [call] = calls;
		expect(call).toMatchObject({ method: 'PUT', path: new URL(url).pathname });
		expect(isOwnCall(call?.body ?? {})).toBe(true);
		for (const body of [{}, { own: undefined }, { own: 'guessed' }])
			expect(isOwnCall(body)).toBe(false);
	});

	it('follows no redirect, which could lead the token to somebody else', async () => {
		await watched(2, { status: 307, body: {}, location: `${origin}/elsewhere` }, SAVED);
		expect(calls.map(({ path }) => path)).not.toContain('/elsewhere');
	});

	it.each(['of a test in the editor', 'of which the address is unknown'])(
		'never follows a call %s',
		async (kind) => {
			const call = context();
			Object.assign(call, { webhookData: { isTest: kind.includes('test') } });
			begun.run(test, () => watchSavedData(call, kind.includes('unknown') ? undefined : url));
			await new Promise(setImmediate);
			expect(pauses).toEqual([]);
		},
	);
});

describe('A process calls itself', () => {
	it('soon after a change, then less and less often, and at least once a minute', async () => {
		await watched(20, SAVED);
		expect(isSoon(pauses[0])).toBe(true);
		let age = 0;
		for (const pause of pauses) {
			if (!isSoon(pause)) expect(pause).toBe(Math.ceil(Math.min(age / 2, STORE.recheckMs)));
			age += pause;
		}
		expect(pauses.at(-1)).toBe(STORE.recheckMs);
	});

	it('soon again after something was missing', async () => {
		await watched(20, ...Array.from({ length: 19 }, () => SAVED), WAS_MISSING);
		expect(isSoon(pauses.at(-1))).toBe(true);
	});

	it('in pauses of random length, so that two processes do not overwrite each other for ever', async () => {
		await watched(6, WAS_MISSING);
		expect(pauses.every(isSoon)).toBe(true);
		expect(new Set(pauses).size).toBeGreaterThan(1);
	});

	it('soon again after a new change, and no longer in its old rhythm', async () => {
		await watched(20, SAVED);
		const former = sleeping.splice(0);
		watch();
		await until(() => pauses.length === 22);
		expect(isSoon(pauses.at(-1))).toBe(true);
		most = 21;
		for (const wake of former) wake();
		await turns();
		expect(calls).toHaveLength(20);
		for (const wake of sleeping.splice(0)) wake();
		await until(() => calls.length === 21);
	});

	it('in the same rhythm if the next call is soon, but soon again after that', async () => {
		const random = jest.spyOn(Math, 'random').mockReturnValue(0.99);
		await watched(2, SAVED);
		watch();
		await new Promise(setImmediate);
		expect(pauses).toHaveLength(3);
		most = 3;
		for (const wake of sleeping.splice(0)) wake();
		await until(() => pauses.length === 4);
		random.mockRestore();
		expect(isSoon(pauses.at(-1))).toBe(true);
	});
});

describe('A process no longer calls itself', () => {
	it('once the workflow is switched off', async () => {
		await endedWatch(3, SAVED, SAVED, SWITCHED_OFF);
		await endedWatch(5, SAVED, SWITCHED_OFF);
	});

	it('once the files of a newer version have taken over, which do not know the token', async () => {
		await endedWatch(2, SAVED, UNKNOWN_CALL);
	});

	it('at an address where something else answers', async () => {
		await endedWatch(5, UNKNOWN_CALL);
	});
});

describe('A process goes on calling itself', () => {
	it.each([
		['n8n is busy', BUSY],
		['a proxy has no route', { status: 404, body: '<html></html>' }],
	])('while %s', async (_, reply) => {
		await watched(12, reply);
	});

	it('while something else answers for a moment', async () => {
		await watched(8, UNKNOWN_CALL, UNKNOWN_CALL, SAVED);
	});
});

describe('A process that cannot reach itself', () => {
	const linesAbout = (address: string, logs: ReturnType<typeof captureLogs>) => {
		const words = `cannot call its own address ${new URL(address).origin} (`;
		return logs.lines.filter((line) => line.includes(words));
	};
	async function linesOf(failures: number, ...given: Reply[]): Promise<string[]> {
		const logs = captureLogs();
		await watched(failures, ...given);
		logs.release();
		return linesAbout(url, logs);
	}
	afterEach(async () => {
		// What it has said is forgotten once it reaches itself.
		calls.length = pauses.length = 0;
		url = `${url}/again`;
		await watched(1, SAVED);
		await until(() => canCallItself(url));
	});

	it('says so after four calls in a row, once', async () => {
		expect(await linesOf(3, BUSY)).toEqual([]);
		expect(canCallItself(url)).toBe(true);
		calls.length = pauses.length = 0;
		url = `${url}/2`;
		const [line, ...others] = await linesOf(9, BUSY);
		expect(line).toContain('answered with 503');
		expect(others).toEqual([]);
		expect(canCallItself(url)).toBe(false);
	});

	it('says nothing as long as a call reaches it now and then', async () => {
		expect(await linesOf(7, BUSY, BUSY, BUSY, SAVED, BUSY, BUSY, BUSY)).toEqual([]);
	});

	it.each([
		['127.0.0.1', '127.0.0.1/32'],
		['[::1]', '::1/128'],
	])('names its address %s as n8n wants it: %s', async (host, range) => {
		const logs = captureLogs();
		// Nothing listens there.
		url = `http://${host}:9/webhook/${randomUUID()}/transcriber`;
		watch();
		await until(() => pauses.length > 5);
		// It sleeps for good.
		most = 0;
		await turns();
		sleeping.length = 0;
		logs.release();
		const lines = linesAbout(url, logs);
		url = `${origin}/webhook/${randomUUID()}`;
		expect(lines).toHaveLength(1);
		expect(lines[0]).toContain('ECONNREFUSED');
		expect(lines[0]).toContain(`add ${host} to NO_PROXY`);
		expect(lines[0]).toContain(`as a range: ${range}.`);
	});
});

it('cannot call itself where its address is unknown', () => {
	expect(canCallItself(undefined)).toBe(false);
	expect(canCallItself(url)).toBe(true);
});
