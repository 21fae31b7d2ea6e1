/** More new tasks at the end of an oldest-first list than the trigger can keep until it starts the workflow with them. */
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/pollState';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(120_000);

const { active, list, night } = listForTests();

it.each([
	[10, 900, 130],
	[10, 400, 300],
])(
	'%i to a page, %i old: all %i that end while n8n is off start the workflow',
	async (pageLength, old, ended) => {
		ACCOUNT_MEMORY.open = ended === 130 ? 20 : 200;
		list().isOldestFirst = true;
		const { host } = await active(old, pageLength, 5, true);
		const ids = await night(host, ended);
		expect(await allStarted(host, 20)).toEqual(ids.sort());
	},
);

it('a page behind the end that fails once makes no task at the end an old one', async () => {
	ACCOUNT_MEMORY.census = 20;
	list().isOldestFirst = true;
	const { host } = await active(400, 10, 2);
	const ids = list().add(40);
	let pages = 0;
	list().refuses = ({ searchParams }) =>
		Number(searchParams.get('offset')) > 400 && ++pages === 2 ? 403 : undefined;
	expect(await allStarted(host)).toEqual(ids.sort());
	expect(pages).toBeGreaterThan(2);
});
