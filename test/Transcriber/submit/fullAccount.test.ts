/** "Patience" in the contract, for a link: what is refused because the account is full is sent again when the list shows room. */
// Also covers nodes/shared/api/countTasksInProgress.ts.

// First, before the node is loaded.
import { forgetEverything } from '../../support/ownMemory';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { until } from '../../simulator/testing-client';
import { LINK } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

it('A link waits for room in the list of tasks, and is not sent again before', async () => {
	forgetEverything();
	shortenRetries(200);
	const inAccount = Array.from({ length: LIMITS.tasksInProgress });
	const ids = await Promise.all(inAccount.map(async () => await service.pendingTask()));
	const run = service.run(LINK, { items: itemsOf({}) });
	const count = (line: string) => service.lines().filter((one) => one === line).length;
	await until(() => count('GET /api/v1/tasks') > 4 || count('POST /api/v1/transcribe-url') > 1);
	expect(count('POST /api/v1/transcribe-url')).toBe(1);
	ids.forEach((id) => service.running().finish(id));
	expect((await run).error).toBeUndefined();
	expect(count('POST /api/v1/transcribe-url')).toBe(2);
});
