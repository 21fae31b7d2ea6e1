/** A service that refuses an offset behind the last task in one state has not refused `status`. */
// Also covers pagesWithinBudget.ts, openTasks.ts.

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { AccountHost } from './host';
import { ListService } from './listService';

const service = new ListService();
beforeEach(async () => {
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	await service.open();
});
afterEach(async () => await service.close());

it('The tasks in progress are still asked for in the next poll', async () => {
	const asked: string[] = [];
	service.refuses = ({ searchParams }) => {
		const status = searchParams.get('status');
		if (status === null) return undefined;
		asked.push(status);
		const offset = Number(searchParams.get('offset'));
		const listed = service.tasks.filter((task) => task.status === status);
		return offset > 0 && offset >= listed.length ? 422 : undefined;
	};
	// New tasks are at the end, which is read later.
	Object.assign(service, { isOldestFirst: true, pageLength: 10 });
	service.add(30);
	const host = new AccountHost({ baseUrl: service.url, apiKey: 'the key' });
	await host.activate();
	// A full page, so that there may be another one.
	service.add(10, 'processing');
	await host.poll();
	asked.splice(0);
	await host.poll();
	expect(asked).toEqual(expect.arrayContaining(['processing', 'pending']));
});
