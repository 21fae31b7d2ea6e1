/** Which stored file is the same recording as another one. */
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData } from 'n8n-workflow';

import { TIMEOUTS } from '../../../../nodes/shared/api/delayBeforeRetry';
import { beginningOf, isSameFile } from '../../../../nodes/Transcriber/submit/once/sameFile';
import { storedBinary } from '../../../support/engine';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const stored = async (content: string) =>
	await storedBinary(Buffer.from(content), 'talk.mp3', 'audio/mpeg');
const isSame = async (file: IBinaryData, { id = '' }: IBinaryData, place?: ItemPlace) =>
	await isSameFile(itemContext(FILE, place), file, id);

const storage = Container.get(BinaryDataService);
const reads = () => jest.spyOn(storage, 'getAsStream');
it('A file is the same as a copy of it, and another than one of the same size', async () => {
	const file = await stored('sound');
	expect(await isSame(file, await stored('sound'))).toBe(true);
	expect(await isSame(file, await stored('noise'))).toBe(false);
});

it('A file is the same as itself after n8n has moved it, and is not read', async () => {
	const read = reads();
	const file = await stored('sound');
	const moved = file.id?.replace('/executions/1/', '/executions/2/');
	expect(moved).not.toBe(file.id);
	expect(await isSame(file, { ...file, id: moved })).toBe(true);
	expect(read).not.toHaveBeenCalled();
});

it('A file of another size is another one, which is not read', async () => {
	const read = reads();
	expect(await isSame(await stored('sound'), await stored('silence'))).toBe(false);
	expect(read).not.toHaveBeenCalled();
});

it('A file that n8n keeps in memory is another one than a stored file', async () => {
	const file = { data: 'c291bmQ=', mimeType: 'audio/mpeg' };
	expect(await isSame(file, await stored('sound'))).toBe(false);
});

it('A file that is gone is another one', async () => {
	const gone = { ...(await stored('sound')), id: 'filesystem-v2:gone' };
	expect(await isSame(await stored('sound'), gone)).toBe(false);
});

it('Two files that cannot be read are not the same, although nothing tells them apart', async () => {
	const read = reads().mockRejectedValue(new Error('The storage broke'));
	expect(await isSame(await stored('sound'), await stored('sound'))).toBe(false);
	expect(read).toHaveBeenCalled();
});

it('A file that n8n could not read back from its database has no known beginning, and is not read', async () => {
	const read = reads();
	jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 300 * 1024 ** 2 });
	const file = { id: 'database:0000', data: 'database', mimeType: 'audio/mpeg' };
	expect(await beginningOf(itemContext(FILE), file)).toBeUndefined();
	expect(read).not.toHaveBeenCalled();
});

it('A file is another one if only one of the two can be read without harm to the database of n8n', async () => {
	const read = reads();
	jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 300 * 1024 ** 2 });
	const file = await stored('sound');
	expect(await isSame(file, { ...file, id: 'database:0000' })).toBe(false);
	expect(read).not.toHaveBeenCalled();
});

it('After the comparison both files are closed, and the execution holds on to none of them', async () => {
	const read = reads();
	const { signal } = new AbortController();
	await isSame(await stored('sound'), await stored('noise'), { cancel: signal });
	const files = await Promise.all(read.mock.results.map(({ value }) => value as Promise<unknown>));
	expect(files).toMatchObject([{ destroyed: true }, { destroyed: true }]);
	expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('An execution that is cancelled reads no file, and the cancellation is what it ends with', async () => {
	const cancel = AbortSignal.abort(new Error('The execution was cancelled'));
	const files = [await stored('sound'), await stored('noise')] as const;
	await expect(isSame(...files, { cancel })).rejects.toThrow('The execution was cancelled');
});

it('A cancellation ends a comparison also if the storage stands still', async () => {
	const standing = new Readable({ read: () => {} });
	const read = reads().mockResolvedValue(standing);
	const cancel = new AbortController();
	const files = [await stored('sound'), await stored('noise')] as const;
	const comparing = isSame(...files, { cancel: cancel.signal });
	comparing.catch(() => {});
	while (read.mock.calls.length === 0) await new Promise(setImmediate);
	cancel.abort(new Error('The execution was cancelled'));
	await expect(comparing).rejects.toThrow('The execution was cancelled');
	expect(standing.destroyed).toBe(true);
});

it.each([
	[
		"n8n's database, which holds a file in memory, only one is open at a time",
		'database:',
		{ items: 1, executions: 1 },
	],
	[
		'other storages, ten items of an execution are open at a time, and no execution waits for another',
		'',
		{ items: 10, executions: 2 },
	],
])('Of many files of %s', async (_what, prefix, expected) => {
	const open = new Map<Readable, string>();
	const most = { items: 0, executions: 0 };
	jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 5 });
	reads().mockImplementation(async (id) => {
		const file = Readable.from([Buffer.from(id.slice(-5))]);
		open.set(file, id.slice(-5, -2));
		file.once('close', () => open.delete(file));
		const executions = [...open.values()];
		const items = executions.filter((execution) => execution === executions[0]).length;
		most.items = Math.max(most.items, items);
		most.executions = Math.max(most.executions, new Set(executions).size);
		return await Promise.resolve(file);
	});
	const hashes = ['041', '042'].flatMap((executionId) =>
		Array.from({ length: 30 }, async (_each, itemIndex) => {
			const id = `${prefix}${executionId}${String(itemIndex).padStart(2, '0')}`;
			const items = Array.from({ length: 30 }, () => ({ json: {} }));
			const context = itemContext(FILE, { executionId, itemIndex, items });
			return await beginningOf(context, { id, data: '', mimeType: 'audio/mpeg' });
		}),
	);
	expect(new Set(await Promise.all(hashes)).size).toBe(60);
	expect(most).toEqual(expected);
});

it('A file of a database that stands still has no known beginning, and the next one is read', async () => {
	jest.replaceProperty(TIMEOUTS, 'uploadIdle', 50);
	jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 5 });
	reads()
		.mockResolvedValueOnce(new Readable({ read: () => {} }))
		.mockResolvedValueOnce(Readable.from([Buffer.from('noise')]));
	const beginnings = ['database:1', 'database:2'].map(
		async (id) => await beginningOf(itemContext(FILE), { id, data: '', mimeType: 'audio/mpeg' }),
	);
	expect(await Promise.all(beginnings)).toEqual([undefined, expect.any(String)]);
});

it('A cancelled execution does not wait for the files of others', async () => {
	const standing = new Readable({ read: () => {} });
	const read = reads().mockResolvedValueOnce(standing);
	jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 5 });
	const file = (id: string) => ({ id: `database:${id}`, data: '', mimeType: 'audio/mpeg' });
	const cancel = new AbortController();
	const before = beginningOf(itemContext(FILE), file('1'));
	while (read.mock.calls.length === 0) await new Promise(setImmediate);
	const waiting = beginningOf(itemContext(FILE, { cancel: cancel.signal }), file('2'));
	waiting.catch(() => {});
	for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
	cancel.abort(new Error('The execution was cancelled'));
	await expect(waiting).rejects.toThrow('The execution was cancelled');
	standing.destroy(new Error('The storage broke'));
	expect(await before).toBeUndefined();
	expect(read).toHaveBeenCalledTimes(1);
});

describe('Of a recording that is longer than 64 MB', () => {
	const MIB = 1024 * 1024;
	const long = async (length: number, change?: number) => {
		const bytes = Buffer.alloc(length, 'sound');
		if (change !== undefined) bytes[change] = 0;
		return await storedBinary(bytes, 'talk.wav', 'audio/wav');
	};
	const of = async (file: IBinaryData) => await beginningOf(itemContext(FILE), file);

	it('only so much is read, and the file is closed', async () => {
		const read = reads();
		await of(await long(80 * MIB));
		const [file] = await Promise.all(
			read.mock.results.map(({ value }) => value as Promise<Readable>),
		);
		expect(file?.destroyed).toBe(true);
		expect((file as unknown as { bytesRead: number }).bytesRead).toBeLessThan(66 * MIB);
	});

	it('the beginning tells what is in the first 64 MB, and how long it is', async () => {
		const beginning = await of(await long(66 * MIB));
		expect(await of(await long(66 * MIB))).toBe(beginning);
		expect(await of(await long(66 * MIB, 64 * MIB - 1))).not.toBe(beginning);
		expect(await of(await long(66 * MIB + 1))).not.toBe(beginning);
		expect(await of(await long(66 * MIB, 64 * MIB))).toBe(beginning);
	}, 120_000);

	it('the whole is compared, where two files are', async () => {
		const file = await long(66 * MIB);
		expect(await isSame(file, await long(66 * MIB, 65 * MIB))).toBe(false);
		expect(await isSame(file, await long(66 * MIB))).toBe(true);
	}, 120_000);
});
