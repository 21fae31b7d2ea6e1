/** Results that take longer than the service waits for an answer. */
import { setTimeout as sleep } from 'node:timers/promises';

import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { FETCHES, Fetches, type Fetch } from '../../nodes/TranscriberTrigger/shareResultFetch';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, putAll } from './client';
import { hostsForTests } from './hostsForTests';

const soon = () => Date.now() + 20;
const keys = (count: number) => Array.from({ length: count }, (_, index) => `task ${index}`);

it('repeats of many slow deliveries wait for the first fetch of each, and start no other', async () => {
	const fetches = new Fetches<string>(new Map());
	const started: string[] = [];
	const ends: Array<() => void> = [];
	const fetchOf = (key: string) => async () => {
		started.push(key);
		await new Promise<void>((resolve) => ends.push(resolve));
		return `text of ${key}`;
	};
	const many = keys(2 * FETCHES.most);
	const deliverAll = async (deadline: number) =>
		await Promise.allSettled(
			many.map(async (key) => await fetches.take(key, fetchOf(key), deadline)),
		);
	for (const { status } of await deliverAll(soon())) expect(status).toBe('rejected');
	const repeats = deliverAll(Date.now() + 10_000);
	for (const end of ends) end();
	expect((await repeats).every(({ status }) => status === 'fulfilled')).toBe(true);
	expect(started).toEqual(many);
});

describe('an outcome that does not last', () => {
	/** Each fetch takes some ms and has the next of these outcomes. */
	function fetchesWith(...outcomes: string[]) {
		const fetches = new Fetches<string>(new Map(), (outcome) => outcome !== 'not ended');
		let started = 0;
		const start = async () => {
			const outcome = outcomes[started++] ?? '';
			await new Promise((resolve) => setTimeout(resolve, 50));
			return outcome;
		};
		return {
			take: async (withinMs: number) => await fetches.take('task', start, Date.now() + withinMs),
			started: () => started,
		};
	}

	it('is not kept for the next repeat', async () => {
		const { take, started } = fetchesWith('not ended', 'text');
		await expect(take(10)).rejects.toThrow();
		await new Promise((resolve) => setTimeout(resolve, 100));
		expect(await take(10_000)).toBe('text');
		expect(started()).toBe(2);
	});

	it('is no answer to a repeat that has come before its end either', async () => {
		const { take, started } = fetchesWith('not ended', 'text');
		await expect(take(10)).rejects.toThrow();
		expect(await take(10_000)).toBe('text');
		expect(started()).toBe(2);
	});

	it('is the answer to the call that has begun the fetch', async () => {
		const { take } = fetchesWith('not ended');
		expect(await take(10_000)).toBe('not ended');
	});
});

it('keeps a bounded number of results for the next repeat', async () => {
	const fetches = new Fetches<string>(new Map());
	let started = 0;
	const late = async () => {
		started += 1;
		await new Promise((resolve) => setTimeout(resolve, 30));
		return 'text';
	};
	for (const key of keys(FETCHES.most + 5)) {
		await fetches.take(key, late, Date.now() + 1).catch(() => undefined);
		await new Promise((resolve) => setTimeout(resolve, 40));
	}
	const first = await fetches.take('task 0', late, Date.now() + 10_000);
	expect([first, started]).toEqual(['text', FETCHES.most + 6]);
});

it('keeps no result for long: the next fetch drops what is older than ten minutes', async () => {
	expect(FETCHES.keepMs).toBe(600_000);
	const kept = new Map<string, Fetch<string>>();
	const fetches = new Fetches<string>(kept);
	const late = async () => await sleep(30, 'text');
	await fetches.take('old', late, Date.now() + 1).catch(() => undefined);
	await sleep(60);
	const { now } = Date;
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + FETCHES.keepMs - 60_000);
	await fetches.take('new', late, Date.now() + 1).catch(() => undefined);
	expect([...kept.keys()]).toEqual(['old', 'new']);
	await sleep(60);
	clock.mockImplementation(() => now() + FETCHES.keepMs);
	await fetches.take('newest', late, Date.now() + 1).catch(() => undefined);
	clock.mockRestore();
	expect([...kept.keys()]).toEqual(['new', 'newest']);
});

describe('The slow result of one delivery is not given', () => {
	const service = serviceForTests();
	const { open } = hostsForTests(service);
	/** The next request for a result takes so many ms. */
	const slow = (ms: number) =>
		service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms } });

	it('for another task of the same trigger', async () => {
		const host = await open({}, { mode: 'manual' });
		const [one, other] = [await service.completedTask(), await service.completedTask()];
		const handOvers = [one, other].map((id) => ({ id, secret: `secret of ${id}` }));
		await putAll(host.url, handOvers, service.credentials().apiKey);
		slow(300);
		const done = (id: string) =>
			deliver(host.url, { task_id: id, status: 'completed' }, `secret of ${id}`);
		const first = done(one);
		await until(() => service.lines().length > 0);
		await Promise.all([first, done(other)]);
		const ids = host.executions.flat().map(({ json }) => json.task_id);
		expect(new Set(ids)).toEqual(new Set([one, other]));
	});

	it('for a signed delivery if the first was unsigned: the output has the fields of the signed one', async () => {
		const times = [
			jest.replaceProperty(ANSWER, 'withinMs', 400),
			jest.replaceProperty(RETRY, 'brief', 400),
		];
		const credentials = service.credentials({ webhookSecret: 'of the credential' });
		const host = await open({}, { mode: 'manual', credentials });
		const id = await service.completedTask();
		await putAll(host.url, [{ id }], credentials.apiKey);
		slow(600);
		const body = { task_id: id, status: 'completed', note: 'from the service' };
		expect((await deliver(host.url, body, 'invented')).status).toBe(503);
		for (const time of times) time.restore();
		expect((await deliver(host.url, body, 'of the credential')).status).toBe(200);
		expect(host.executions).toMatchObject([[{ json: body }]]);
	});
});
