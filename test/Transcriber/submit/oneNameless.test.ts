/** One link of which the service makes three tasks, and names one of them by no id: wherever that stands. */
// Also covers submit.ts.

import { NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { submit } from '../../../nodes/Transcriber/submit/submit';
import type { RoutingRequest } from '../../../nodes/shared/api/types';
import { refuse } from '../../../nodes/shared/parameters/refuse';
import { itemContext } from '../../support/itemContext';
import { LINK } from '../../support/parameters';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

it.each([0, 1, 2])(
	'in place %i, the failure of another item says that it may be charged, too',
	async (place) => {
		const body: object[] = [{ task_id: 'a' }, { task_id: 'b' }];
		body.splice(place, 0, { status: 'pending' });
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 200, body, readBody: true },
		});
		const context = itemContext(LINK, { credentials: service.credentials() });
		const run = NodeRun.of(context);
		run.register(0);
		const baseURL = `${service.running().url}/api/v1`;
		const options = { method: 'POST', baseURL, url: '/transcribe-url', body: { url: LINK.url } };
		const policy = { limit: 'submit', repeatable: false } as const;
		const submitted = submit(context, { options } as RoutingRequest, policy, run);
		await expect(submitted).rejects.toThrow('but without an id');
		const other = run.submitted.describe(1, refuse(context, 'Another', ''), { isStopped: false });
		expect(other).toContain('The service may also have accepted item 0');
	},
);
