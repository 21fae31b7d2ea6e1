/** A look that failed, and a later one that succeeded: the failure is over. */
// Also covers pollUntilEnded.ts.

import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();

it('the error of a timeout does not name a failure that was over long before', async () => {
	const id = await service.pendingTask();
	service.running().fault({
		match: { method: 'GET', path: '/tasks/[^/]+$' },
		times: 2,
		action: { kind: 'respond', status: 500 },
	});
	const { error } = await service.run({
		resource: 'task',
		operation: 'wait',
		taskId: byId(id),
		waitOptions: { pollInterval: 0.05, timeout: 4 / 60 },
	});
	expect(error?.message).toContain(`Task ${id} has not ended within`);
	expect(error?.message).not.toContain('the last look');
});
