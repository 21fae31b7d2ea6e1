/**
 * Whatever happens between two polls, and wherever a poll is cut short: every task that ends after activation starts the workflow
 * once, and no other task does.
 */
// Also covers pollAccount.ts.

import fc from 'fast-check';

import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { holdsAlways } from '../support/modelRuns';
import { atLength } from '../support/long';
import { replaceValues } from '../support/scale';
import { listForTests } from './manyNewTasks';

jest.setTimeout(600_000);

const { active, list, wait } = listForTests();

/** In the proportions of the real one, but small, so that short courses reach its bounds. */
const MEMORY = { done: 500, census: 250, open: 60 };

const fault = {
	at: fc.nat({ max: 12 }),
	status: fc.constantFrom(401, 403, 500, 503),
};

/** `most`: how many tasks end in a pause. `hasOpen`: some are in progress meanwhile. */
const courses = (old: number, most: number, hasOpen: boolean) => {
	const count = fc.integer({ min: 1, max: most });
	const some = fc.integer({ min: 1, max: 10 });
	const open = hasOpen ? ['begin' as const, 'complete' as const] : [];
	return fc.record({
		isOldestFirst: fc.boolean(),
		pageLength: fc.constantFrom(10, 20, 50, 100),
		old: fc.nat({ max: old }),
		/** In progress when the workflow is published. */
		open: fc.nat({ max: hasOpen ? 10 : 0 }),
		polls: fc.nat({ max: 6 }),
		steps: fc.array(
			fc.oneof(
				fc.record({ kind: fc.constant('poll' as const) }),
				fc.record({ kind: fc.constant('end' as const), count: fc.integer({ min: 1, max: 25 }) }),
				fc.record({ kind: fc.constant('pause' as const), count }),
				fc.record({ kind: fc.constant('refusedStart' as const), count, ...fault }),
				fc.record({ kind: fc.constant('fault' as const), ...fault }),
				fc.record({ kind: fc.constant('newKey' as const), count: fc.nat({ max: most }) }),
				...open.map((kind) => fc.record({ kind: fc.constant(kind), count: some })),
			),
			{ maxLength: atLength(14, 6) },
		),
	});
};

/** What some course has to meet. */
const MEETS = ['poll', 'end', 'pause', 'refusedStart', 'fault', 'newKey', 'refused', 'started'];

async function holds(given: CourseOf<ReturnType<typeof courses>>, met: Set<string>) {
	const { isOldestFirst, pageLength, old, polls, steps } = given;
	replaceValues(ACCOUNT_MEMORY, MEMORY);
	Object.assign(list(), { tasks: [], isOldestFirst, refuses: () => undefined });
	const open = list().add(given.open, 'pending');
	const { host, credentials } = await active(old, pageLength, polls);
	const ids: string[] = [];
	const begin = (count: number) => {
		const most = MEMORY.open / 2 - open.length;
		open.push(...list().add(Math.max(0, Math.min(count, most)), 'processing'));
	};
	const complete = (count: number) => {
		const ended = open.splice(0, count);
		for (const task of list().tasks)
			if (ended.includes(String(task.task_id))) Object.assign(task, { status: 'completed' });
		ids.push(...ended);
	};
	const end = (count: number) => ids.push(...list().add(count));
	/** No more tasks end than the service can process in the time. */
	const pause = (count: number) => {
		end(count);
		wait(8);
	};
	for (const one of steps) {
		met.add(one.kind);
		if (one.kind === 'end') end(one.count);
		if (one.kind === 'begin') begin(one.count);
		if (one.kind === 'complete') complete(one.count);
		if (one.kind === 'newKey') credentials.apiKey += '1';
		if (one.kind === 'pause' || one.kind === 'refusedStart' || one.kind === 'newKey')
			pause(one.count);
		if (one.kind === 'fault' || one.kind === 'refusedStart') {
			list().requests = 0;
			list().refuses = (_, count) => {
				if (count < one.at) return undefined;
				met.add('refused');
				return one.status;
			};
		}
		// A start of n8n succeeds in any case. A later poll that cannot read the first page fails.
		if (one.kind === 'pause' || one.kind === 'refusedStart') await host.restart();
		else await host.poll().catch(() => {});
		list().refuses = () => undefined;
	}
	await host.poll();
	complete(Infinity);
	for (let quiet = 0, before = -1; quiet < 10;) {
		await host.poll();
		// One that starts again and again would never be quiet.
		expect(host.started.length).toBeLessThanOrEqual(2 * ids.length);
		quiet = host.started.length === before ? quiet + 1 : 0;
		before = host.started.length;
	}
	expect([...host.started].sort()).toEqual(ids.sort());
	if (ids.length > 0) met.add('started');
}

async function always(course: ReturnType<typeof courses>, mustMeet: string[]) {
	const met = new Set<string>();
	const property = fc.asyncProperty(course, async (given) => await holds(given, met));
	await holdsAlways(property, atLength(8, 2), 1, { met, mustMeet });
}

type CourseOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Course> ? Course : never;

it('starts the workflow once for each task, and for no old one', async () => {
	await always(courses(atLength(450, 120), 160, false), MEETS);
});

// Few enough for the memory of this model: see MEMORY.
it('starts it once for each task that was in progress, too', async () => {
	await always(courses(60, 20, true), [...MEETS, 'begin', 'complete']);
});
