/** More new tasks at the end of an oldest-first list than the trigger can keep until it starts the workflow with them. */
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { replaceValues } from '../support/scale';
import type { ListService } from './listService';
import { allStarted, listForTests } from './manyNewTasks';
import { atLength, few, long } from '../support/long';

jest.setTimeout(120_000);

const { active, list, night, rememberATenth, state, wait } = listForTests();

/** Services that show tasks behind the end of their list, too. */
const LAST_PAGE_AGAIN: ListService['pageOf'] = (listed, offset, limit) => {
	const last = Math.max(0, listed.length - 1);
	const from = offset < listed.length ? offset : last - (last % limit);
	return listed.slice(from, from + limit);
};
const LAST_TASKS_AGAIN: ListService['pageOf'] = (listed, offset, limit) =>
	offset < listed.length ? listed.slice(offset, offset + limit) : listed.slice(-limit);

long.it.each([
	[10, 900, 130],
	[10, 400, 300],
])(
	'%i to a page, %i old: all %i that end while n8n is off start the workflow',
	async (pageLength, old, ended) => {
		jest.replaceProperty(ACCOUNT_MEMORY, 'open', ended === 130 ? 20 : 200);
		list().isOldestFirst = true;
		const { host } = await active(old, pageLength, 5, true);
		const ids = await night(host, ended);
		expect(await allStarted(host, 20)).toEqual(ids.sort());
	},
);

it('a page behind the end that fails once makes no task at the end an old one', async () => {
	jest.replaceProperty(ACCOUNT_MEMORY, 'census', 20);
	list().isOldestFirst = true;
	const { host } = await active(400, 10, 2);
	const ids = list().add(40);
	let pages = 0;
	list().refuses = ({ searchParams }) =>
		Number(searchParams.get('offset')) > 400 && ++pages === 2 ? 403 : undefined;
	expect(await allStarted(host)).toEqual(ids.sort());
	expect(pages).toBeGreaterThan(2);
});

describe('The first poll', () => {
	few.it.each([
		[310, 20, 10],
		[777, 20, 9],
		[3_050, 100, 15],
	])(
		'finds the end of a list of %i tasks, %i to a page, of which it has read one page, with %i requests in all',
		async (old, pageLength, requests) => {
			jest.replaceProperty(ACCOUNT_POLL, 'firstRequests', requests);
			const { host } = await active(old, pageLength);
			expect(state(host)['end']).toBe(old);
		},
	);

	few.it.each<[string, number, number, ListService['pageOf']]>([
		['its last page', 777, 20, LAST_PAGE_AGAIN],
		['its last page', 780, 20, LAST_PAGE_AGAIN],
		['its last page', 781, 20, LAST_PAGE_AGAIN],
		['its last page', 3_050, 100, LAST_PAGE_AGAIN],
		['its last tasks', 777, 20, LAST_TASKS_AGAIN],
		['its last tasks', 3_050, 100, LAST_TASKS_AGAIN],
	])(
		'finds the end of a list that shows %s again behind it, of %i tasks, %i to a page',
		async (_, old, pageLength, pageOf) => {
			jest.replaceProperty(ACCOUNT_POLL, 'firstRequests', 40);
			list().pageOf = pageOf;
			const { host } = await active(old, pageLength);
			expect(state(host)['end']).toBe(old);
		},
	);

	few.it.each([
		['before the next poll', 3],
		['while n8n is off', 60],
	])(
		'for which half of the time is over with the last page of an oldest-first list: what ends %s starts the workflow',
		async (when, ended) => {
			list().isOldestFirst = true;
			const elevenSeconds = 11 / 3_600;
			list().refuses = (_, requestsBefore) => {
				if (requestsBefore === 1) wait(elevenSeconds);
				return undefined;
			};
			const { host } = await active(19, 10);
			expect(state(host)).toMatchObject({ frontier: 19, end: 19, complete: false });
			const ids = when === 'while n8n is off' ? await night(host, ended) : list().add(ended);
			expect(await allStarted(host)).toEqual(ids.sort());
		},
	);

	it('says how long it took if it does not find the end in time, as the service has answered', async () => {
		replaceValues(ACCOUNT_POLL, { firstMaxMs: 400, maxMs: 600 });
		list().delayMs = 90;
		await expect(active(400, 10)).rejects.toMatchObject({
			message: expect.stringMatching(/could not be read to its end: \d+ requests took \d+ seconds/),
		});
	});
});

describe('A recording that is submitted while the trigger reads the end of a newest-first list', () => {
	/** Submits so many as soon as a poll that has found the end reads the last tasks. */
	function submitAtTheEnd(count: number): () => number {
		const service = list();
		let submitted = 0;
		let hasFoundEnd = false;
		service.refuses = ({ pathname, searchParams }, requestsBefore) => {
			if (requestsBefore === 0) hasFoundEnd = false;
			if (!pathname.endsWith('/tasks') || searchParams.has('status')) return undefined;
			const behind = Number(searchParams.get('offset')) + service.pageLength;
			if (hasFoundEnd && behind === service.tasks.length) {
				const ids = service.add(count);
				for (const task of service.tasks.slice(0, ids.length)) task.status = 'processing';
				submitted += count;
				hasFoundEnd = false;
			}
			hasFoundEnd ||= behind - service.pageLength >= service.tasks.length;
			return undefined;
		};
		return () => submitted;
	}

	long.it.each([
		[2_500, 100, 1],
		[2_500, 100, 3],
	])(
		'for the first time (%i tasks, %i to a page, %i submitted): no old task starts the workflow',
		async (old, pageLength, count) => {
			list().add(old);
			const submitted = submitAtTheEnd(count);
			const { host } = await active(0, pageLength);
			expect(submitted()).toBe(count);
			list().refuses = () => undefined;
			await host.polls(4);
			expect(host.started).toEqual([]);
		},
	);

	it('to forget the tasks in the middle: no old task starts the workflow, and no task twice', async () => {
		rememberATenth();
		const service = list();
		const old = service.add(760);
		const { host } = await active(0, 100, 2);
		const submitted = submitAtTheEnd(1);
		for (let poll = 0; poll < 14; poll++) {
			service.add(30);
			wait(1 / 60);
			service.requests = 0;
			await host.poll();
		}
		expect(submitted()).toBeGreaterThan(0);
		expect(host.started.filter((id) => old.includes(id))).toEqual([]);
		expect(host.started).toHaveLength(new Set(host.started).size);
	});
});

few.it.each(['oldest', 'newest'])(
	'a service that keeps only the last 20 tasks, %s first: each new task starts the workflow once, also when the trigger forgets the others',
	async (first) => {
		replaceValues(ACCOUNT_MEMORY, { done: 50, census: 40, open: 50, tail: 20 });
		list().isOldestFirst = first === 'oldest';
		const { host } = await active(20, 100);
		const ids: string[] = [];
		for (let poll = 0; poll < atLength(60, 20); poll++) {
			ids.push(...list().add(3));
			list().tasks = first === 'oldest' ? list().tasks.slice(-20) : list().tasks.slice(0, 20);
			wait(1 / 60);
			await host.poll();
		}
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

long.it.each<[string, ListService['pageOf']]>([
	['shows the last page again behind its end', LAST_PAGE_AGAIN],
	['shows all its tasks at once whatever is asked for', (listed) => listed],
])('a list that %s: no old task starts the workflow, the next ones do', async (_, pageOf) => {
	jest.replaceProperty(ACCOUNT_MEMORY, 'census', 400);
	list().pageOf = pageOf;
	const { host } = await active(250, 10, 6);
	expect(host.started).toEqual([]);
	const ids = list().add(3);
	expect(await allStarted(host, 6)).toEqual(ids.sort());
});

long.it(
	'a list that shows its first page at every offset: what the trigger remembers stays bounded',
	async () => {
		replaceValues(ACCOUNT_MEMORY, { done: 50, census: 40, open: 50 });
		list().pageOf = (listed, _, limit) => listed.slice(0, limit);
		const { host } = await active(30, 20);
		const ids: string[] = [];
		for (let poll = 0; poll < 50; poll++) {
			ids.push(...list().add(4));
			await host.poll();
		}
		expect([...host.started].sort()).toEqual(ids.sort());
		expect(String(state(host)['done']).length / 8).toBeLessThan(100);
	},
);

describe('A service that cuts its pages by size, so that a page of large tasks has fewer of them', () => {
	long.it.each([
		[400, 10, false],
		[700, 20, false],
		[400, 10, true],
		[700, 20, true],
	])(
		'%i old tasks, %i to a page, oldest first: %s. Those with large tasks at the end start nothing',
		async (old, pageLength, isOldestFirst) => {
			list().isOldestFirst = isOldestFirst;
			const isLarge = (id: string | null) => Number(id?.slice(5)) > old / 2 === isOldestFirst;
			list().pageOf = (listed, offset, limit) => {
				let size = 0;
				return listed
					.slice(offset, offset + limit)
					.filter(({ task_id: id }) => (size += isLarge(id) ? 2 : 1) <= limit);
			};
			const { host } = await active(old, pageLength, 3);
			const ids: string[] = [];
			for (const count of [0, 1, 3, 0, 1, 3]) {
				ids.push(...list().add(count));
				await host.poll();
			}
			expect(await allStarted(host, 10)).toEqual(ids.sort());
		},
	);
});

/** Does something just before the service answers the n-th of the requests for the whole list that `counts`. */
function beforeNth(
	nth: number,
	counts: (offset: number) => boolean,
	change: () => void,
): () => number {
	let count = 0;
	list().refuses = ({ pathname, searchParams }) => {
		const isList = pathname.endsWith('/tasks') && !searchParams.has('status');
		if (isList && counts(Number(searchParams.get('offset'))) && ++count === nth) change();
		return undefined;
	};
	return () => count;
}

long.it.each([
	{ nth: 2, deleted: 1 },
	{ nth: 3, deleted: 1 },
	{ nth: 2, deleted: 7 },
	{ nth: 2, deleted: 25 },
	{ nth: 4, deleted: 12 },
])(
	'of an oldest-first list, the service deletes the first $deleted tasks before page $nth of the new ones: each starts the workflow, and no old one does',
	async ({ nth, deleted }) => {
		rememberATenth();
		list().isOldestFirst = true;
		const { host } = await active(900, 10, 2);
		const count = beforeNth(
			nth,
			(offset) => offset >= 890,
			() => void list().tasks.splice(0, deleted),
		);
		const ids = list().add(45);
		wait(1);
		expect(await allStarted(host)).toEqual(ids.sort());
		expect(count()).toBeGreaterThanOrEqual(nth);
	},
);

few.describe.each([
	['its last page', LAST_PAGE_AGAIN],
	['its last tasks', LAST_TASKS_AGAIN],
])('A service that shows %s again behind the end', (_, pageOf) => {
	long.it.each([
		{ old: 1_771, perPoll: 12, deleted: 12 },
		{ old: 3_000, perPoll: 12, deleted: 0 },
	])(
		'and between two polls has $perPoll new tasks, and deletes $deleted of $old: each new one starts the workflow',
		async ({ old, perPoll, deleted }) => {
			Object.assign(list(), { isOldestFirst: true, pageOf });
			const { host } = await active(old, 10);
			const ids: string[] = [];
			for (let poll = 0; poll < 25; poll++) {
				ids.push(...list().add(perPoll));
				list().tasks.splice(0, deleted);
				wait(5 / 60);
				await host.poll();
			}
			expect(await allStarted(host, 60)).toEqual(ids.sort());
		},
	);

	few.it.each([911, 910, 919])(
		'newest first (%i tasks): one that is submitted while a poll looks behind the end makes no old one start the workflow',
		async (old) => {
			rememberATenth();
			list().pageOf = pageOf;
			const { host } = await active(old, 10, 2);
			const ids = list().add(5);
			const submit = () => void ids.push(...list().add(1));
			beforeNth(2, (offset) => offset >= list().tasks.length - 1, submit);
			wait(1 / 60);
			await host.poll();
			list().refuses = () => undefined;
			expect(await allStarted(host)).toEqual([...ids].sort());
		},
	);
});
