/** Nothing that the cluster stands on is left over. */
import path from 'node:path';

import { root } from '../e2e/harness';
import { killStarter } from '../support/leftovers';

describe('PostgreSQL and Redis whose starter was killed', () => {
	it('end, and their folder is removed', async () => {
		const { before, left } = await killStarter(path.join(root, 'test/queue/orphan.ts'));
		const own = ['TEST_POSTGRES_URL', 'TEST_REDIS_URL'].filter((name) => !process.env[name]);
		expect(before).toHaveLength(own.length + 1);
		expect(left).toEqual([]);
	});
});
