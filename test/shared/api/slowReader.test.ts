/** A connection that takes the pieces of a recording slowly, and all of them for longer than the idle limit. */
// Also covers uploadStream.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import type { IExecuteSingleFunctions } from 'n8n-workflow';

import { PIECE_BYTES, Recording, whileMoving } from '../../../nodes/shared/api/uploadStream';
import { itemContext } from '../../support/itemContext';

it('each piece that is taken counts, and not only the first', async () => {
	const context = itemContext({}) as unknown as IExecuteSingleFunctions;
	const bytes = Buffer.alloc(8 * PIECE_BYTES);
	const binary = { data: bytes.toString('base64'), mimeType: 'audio/mpeg', fileName: 'talk.mp3' };
	const recording = new Recording(context.helpers, binary, bytes.length);
	const taken = await whileMoving(context, recording, 2_000, async () => {
		let count = 0;
		for await (const piece of recording.stream()) {
			count += piece.length;
			await sleep(500);
		}
		return count;
	});
	expect(taken).toBe(bytes.length);
});
