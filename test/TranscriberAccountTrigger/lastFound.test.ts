/** More new tasks than a poll can read: since when that many can have come. */
// Also covers endedTaskFinder.ts, rememberedBetweenPolls.ts.

import { listForTests } from './manyNewTasks';

jest.setTimeout(60_000);
const { active, list, state, wait } = listForTests();

it('counts from the last poll that found what it knew, through all the polls that did not', async () => {
	const { host } = await active(3, 20);
	list().add(1);
	await host.poll();
	const { locatedAt } = state(host);
	list().add(600);
	wait(1);
	await host.poll();
	expect(state(host).at).toBeGreaterThan(Number(locatedAt));
	expect(state(host).locatedAt).toBe(locatedAt);
});
