/** More new tasks at the beginning of the list than one poll can read. */
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { replaceValues } from '../support/scale';
import { allStarted, listForTests } from './manyNewTasks';
import { atLength, few, long } from '../support/long';

jest.setTimeout(120_000);

const { active, list, night } = listForTests();

few.it.each([
	[10, 60, 250, 9],
	[20, 300, 500, 10],
])(
	'%i to a page, %i old: %i that end in a pause, and %i more before each poll, all start the workflow',
	async (pageLength, old, ended, each) => {
		const { host } = await active(old, pageLength, 3);
		const ids = await night(host, ended);
		for (let poll = 0; poll < atLength(15, 5); poll++) {
			ids.push(...list().add(each));
			await host.poll();
		}
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

long.it(
	'with more tasks in the memory than it may hold, nothing is forgotten before the new ones are read',
	async () => {
		replaceValues(ACCOUNT_MEMORY, { done: 250, census: 200 });
		const { host } = await active(245, 10, 30, true);
		const ids = await night(host, 150);
		expect(await allStarted(host, 20)).toEqual([...ids].sort());
		ids.push(...list().add(20));
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

it('nothing is forgotten either where the last poll could read the first page only', async () => {
	replaceValues(ACCOUNT_MEMORY, { done: 54, census: 50 });
	const { host } = await active(45, 10, 5);
	const ids = list().add(15);
	list().refuses = ({ searchParams }) => (searchParams.get('offset') === '0' ? undefined : 401);
	await host.poll();
	expect(host.started).toHaveLength(10);
	list().refuses = () => undefined;
	expect(await allStarted(host)).toEqual(ids.sort());
});
