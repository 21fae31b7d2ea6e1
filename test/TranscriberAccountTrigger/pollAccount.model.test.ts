/**
 * Whatever happens between two polls, and wherever a poll is cut short: every task that ends after activation starts the workflow
 * once, and no other task does.
 */
// Also covers pollAccount.ts.

import fc from 'fast-check';

import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { holdsAlways } from '../support/modelRuns';
import { atLength } from '../support/long';
import { listForTests } from './manyNewTasks';

jest.setTimeout(600_000);

const { active, list, wait } = listForTests();

/** In the proportions of the real one, but small, so that short courses reach its bounds. */
const MEMORY = { done: 500, census: 250, open: 60 };

const fault = {
	at: fc.nat({ max: 12 }),
	status: fc.constantFrom(401, 403, 500, 503),
};

const step = fc.oneof(
	fc.record({ kind: fc.constant('poll' as const) }),
	fc.record({ kind: fc.constant('end' as const), count: fc.integer({ min: 1, max: 25 }) }),
	fc.record({ kind: fc.constant('pause' as const), count: fc.integer({ min: 1, max: 160 }) }),
	fc.record({
		kind: fc.constant('refusedStart' as const),
		count: fc.integer({ min: 1, max: 160 }),
		...fault,
	}),
	fc.record({ kind: fc.constant('fault' as const), ...fault }),
	fc.record({ kind: fc.constant('newKey' as const), count: fc.nat({ max: 160 }) }),
);

const course = fc.record({
	isOldestFirst: fc.boolean(),
	pageLength: fc.constantFrom(10, 20, 50, 100),
	old: fc.nat({ max: atLength(450, 120) }),
	polls: fc.nat({ max: 6 }),
	steps: fc.array(step, { maxLength: atLength(14, 6) }),
});

async function holds({ isOldestFirst, pageLength, old, polls, steps }: CourseOf<typeof course>) {
	Object.assign(ACCOUNT_MEMORY, MEMORY);
	Object.assign(list(), { tasks: [], isOldestFirst, refuses: () => undefined });
	const { host, credentials } = await active(old, pageLength, polls);
	const ids: string[] = [];
	const end = (count: number) => ids.push(...list().add(count));
	/** No more tasks end than the service can process in the time. */
	const pause = (count: number) => {
		end(count);
		wait(8);
	};
	for (const one of steps) {
		if (one.kind === 'end') end(one.count);
		if (one.kind === 'newKey') credentials.apiKey += '1';
		if (one.kind !== 'poll' && one.kind !== 'end' && one.kind !== 'fault') pause(one.count);
		if (one.kind === 'fault' || one.kind === 'refusedStart') {
			list().requests = 0;
			list().refuses = (_, count) => (count >= one.at ? one.status : undefined);
		}
		// A start of n8n succeeds in any case. A later poll that cannot read the first page fails.
		if (one.kind === 'pause' || one.kind === 'refusedStart') await host.restart();
		else await host.poll().catch(() => {});
		list().refuses = () => undefined;
	}
	for (let quiet = 0, before = -1; quiet < 10;) {
		await host.poll();
		quiet = host.started.length === before ? quiet + 1 : 0;
		before = host.started.length;
	}
	expect([...host.started].sort()).toEqual(ids.sort());
}

type CourseOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Course> ? Course : never;

it('starts the workflow once for each task, and for no old one', async () => {
	await holdsAlways(fc.asyncProperty(course, holds), atLength(8, 2));
});
