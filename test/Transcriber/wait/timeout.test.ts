/** Contract, "Waiting": "`timeout` holds whatever a look is answered." */
// Also covers finishedTask.ts.

import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();

it("'Timeout' counts from the beginning of the wait, and not from the first look that succeeds", async () => {
	const id = await service.pendingTask();
	service.running().fault({
		match: { method: 'GET', path: '/tasks/[^/]+$' },
		times: 12,
		action: { kind: 'respond', status: 500 },
	});
	const { error } = await service.run({
		resource: 'task',
		operation: 'wait',
		taskId: byId(id),
		waitOptions: { pollInterval: 0.25, timeout: 4 / 60 },
	});
	expect(error?.message).toContain(`Task ${id} has not ended within`);
	// Four more at most: twelve have taken three of the four seconds.
	const looks = service.lines().filter((line) => line.includes(id));
	expect(looks.length).toBeLessThan(12 + 10);
});
