/** "Every request" in the contract, with an API key whose requests of this minute are used up. */
// Also covers callService.ts.

import { callService } from '../../../nodes/shared/api/callService';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import type { Caller } from '../../../nodes/shared/api/types';
import { itemContext } from '../../support/itemContext';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

it('A look that has waited longer for its turn than it may take then still has its whole time', async () => {
	jest.replaceProperty(LIMITS, 'other', 1);
	jest.replaceProperty(LIMITS, 'windowMs', 3_000);
	const id = await service.pendingTask();
	const look = async () => {
		const caller = itemContext({}, { credentials: service.credentials() }) as Caller;
		const request = { method: 'GET', url: `/tasks/${id}` } as const;
		return await callService(caller, request, { fromTurn: 2_000, once: true });
	};
	const both = await Promise.all([look(), look()]);
	expect(both).toMatchObject([{ task_id: id }, { task_id: id }]);
});
