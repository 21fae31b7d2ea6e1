/** With which Idempotency-Key a file is sent: two n8n with one account, of which both count their executions from 1. */
// Also covers idempotencyKey.ts.

import { derivedKey } from '../../../../nodes/Transcriber/submit/once/idempotencyKey';
import { itemContext } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const talk = { data: 'c291bmQ=', fileName: 'talk.mp3', mimeType: 'audio/mpeg' };

it('is another one for the same file of the same workflow in another n8n', async () => {
	const items = [{ json: {}, binary: { data: talk } }];
	const saved = () => ({ lineage: { id: 'a', firstExecution: '41', executionId: '41' } });
	const contextIn = (instanceId: string) =>
		Object.create(itemContext(FILE, { saved: saved(), items }), {
			getInstanceId: { value: () => instanceId },
		}) as ReturnType<typeof itemContext>;
	const key = await derivedKey(contextIn('one'), talk);
	expect(await derivedKey(contextIn('one'), talk)).toBe(key);
	expect(await derivedKey(contextIn('other'), talk)).not.toBe(key);
});
