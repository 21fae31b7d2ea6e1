/** Results that take longer than the service waits for an answer. */
import { FETCHES, Fetches } from '../../nodes/TranscriberTrigger/shareResultFetch';

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
