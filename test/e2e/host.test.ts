/** The host itself: nothing that it starts is left over. */
import path from 'node:path';

import { killStarter } from '../support/leftovers';
import { root } from './harness';

describe('an n8n whose starter was killed', () => {
	it('ends, and its folder is removed', async () => {
		const { before, left } = await killStarter(path.join(root, 'test/n8n/orphan.ts'));
		expect(before).toHaveLength(2);
		expect(left).toEqual([]);
	});
});
