/** "Every request" in the contract: rate limits are kept before the service has to refuse. */
// Also covers nodes/shared/api/rateLimits.ts, nodes/shared/processMemory.ts.

import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { Queue, queueFor } from '../../../nodes/shared/api/waitForTurn';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { startSimulator, type LoggedRequest, type Simulator } from '../../simulator/index';
import { submit, until } from '../../simulator/testing-client';
import { listTasks } from '../../support/editor';
import { runNode, type Outcome, type Run } from '../../support/engine';
import { SUMMARY_PATH } from '../../support/everyOperation';
import { byId, itemWithFile, itemsOf } from '../../support/service';
import { shortenWindow } from '../../support/scale';
import { FILE } from '../../support/parameters';
import { atLength, few, long } from '../../support/long';

/** A minute of the service takes 0.3 s. */
const CLOCK_RATE = 200;
const MINUTE = 60_000 / CLOCK_RATE;

/** In ms. A test that waits for such a window fails, because its time is up. */
const LONGER_THAN_A_TEST = 30_000;

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'returnTask',
};
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: '={{ $json.url }}',
	consentAcknowledged: true,
};
const READ = { resource: 'account', operation: 'get' };

/** What is not urgent leaves two places of a minute to what is. */
const MOST_READS = LIMITS.other - LIMITS.keptForUrgent;

let keys = 0;
const simulators: Simulator[] = [];

/** A service with its limits on, and a key that no other test has used up. */
async function serviceWithLimits(options: { rateLimits?: boolean; uploads?: boolean } = {}) {
	const simulator = await startSimulator({
		apiKey: `key-of-test-${++keys}`,
		clockRate: CLOCK_RATE,
		rateLimits: options.rateLimits ?? true,
		tasksInProgress: 1000,
		meetingSeconds: 1e6,
		shapes: { regenerateSummary: { method: 'POST', path: SUMMARY_PATH } },
	});
	simulators.push(simulator);
	return {
		simulator,
		run: async (
			parameters: INodeParameters,
			items?: INodeExecutionData[],
			more: Partial<Run> = {},
		): Promise<Outcome> =>
			await runNode({
				credentials: { baseUrl: simulator.url, apiKey: simulator.apiKey },
				...more,
				parameters,
				items,
			}),
	};
}

function links(count: number, from = 0): INodeExecutionData[] {
	return itemsOf(
		...Array.from({ length: count }, (_, index) => ({
			url: `https://meet.example.com/${from + index}.mp3`,
		})),
	);
}

/** The largest number of requests in any minute of the service. */
function mostInAMinute(requests: LoggedRequest[]): number {
	return Math.max(
		...requests.map(({ at }) => requests.filter((r) => r.at >= at && r.at < at + MINUTE).length),
	);
}

function urlsOf({ requests }: Simulator): unknown[] {
	return requests.map(({ body }) => {
		const { url, meeting_url: meetingUrl } = body as Record<string, unknown>;
		return url ?? meetingUrl;
	});
}

beforeEach(() => shortenWindow(CLOCK_RATE));

afterEach(async () => {
	await Promise.all(simulators.splice(0).map(async (simulator) => await simulator.close()));
});

it('the limits are those of the service document', () => {
	expect(LIMITS).toMatchObject({
		submit: 10,
		meeting: 20,
		summary: 5,
		other: 60,
		keptForUrgent: 2,
		uploadsAtOnce: 3,
	});
	jest.restoreAllMocks();
	expect(LIMITS.windowMs).toBeGreaterThanOrEqual(60_000);
	expect(LIMITS.windowMs).toBeLessThan(61_000);
});

describe('in any 60 seconds, per API key', () => {
	it('10 submits, files and links together: none is refused, none is sent twice', async () => {
		const { simulator, run } = await serviceWithLimits();
		const [files, urls] = [atLength(12, 6), atLength(11, 6)];
		const outcomes = await Promise.all([
			run(
				FILE,
				Array.from({ length: files }, (_, index) => itemWithFile(`recording ${index}`)),
			),
			run(LINK, links(urls)),
		]);
		expect(outcomes.map(({ json }) => json.length)).toEqual([files, urls]);
		expect(simulator.requests.map(({ status }) => status)).toEqual(Array(files + urls).fill(200));
		expect(simulator.tasks()).toHaveLength(files + urls);
		expect(mostInAMinute(simulator.requests)).toBeLessThanOrEqual(10);
	});

	long.it('20 meeting launches', async () => {
		const { simulator, run } = await serviceWithLimits();
		const { json } = await run(BOT, links(45));
		expect(json).toHaveLength(45);
		expect(simulator.requests.map(({ status }) => status)).toEqual(Array(45).fill(200));
		expect(simulator.bots()).toHaveLength(45);
		expect(mostInAMinute(simulator.requests)).toBeLessThanOrEqual(20);
	});

	it('5 summary regenerations', async () => {
		const { simulator, run } = await serviceWithLimits();
		const id = await submit(simulator);
		simulator.finish(id);
		simulator.requests.length = 0;
		const parameters = { resource: 'task', operation: 'regenerateSummary', path: SUMMARY_PATH };
		const { json } = await run({ ...parameters, taskId: byId(id) }, links(12));
		expect(json).toHaveLength(12);
		expect(simulator.requests.map(({ status }) => status)).toEqual(Array(12).fill(200));
		expect(mostInAMinute(simulator.requests)).toBeLessThanOrEqual(5);
	});

	long.it('60 of the rest, whatever they are', async () => {
		const { simulator, run } = await serviceWithLimits();
		const outcomes = await Promise.all([
			run(READ, links(50)),
			run({ resource: 'dictionary', operation: 'get' }, links(40)),
		]);
		expect(outcomes.map(({ json }) => json.length)).toEqual([50, 40]);
		expect(simulator.requests.map(({ status }) => status)).toEqual(Array(90).fill(200));
		expect(mostInAMinute(simulator.requests)).toBeLessThanOrEqual(60);
	});

	long.it('each limit on its own: submits do not wait for reads', async () => {
		jest.replaceProperty(LIMITS, 'windowMs', 800);
		const { simulator, run } = await serviceWithLimits();
		void run(READ, links(70));
		await run(LINK, links(1));
		expect(simulator.requests.length).toBeLessThan(70);
		await until(() => simulator.requests.length === 71);
	});

	it('each key on its own: two keys do not slow each other', async () => {
		jest.replaceProperty(LIMITS, 'windowMs', LONGER_THAN_A_TEST);
		const [one, other] = [await serviceWithLimits(), await serviceWithLimits()];
		await Promise.all([one.run(LINK, links(10)), other.run(LINK, links(10))]);
		expect(one.simulator.tasks()).toHaveLength(10);
		expect(other.simulator.tasks()).toHaveLength(10);
	});
});

describe('uploads', () => {
	it('are at most 3 at a time, however many items', async () => {
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		simulator.fault({ match: {}, times: 8, action: { kind: 'slowRead', bytesPerSecond: 1e6 } });
		const { json } = await run(
			FILE,
			Array.from({ length: 8 }, () => itemWithFile(Buffer.alloc(100_000))),
		);
		expect(json).toHaveLength(8);
		expect(simulator.uploadsAtOnce).toBe(3);
	});

	it('that wait after a 409 do not hold up the upload of another file', async () => {
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		const match = { path: '/transcribe$' };
		simulator.fault({ match, times: 3, action: { kind: 'respond', status: 409 } });
		let isOver = false;
		const files = [1, 2, 3].map((name) => itemWithFile(`file ${name}`));
		const waiting = run(FILE, files, { cancelWhen: () => isOver });
		await until(() => simulator.requests.filter(({ status }) => status === 409).length === 3);
		const { json } = await run(FILE, [itemWithFile('another file')], { executionId: '99' });
		expect(json).toHaveLength(1);
		expect(simulator.requests).toHaveLength(4);
		isOver = true;
		await waiting;
	});

	it('do not hold up other requests', async () => {
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		const path = '/transcribe$';
		simulator.fault({ match: { path }, times: 3, action: { kind: 'delay', ms: 500 } });
		const uploads = run(
			FILE,
			Array.from({ length: 3 }, () => itemWithFile()),
		);
		await until(() => simulator.requests.length === 3);
		await run(LINK, links(1));
		expect(simulator.requests.map(({ status }) => status)).toEqual([
			undefined,
			undefined,
			undefined,
			200,
		]);
		await uploads;
	});
});

describe('the queue', () => {
	it('is first come, first served, also between executions', async () => {
		const { simulator, run } = await serviceWithLimits();
		const first = run(LINK, links(15));
		await until(() => simulator.requests.length === 10);
		await Promise.all([first, run(LINK, links(10, 100))]);
		const urls = urlsOf(simulator);
		expect(urls.slice(0, 15).sort()).toEqual(
			links(15)
				.map(({ json }) => json.url)
				.sort(),
		);
		expect(urls).toHaveLength(25);
	});

	it('gives places away in the order of arrival', async () => {
		const line = new Queue(
			() => 1,
			() => 0,
		);
		const served: number[] = [];
		const leave = await line.take();
		const others = [1, 2, 3].map(async (number) => {
			const leaveToo = await line.take();
			served.push(number);
			leaveToo();
		});
		leave();
		await Promise.all(others);
		expect(served).toEqual([1, 2, 3]);
	});

	it('lets the urgent go before all others, in the order of their arrival', async () => {
		const line = new Queue(
			() => 1,
			() => 0,
		);
		const served: string[] = [];
		const leave = await line.take();
		const waiting = (['a', 'b', 'urgent c', 'd', 'urgent e'] as const).map(async (name) => {
			const leaveToo = await line.take(undefined, name.startsWith('urgent') ? 'urgent' : 'first');
			served.push(name);
			leaveToo();
		});
		leave();
		await Promise.all(waiting);
		expect(served).toEqual(['urgent c', 'urgent e', 'a', 'b', 'd']);
	});

	it('lets what was tried before go before what was not, and after the urgent', async () => {
		const line = new Queue(
			() => 1,
			() => 0,
		);
		const served: string[] = [];
		const leave = await line.take();
		const waiting = (['first', 'next', 'urgent', 'next', 'first'] as const).map(async (rank) => {
			const leaveToo = await line.take(undefined, rank);
			served.push(rank);
			leaveToo();
		});
		leave();
		await Promise.all(waiting);
		expect(served).toEqual(['urgent', 'next', 'next', 'first', 'first']);
	});

	const taskId = byId('={{ $json.id }}');
	few.it.each<[string, INodeParameters, RegExp]>([
		['a read', { resource: 'task', operation: 'get', taskId }, /\/tasks\/[^/]+$/],
		['a result', { resource: 'task', operation: 'wait', taskId }, /\/result$/],
		['the submit of a file', FILE, /\/transcribe$/],
	])('lets %s be repeated before those of other items are tried', async (_, parameters, path) => {
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		const items = Array.from({ length: 4 }, (_one, n) => itemWithFile(`sound ${n}`));
		for (const item of items) {
			const id = await submit(simulator);
			simulator.finish(id);
			item.json = { id };
		}
		const from = simulator.requests.length;
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'submit', 1);
		jest.replaceProperty(LIMITS, 'windowMs', 200);
		jest.replaceProperty(LIMITS, 'uploadsAtOnce', 4);
		jest.replaceProperty(RETRY, 'base', 1);
		const match = { path: path.source };
		simulator.fault({ action: { kind: 'respond', status: 503 }, match, times: 2 });
		const { error } = await run(parameters, items);
		expect(error).toBeUndefined();
		const sent = simulator.requests.slice(from).filter((request) => path.test(request.path));
		expect(sent.map(({ status }) => status).slice(0, 3)).toEqual([503, 503, 200]);
		const item = ({ path: asked, headers }: LoggedRequest) => headers['idempotency-key'] ?? asked;
		expect(new Set(sent.slice(0, 3).map(item)).size).toBe(1);
		expect(sent).toHaveLength(6);
	});

	it('takes no place of the minute for a request that could not be sent', async () => {
		jest.replaceProperty(LIMITS, 'windowMs', LONGER_THAN_A_TEST);
		jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 500);
		const { simulator, run } = await serviceWithLimits();
		await simulator.close();
		const items = Array.from({ length: atLength(30, 12) }, (_one, n) => itemWithFile(`sound ${n}`));
		const { error } = await run(FILE, items);
		expect(error?.message).toContain('The service cannot be reached');
	});

	few.it.each([
		['Transcript: Cancel', { resource: 'task', operation: 'cancel', taskId: byId('some-task') }],
		['Meeting: Cancel or Stop', { resource: 'meeting', operation: 'cancel', botId: 'some-bot' }],
	])('lets %s, which saves money, go before what waits already', async (_, parameters) => {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'windowMs', 30);
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		const read = { resource: 'account', operation: 'get' };
		const reads = run(
			read,
			itemsOf(...Array.from({ length: atLength(40, 15) }, (_one, n) => ({ n }))),
		);
		await until(() => simulator.requests.length > 0);
		const cancelled = run(parameters, itemsOf({})).catch(() => undefined);
		await Promise.all([reads, cancelled]);
		const methods = simulator.requests.map(({ method }) => method);
		expect(methods.findIndex((method) => method !== 'GET')).toBeGreaterThan(0);
		expect(methods.slice(-3).every((method) => method === 'GET')).toBe(true);
	});

	long.it('keeps two places of each minute for what ends a recording or a task', async () => {
		const { simulator, run } = await serviceWithLimits();
		jest.replaceProperty(LIMITS, 'windowMs', LONGER_THAN_A_TEST);
		let isOver = false;
		const reads = run(READ, links(LIMITS.other + 10), { cancelWhen: () => isOver });
		await until(() => simulator.requests.length === MOST_READS);
		const stops = { resource: 'meeting', operation: 'cancel', botId: 'some-bot' };
		await run(stops, links(1)).catch(() => undefined);
		expect(simulator.requests.map(({ method }) => method)).toEqual([
			...Array<string>(MOST_READS).fill('GET'),
			'DELETE',
		]);
		isOver = true;
		await reads;
	});

	it('gives the others only their own places, when urgent requests give theirs back', async () => {
		const line = new Queue(
			() => 3,
			() => 0,
			() => 1,
		);
		const leaves = [await line.take(), await line.take(), await line.take(undefined, 'urgent')];
		const served: string[] = [];
		const waiting = ['a', 'b'].map(async (name) => {
			const leave = await line.take();
			served.push(name);
			return leave;
		});
		leaves[2]?.();
		await Promise.resolve();
		expect(served).toEqual([]);
		for (const leave of leaves.slice(0, 2)) leave?.();
		for (const leave of await Promise.all(waiting)) leave();
		expect(served).toEqual(['a', 'b']);
	});

	it('is free again at once when a submit that waits for room is cancelled', async () => {
		const { simulator, run } = await serviceWithLimits({ rateLimits: false });
		jest.replaceProperty(LIMITS, 'windowMs', LONGER_THAN_A_TEST);
		jest.replaceProperty(LIMITS, 'submit', 2);
		const headers = { 'retry-after': '30' };
		simulator.fault({ match: {}, times: 1, action: { kind: 'respond', status: 429, headers } });
		let isOver = false;
		const waiting = run(LINK, links(1), { cancelWhen: () => isOver });
		await until(() => simulator.requests[0]?.status === 429);
		// The refused request counts, and soon its next attempt has the second place.
		const queue = queueFor(simulator.apiKey, 'submit');
		const isTaken = async () => {
			const leave = await queue.take(AbortSignal.timeout(300)).catch(() => undefined);
			leave?.(false);
			return leave === undefined;
		};
		await until(isTaken);
		isOver = true;
		await waiting;
		await queue.take();
	});

	it('loses no place that is given to somebody in the moment in which their time is up', async () => {
		const line = new Queue(
			() => 1,
			() => 0,
		);
		const timeUp = new AbortController();
		const leave = await line.take();
		const late = line.take(timeUp.signal);
		const gone = line.take(timeUp.signal).then(
			() => 'entered',
			() => 'left',
		);
		leave();
		await Promise.resolve();
		timeUp.abort();
		(await late)();
		expect(await gone).toBe('left');
		(await line.take())();
		await expect(line.take(timeUp.signal)).rejects.toBe(timeUp.signal.reason);
		(await line.take())();
	});

	long.it('is left at once by a call whose deadline has come, which sends nothing', async () => {
		const { simulator } = await serviceWithLimits();
		jest.replaceProperty(LIMITS, 'windowMs', LONGER_THAN_A_TEST);
		const credentials = { baseUrl: simulator.url, apiKey: simulator.apiKey };
		await Promise.all(Array.from({ length: MOST_READS }, async () => await listTasks(credentials)));
		const sent = simulator.requests.length;
		jest.replaceProperty(RETRY, 'brief', 500);
		await expect(listTasks(credentials)).rejects.toThrow(
			'n8n has used up the requests a minute that the service allows for this API key',
		);
		expect(simulator.requests).toHaveLength(sent);
	});

	it('is left at once by a cancelled execution, and another one moves up', async () => {
		const windowMs = 2000;
		jest.replaceProperty(LIMITS, 'windowMs', windowMs);
		const { simulator, run } = await serviceWithLimits();
		let isOtherThere = false;
		const cancelled = run(LINK, links(40), { cancelWhen: () => isOtherThere });
		await until(() => simulator.requests.length === 10);
		const other = run(LINK, links(1, 100));
		isOtherThere = true;
		const { error } = await cancelled;
		expect(error?.message).toMatch(/^The execution was cancelled/);
		expect(simulator.requests).toHaveLength(10);
		await other;
		expect(urlsOf(simulator).slice(10)).toEqual(['https://meet.example.com/100.mp3']);
		const [first, , , , , , , , , , eleventh] = simulator.requests;
		expect((eleventh?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(3 * windowMs);
	});

	it('does not keep API keys: not one of the maps in the process has the key in its keys', async () => {
		const { simulator, run } = await serviceWithLimits();
		const known: string[] = [];
		const { set } = Map.prototype;
		const recorded = jest.spyOn(Map.prototype, 'set').mockImplementation(function (
			this: Map<unknown, unknown>,
			key: unknown,
			value: unknown,
		) {
			if (typeof key === 'string') known.push(key);
			return set.call(this, key, value);
		});
		await run(FILE, [itemWithFile()]);
		recorded.mockRestore();
		const ours = known.filter((key) => /^(submit|uploads):[0-9a-f]{64}$/.test(key));
		expect(ours).toHaveLength(2);
		// The simulator counts by key and is not meant.
		const theirs = new Set([`transcribe ${simulator.apiKey}`]);
		expect(known.filter((key) => key.includes(simulator.apiKey) && !theirs.has(key))).toEqual([]);
	});
});
