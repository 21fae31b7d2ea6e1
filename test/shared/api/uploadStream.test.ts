/** Contract, "Every request": uploads are streamed, with a known length, and have an idle limit only. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';

import type { IBinaryData, IExecuteSingleFunctions } from 'n8n-workflow';

import { Late } from '../../../nodes/shared/api/noUsableAnswer';
import {
	PIECE_BYTES,
	Recording,
	bytesOf,
	recordingIn,
	whileMoving,
} from '../../../nodes/shared/api/uploadStream';

const BYTES = Buffer.alloc(2 * PIECE_BYTES + 7, 'a');
const IN_MEMORY = { data: BYTES.toString('base64'), mimeType: 'audio/mpeg', fileName: 'talk.mp3' };
const STORED = { ...IN_MEMORY, id: 'filesystem:7' };

/** n8n's storage, which has the file as these pieces. */
function storage(pieces: Buffer[]) {
	const streams: Readable[] = [];
	const asked: unknown[] = [];
	const getBinaryStream = async (...given: unknown[]) => {
		asked.push(given);
		streams.push(Readable.from(pieces));
		return await Promise.resolve(streams.at(-1));
	};
	return { streams, asked, helpers: { getBinaryStream } as never };
}

const recording = (binary: IBinaryData, pieces: Buffer[] = [BYTES], size = BYTES.length) =>
	new Recording(storage(pieces).helpers, binary, size);

async function sent(file: Recording): Promise<number[]> {
	const lengths: number[] = [];
	for await (const piece of file.stream()) lengths.push((piece as Uint8Array).length);
	return lengths;
}

describe('A recording', () => {
	it('has the name, type and size of the file in n8n, and holds none of it', async () => {
		const file = recording(STORED);
		expect((await file.arrayBuffer()).byteLength).toBe(0);
		expect([file.name, file.type, file.size]).toEqual(['talk.mp3', 'audio/mpeg', BYTES.length]);
		expect(file.lastMoved).toBe(0);
	});

	it('that n8n holds in memory is sent in pieces, and whole', async () => {
		expect(await sent(recording(IN_MEMORY))).toEqual([PIECE_BYTES, PIECE_BYTES, 7]);
		const exact = { ...IN_MEMORY, data: BYTES.subarray(7).toString('base64') };
		expect(await sent(recording(exact, [], 2 * PIECE_BYTES))).toEqual([PIECE_BYTES, PIECE_BYTES]);
	});

	it('in the storage of n8n is read from there anew for each attempt', async () => {
		const { helpers, asked } = storage([BYTES.subarray(0, 7), BYTES.subarray(7)]);
		const file = new Recording(helpers, STORED, BYTES.length);
		const began = Date.now();
		for (const attempt of [1, 2]) {
			expect([attempt, await sent(file)]).toEqual([attempt, [7, BYTES.length - 7]]);
		}
		expect(asked).toEqual([
			['filesystem:7', PIECE_BYTES],
			['filesystem:7', PIECE_BYTES],
		]);
		expect(file.lastMoved).toBeGreaterThanOrEqual(began);
	});

	it.each([
		['longer', BYTES.length - 1],
		['shorter', BYTES.length + 1],
	])('that is %s than n8n says is not sent as if it was whole', async (_, size) => {
		await expect(sent(recording(STORED, [BYTES], size))).rejects.toMatchObject({ code: 'EIO' });
	});

	it.each([
		['that S3 breaks off', 'ECONNRESET', 'ESTORAGE'],
		['whose storage does not answer', 'ETIMEDOUT', 'ESTORAGE'],
		['of a network drive that is gone', 'ESTALE', 'ESTORAGE'],
		['that is no longer there', 'ENOENT', 'ENOENT'],
	])('%s (%s) fails with the code %s', async (_, code, expected) => {
		const helpers = {
			getBinaryStream: async () => {
				return Readable.from(
					(async function* () {
						yield BYTES;
						throw Object.assign(new Error('aborted'), { code });
					})(),
				);
			},
		};
		const file = new Recording(helpers as never, STORED, 2 * BYTES.length);
		await expect(sent(file)).rejects.toMatchObject({ code: expected });
	});

	it('whose upload has ended is closed, and that is no wrong length', async () => {
		const { helpers, streams } = storage([BYTES, BYTES]);
		const file = new Recording(helpers, STORED, 2 * BYTES.length);
		const reader = file.stream().getReader();
		await reader.read();
		file.close();
		expect(streams[0]?.destroyed).toBe(true);
		// One that is opened after its end is closed at once.
		const late = file.stream();
		file.close();
		await late
			.getReader()
			.read()
			.catch(() => undefined);
		expect(streams[1]?.destroyed).toBe(true);
	});
});

it.each([
	['with line breaks', 'aGVs\nbG8='],
	['URL-safe', 'aGVsbG8'],
	['of a data URL', 'data:audio/mpeg;base64,aGVsbG8='],
	['of a data URL after blanks', ' \n data:audio/mpeg;base64,aGVsbG8='],
])('A base64 text %s is read', (_, data) => {
	expect(bytesOf(data).toString()).toBe('hello');
});

describe('The recording in a form', () => {
	it('is found, and nothing else is taken for it', () => {
		const file = recording(STORED);
		const form = new FormData();
		expect([recordingIn(form), recordingIn({ file }), recordingIn(undefined)]).toEqual([
			undefined,
			undefined,
			undefined,
		]);
		form.set('file', 'text');
		expect(recordingIn(form)).toBeUndefined();
		form.set('file', file);
		expect(recordingIn(form)).toBe(file);
	});
});

describe('While a request is sent', () => {
	const context = (stop?: AbortSignal) =>
		({ getExecutionCancelSignal: () => stop }) as unknown as IExecuteSingleFunctions;
	const never = async () => await new Promise<never>(() => undefined);

	it('its answer is the outcome, and so is its failure', async () => {
		const answer = whileMoving(context(), undefined, 1000, async () => await Promise.resolve(7));
		expect(await answer).toBe(7);
		const failing = async () => await Promise.reject(new Error('cut'));
		await expect(whileMoving(context(), undefined, 1000, failing)).rejects.toThrow('cut');
	});

	it('it ends after the idle time without a sign of life', async () => {
		const began = Date.now();
		await expect(whileMoving(context(), undefined, 15, never)).rejects.toBeInstanceOf(Late);
		expect(Date.now() - began).toBeGreaterThanOrEqual(14);
	});

	it('it takes as long as it wants, as long as the recording moves; then the recording is closed', async () => {
		const { helpers, streams } = storage([BYTES, BYTES]);
		const file = new Recording(helpers, STORED, 2 * BYTES.length);
		await file.stream().getReader().read();
		const slow = async () => {
			for (let part = 0; part < 4; part++) {
				file.lastMoved = Date.now();
				await sleep(300);
			}
			return 'sent';
		};
		expect(await whileMoving(context(), file, 1_000, slow)).toBe('sent');
		expect(streams[0]?.destroyed).toBe(true);
	});

	it('the execution that is cancelled ends it at once, and n8n gets the reason', async () => {
		const stop = new AbortController();
		let told: AbortSignal | undefined;
		const sending = whileMoving(context(stop.signal), undefined, 60_000, async (watched) => {
			told = watched.getExecutionCancelSignal();
			return await never();
		});
		stop.abort(new Error('stopped'));
		await expect(sending).rejects.toThrow('stopped');
		expect(told?.aborted).toBe(true);
	});

	it('its signal is left alone once it has ended', async () => {
		let signal: AbortSignal | undefined;
		await whileMoving(context(), undefined, 15, async (watched) => {
			signal = watched.getExecutionCancelSignal();
			await Promise.resolve();
		});
		await sleep(40);
		expect(signal?.aborted).toBe(false);
	});
});
