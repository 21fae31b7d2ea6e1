/** A file that was downloaded again, in a run that the failure of another item has stopped. */
// Also covers refuseChangedItem.ts.

import { Abandoned } from '../../../../nodes/Transcriber/item/nodeRun';
import { keyOfDownloadedAgain } from '../../../../nodes/Transcriber/submit/once/refuseChangedItem';
import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { storedBinary } from '../../../support/engine';
import { itemContext } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

it('is not read to see whether it is the one that was sent', async () => {
	const talk = await storedBinary(Buffer.from('sound'), 'talk.mp3', 'audio/mpeg');
	const context = itemContext(FILE, { items: [{ json: {}, binary: { data: talk } }] });
	remember(context, { state: 'sent', key: 'k', file: 'other', settings: 's', fingerprint: 'f' });
	const stop = new Abandoned();
	const key = keyOfDownloadedAgain(context, talk, AbortSignal.abort(stop));
	await expect(key).rejects.toBe(stop);
});
