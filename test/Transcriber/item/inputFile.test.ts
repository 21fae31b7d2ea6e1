import { constants } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';

import { Late } from '../../../nodes/shared/api/noUsableAnswer';
import { RETRY, TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { whileMoving } from '../../../nodes/shared/api/uploadStream';
import { until } from '../../simulator/testing-client';
import { callTool } from '../../support/agent';
import { storedBinary } from '../../support/engine';
import { failureOf, itemWithFile, serviceForTests } from '../../support/service';
import { FILE } from '../../support/parameters';
import { few, long } from '../../support/long';

const service = serviceForTests();

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

const upload = async (item: INodeExecutionData, options = {}) =>
	await service.run({ ...FILE, options }, { items: [item] });

/** An item with a file in n8n's binary store on disk. */
async function storedItem(
	content: Buffer,
	fileName = 'talk.mp3',
	mimeType = 'audio/mpeg',
): Promise<INodeExecutionData & { binary: { data: IBinaryData } }> {
	return { json: {}, binary: { data: await storedBinary(content, fileName, mimeType) } };
}

const WAYS_TO_KEEP_IT: Array<[string, typeof storedItem]> = [
	[
		'base64 in memory',
		async (content, fileName = 'talk.mp3', mimeType = 'audio/mpeg') => ({
			json: {},
			binary: { data: { data: content.toString('base64'), fileName, mimeType } },
		}),
	],
	['a file in the binary store', storedItem],
];

describe.each(WAYS_TO_KEEP_IT)('a recording that n8n keeps as %s', (_way, keep) => {
	few.it.each([1, 1000, MIB, 5 * MIB + 17])('arrives intact: %d bytes', async (bytes) => {
		const content = randomBytes(bytes);
		const { error } = await upload(await keep(content));
		expect(error).toBeUndefined();
		expect(service.sent().file).toEqual({
			field: 'file',
			name: 'talk.mp3',
			mimeType: 'audio/mpeg',
			size: bytes,
			sha256: sha256(content),
		});
	});

	it('is sent with a Content-Length that equals the body', async () => {
		await upload(await keep(randomBytes(3 * MIB)), { language: 'en', prompt: 'Анна Петрова' });
		const { headers, bodyBytes } = service.sent();
		expect(headers).not.toHaveProperty('transfer-encoding');
		expect(Number(headers['content-length'])).toBe(bodyBytes);
		expect(bodyBytes).toBeGreaterThan(3 * MIB);
	});

	few.it.each(['Встреча 17.mp3', '会議.mp3', 'naïve “quotes” & more.mp3', 'a;b=c.mp3'])(
		'keeps its name: %s',
		async (fileName) => {
			await upload(await keep(Buffer.from('sound'), fileName));
			expect(service.sent().file?.name).toBe(fileName);
			expect(Number(service.sent().headers['content-length'])).toBe(service.sent().bodyBytes);
		},
	);

	it('keeps its MIME type', async () => {
		await upload(await keep(Buffer.from('sound'), 'film.mp4', 'video/mp4'));
		expect(service.sent().file?.mimeType).toBe('video/mp4');
	});

	it('is refused when it is empty, before anything is sent', async () => {
		const { error } = await upload(await keep(Buffer.alloc(0)));
		expect(error).toMatchObject(failureOf(0, "The file in 'data' is empty"));
		expect(service.lines()).toEqual([]);
	});

	describe('when the upload breaks', () => {
		beforeEach(() => {
			jest.replaceProperty(RETRY, 'base', 1);
		});

		few.it.each([
			['the connection is cut in the middle', { kind: 'cut', when: 'midBody', afterBytes: MIB }],
			['the connection is cut before the body is read', { kind: 'cut', when: 'beforeBody' }],
			['the service is unavailable', { kind: 'respond', status: 503, readBody: true }],
		] as const)('%s: the whole file is sent again with the same key', async (_case, action) => {
			const content = randomBytes(4 * MIB);
			service.running().fault({ match: { path: '/transcribe$' }, times: 2, action });
			const { json, error } = await upload(await keep(content));
			expect(error).toBeUndefined();
			const { requests } = service.running();
			expect(requests).toHaveLength(3);
			expect(requests[2]?.file).toMatchObject({ size: 4 * MIB, sha256: sha256(content) });
			expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
			const tasks = service.running().tasks();
			expect(json).toEqual([{ task_id: tasks[0]?.id, status: 'pending' }]);
			expect(tasks).toHaveLength(1);
		});

		it('the answer is lost: the second upload finds the task of the first', async () => {
			service.running().fault({
				match: { path: '/transcribe$' },
				action: { kind: 'cut', when: 'afterProcessing' },
			});
			const { json } = await upload(await keep(randomBytes(MIB)));
			expect(service.lines()).toHaveLength(2);
			expect(service.running().tasks()).toHaveLength(1);
			expect(json).toEqual([{ task_id: service.running().tasks()[0]?.id, status: 'pending' }]);
		});
	});
});

describe('a file in memory arrives intact, however its base64 is written', () => {
	const content = randomBytes(100_001);
	const base64 = content.toString('base64');
	const inLines = (end: string) => base64.replace(/.{76}/g, `$&${end}`);

	few.it.each([
		['in lines', inLines('\n')],
		['in lines that end in CR LF, with one more at the end', `${inLines('\r\n')}\r\n`],
		['as a data URL', `data:audio/mpeg;base64,${base64}`],
		['as a data URL in lines', `data:audio/mpeg;name=talk.mp3;base64,${inLines('\n')}`],
		['URL-safe', content.toString('base64url')],
		['without padding', base64.replace(/=+$/, '')],
	])('%s', async (_form, data) => {
		const { error } = await upload({
			json: {},
			binary: { data: { data, mimeType: 'audio/mpeg' } },
		});
		expect(error).toBeUndefined();
		const { file, headers, bodyBytes } = service.sent();
		expect(file).toMatchObject({ size: content.length, sha256: sha256(content) });
		expect(Number(headers['content-length'])).toBe(bodyBytes);
	});
});

describe('a file in the binary store that is not as n8n has noted ends at once, with the reason', () => {
	const UNREADABLE = 'The file cannot be read from the storage of n8n';
	const pathOf = (item: Awaited<ReturnType<typeof storedItem>>) =>
		Container.get(BinaryDataService).getPath(item.binary.data.id ?? '');

	it.each([
		['shorter', 2 * MIB],
		['longer', 4 * MIB],
		['empty', 0],
	])('%s', async (_how, bytes) => {
		const item = await storedItem(randomBytes(3 * MIB));
		truncateSync(pathOf(item), bytes);
		const { error } = await upload(item);
		expect(error).toMatchObject(failureOf(0, UNREADABLE));
		expect(service.lines().length).toBeLessThanOrEqual(1);
		expect(service.running().tasks()).toEqual([]);
	});

	it('without a note of its size: nothing is sent, and no path of the server is shown', async () => {
		const item = await storedItem(randomBytes(1000));
		rmSync(`${pathOf(item)}.metadata`);
		const { error } = await upload(item);
		expect(error).toMatchObject(failureOf(0, UNREADABLE));
		expect(JSON.stringify([error?.message, error?.description])).not.toContain(pathOf(item));
		expect(service.lines()).toEqual([]);
	});
});

describe('an upload that hangs', () => {
	afterEach(() => jest.replaceProperty(TIMEOUTS, 'uploadIdle', 300_000));

	it('after the whole body was sent is broken off by the idle limit, and repeated', async () => {
		const idle = jest.replaceProperty(TIMEOUTS, 'uploadIdle', 300);
		jest.replaceProperty(RETRY, 'base', 1);
		service.running().fault({
			match: { path: '/transcribe$' },
			action: { kind: 'stall', readBody: true },
		});
		const uploading = upload(await storedItem(randomBytes(MIB)));
		await until(() => service.lines().length === 1);
		// The next one gets its answer, however long that takes.
		idle.restore();
		const { json } = await uploading;
		expect(json).toHaveLength(1);
		expect(service.lines()).toHaveLength(2);
		expect(service.running().tasks()).toHaveLength(1);
	});

	it('ends by the idle limit also should n8n not heed the signal', async () => {
		const never = new Promise<never>(() => {});
		const context = { getExecutionCancelSignal: () => undefined } as never;
		await expect(whileMoving(context, undefined, 50, async () => await never)).rejects.toThrow(
			Late,
		);
	});

	it('ends after a day at the latest, for which n8n’s HTTP client is asked as well', () => {
		expect(TIMEOUTS.upload).toBe(24 * 3600 * 1000);
	});
});

describe('a recording without a name', () => {
	it.each([
		['wav', 'recording.wav'],
		[undefined, 'recording.bin'],
	])('with the extension %s is sent as %s', async (fileExtension, name) => {
		const data = Buffer.from('sound').toString('base64');
		const item = { json: {}, binary: { data: { data, mimeType: 'audio/wav', fileExtension } } };
		await upload(item);
		expect(service.sent().file?.name).toBe(name);
	});
});

describe('a missing file is refused before anything is sent', () => {
	it.each([
		['no file at all', 'data', { json: {} }],
		['two files in other fields', 'data', twoFiles()],
		['a file, but not in the field that was named', 'film', itemWithFile()],
		['a field name with a typing mistake', 'dota', itemWithFile()],
		['a field name that every object has', '__proto__', itemWithFile()],
		['a field name that is a method of every object', 'toString', itemWithFile()],
	])('%s', async (_case, binaryPropertyName, item) => {
		const { error } = await service.run({ ...FILE, binaryPropertyName }, { items: [item] });
		expect(error?.name).toMatch(/^Node(Api|Operation)Error$/);
		expect(error?.message).toContain(`'${binaryPropertyName}'`);
		expect(error?.message).toMatch(/ \[item 0\]$/);
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		expect(service.lines()).toEqual([]);
	});
});

function twoFiles(): INodeExecutionData {
	const first = itemWithFile('one', { property: 'Recording_0', fileName: 'monday.mp3' });
	const second = itemWithFile('two', { property: 'Recording_1', fileName: 'tuesday.mp3' });
	return { json: {}, binary: { ...first.binary, ...second.binary } };
}

describe('which file of an item is taken', () => {
	it('the only one, under whatever name, while the field name is untouched', async () => {
		const item = itemWithFile('sound', { property: 'attachment_0', fileName: 'memo.mp3' });
		await upload(item);
		expect(service.sent().file).toMatchObject({ name: 'memo.mp3', size: 5 });
	});

	it('a field that the user has named and that is missing is refused, also if the item has one other file', async () => {
		const item = itemWithFile('sound', { property: 'attachment_0', fileName: 'memo.mp3' });
		const { error } = await service.run({ ...FILE, binaryPropertyName: 'film' }, { items: [item] });
		expect(error?.message).toBe(
			"This item has no file in 'film'. It has: 'attachment_0' (memo.mp3) [item 0]",
		);
		expect(service.lines()).toEqual([]);
	});

	it('a refusal names the fields with files that are there', async () => {
		const { error } = await service.run(FILE, { items: [twoFiles()] });
		expect(error?.message).toBe(
			"This item has no file in 'data'. It has: 'Recording_0' (monday.mp3), 'Recording_1' (tuesday.mp3) [item 0]",
		);
		expect(error?.description).toMatch(
			/all of them, put a Split Out node with \$binary.*'Input Data Field Name'/,
		);
	});

	it('items as Split Out makes them of $binary, one file each under its own name, are all sent', async () => {
		// What Split Out puts out: each file in an item, under its name (n8n-nodes-base, SplitOut.node.js).
		const files = Object.entries(twoFiles().binary ?? {});
		const items = files.map(([name, file]) => ({ json: {}, binary: { [name]: file } }));
		await service.run(FILE, { items });
		expect(service.running().tasks()).toHaveLength(2);
	});

	it('the file itself, where an expression gives that', async () => {
		const parameters = {
			...FILE,
			binaryPropertyName: '={{ $("Source").item.binary.Recording_1 }}',
		};
		await service.run(parameters, { items: [twoFiles()] });
		expect(service.sent().file?.name).toBe('tuesday.mp3');
	});

	it.each([
		['notes.txt', 'text/plain'],
		['page.html', 'text/html'],
		['contract.pdf', 'application/pdf'],
		['photo.jpg', 'image/jpeg'],
		['minutes.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
		['minutes.doc', 'application/msword'],
		['minutes.rtf', 'application/rtf'],
		['minutes.odt', 'application/vnd.oasis.opendocument.text'],
		['table.xls', 'application/vnd.ms-excel'],
		['slides.ppt', 'application/vnd.ms-powerpoint'],
		['letters.woff', 'font/woff'],
		['recordings.zip', 'application/zip'],
		['recordings.zip', 'application/x-zip-compressed'],
		['recordings.7z', 'application/x-7z-compressed'],
		['recordings.rar', 'application/x-rar-compressed'],
		['recordings.rar', 'application/vnd.rar'],
		['recordings.rar', 'application/x-rar'],
		['recordings.tar', 'application/x-tar'],
		['recordings.gz', 'application/gzip'],
		['recordings.gz', 'application/x-gzip'],
		['talk.srt', 'application/x-subrip'],
		['talk.vtt', 'text/vtt'],
		['feed.xml', 'application/rss+xml'],
		['feed.json', 'application/ld+json'],
		['talk.json', 'application/json'],
		['error.xml', 'application/xml; charset=utf-8'],
	])('%s (%s) is refused: it is no recording, and would be charged', async (fileName, mimeType) => {
		const { error } = await service.run(FILE, {
			items: [itemWithFile('x', { fileName, mimeType })],
		});
		expect(error?.message).toBe(`The file in 'data' is not a recording but ${mimeType} [item 0]`);
		expect(service.lines()).toEqual([]);
	});

	const named =
		'text log md csv tsv json xml htm html vtt ass ini yml yaml pdf doc docx xls xlsx ppt pptx jpg jpeg png eml 7z rar tar gz tgz';
	it.each([
		['talk.srt', 'application/octet-stream'],
		['recordings.zip', 'binary/octet-stream'],
		['talk.TXT', 'application/octet-stream; charset=binary'],
		...named.split(' ').map((ending) => [`file.${ending}`, 'application/octet-stream']),
	])('%s (%s, which says nothing) is refused by its name', async (fileName, mimeType) => {
		const { error } = await service.run(FILE, {
			items: [itemWithFile('x', { fileName, mimeType })],
		});
		expect(error?.message).toBe(`The file in 'data' is not a recording but '${fileName}' [item 0]`);
		expect(service.lines()).toEqual([]);
	});

	it.each([
		['talk.mp3', 'text/plain'],
		['talk', 'text/plain'],
		['talk.mp3', 'application/octet-stream'],
		['talk', 'binary/octet-stream'],
		['talk.ogg', 'application/ogg'],
		['talk.wmv', 'application/vnd.ms-asf'],
	])(
		'%s (%s) is sent: n8n says text/plain of what it does not know',
		async (fileName, mimeType) => {
			await upload(itemWithFile('x', { fileName, mimeType }));
			expect(service.lines()).toEqual(['POST /api/v1/transcribe']);
		},
	);
});

describe('an idempotency key for files', () => {
	const run = async (idempotencyKey: string, items: INodeExecutionData[], more = {}) =>
		await service.run({ ...FILE, options: { idempotencyKey } }, { items, ...more });

	it('is refused for two different files of a run, and nothing is sent', async () => {
		const { error } = await run('fixed', [itemWithFile('one'), itemWithFile('two')]);
		expect(error).toMatchObject(
			failureOf(1, "'Idempotency Key' is 'fixed' for two different files"),
		);
		expect(service.lines()).toEqual([]);
	});

	it('may be the same for the same file', async () => {
		const { json } = await run('fixed', [itemWithFile('one'), itemWithFile('one')]);
		expect(json).toHaveLength(2);
		expect(service.running().tasks()).toHaveLength(1);
	});

	it('with On Error = Continue goes with the first of two different files', async () => {
		const node = { onError: 'continueRegularOutput' };
		const { json } = await run('fixed', [itemWithFile('one'), itemWithFile('two')], { node });
		expect(json).toEqual([
			expect.objectContaining({ task_id: expect.any(String) }),
			{ error: expect.stringContaining('two different files') },
		]);
	});
});

it('a file that n8n could not read back from its database is refused, and is not read', async () => {
	const files = Container.get(BinaryDataService);
	const fileSize = constants.MAX_STRING_LENGTH / 2;
	const asked = jest.spyOn(files, 'getMetadata').mockResolvedValue({ fileSize });
	const read = jest.spyOn(files, 'getAsStream').mockClear();
	const id = 'database:1b671a64-40d5-491e-99b0-da01ff1f3341';
	const { error } = await upload({
		json: {},
		binary: { data: { id, data: 'database', mimeType: 'audio/mpeg', fileName: 'talk.mp3' } },
	});
	asked.mockRestore();
	expect(error).toMatchObject(
		failureOf(
			0,
			"The file in 'data' is larger than 256 MB, more than n8n can read back from its database",
		),
	);
	expect(read).not.toHaveBeenCalled();
	expect(service.lines()).toEqual([]);
});

describe('the limit of 8 GB', () => {
	/** A stored file that claims so many bytes and has them, without taking up space. */
	async function sparseItem(bytes: number): Promise<INodeExecutionData> {
		const item = await storedItem(Buffer.from('sound'));
		const path = Container.get(BinaryDataService).getPath(item.binary.data.id ?? '');
		truncateSync(path, bytes);
		const metadata = JSON.parse(readFileSync(`${path}.metadata`, 'utf8')) as object;
		writeFileSync(`${path}.metadata`, JSON.stringify({ ...metadata, fileSize: bytes }));
		expect(statSync(path).size).toBe(bytes);
		return item;
	}

	it.each([
		['9 GB', 9 * GIB],
		['one byte over', 8 * GIB + 1],
	])('%s: refused before anything is sent', async (_size, bytes) => {
		const { error } = await upload(await sparseItem(bytes));
		expect(error).toMatchObject(
			failureOf(0, "The file in 'data' is larger than the 8 GB the service takes"),
		);
		expect(service.lines()).toEqual([]);
	});

	it('8 GB exactly: sent', async () => {
		service.running().fault({
			match: { path: '/transcribe$' },
			action: { kind: 'respond', status: 401 },
		});
		// With an own key, the file is not read for a derived one, which would take long.
		const { error } = await upload(await sparseItem(8 * GIB), { idempotencyKey: 'file-17' });
		expect(error).toMatchObject(failureOf(0, 'The service does not accept the API key'));
		expect(Number(service.sent().headers['content-length'])).toBeGreaterThan(8 * GIB);
	});
});

describe('the file of a recording is closed', () => {
	const REFUSED = { kind: 'respond', status: 401 } as const;
	const CUT = { kind: 'cut', when: 'midBody', afterBytes: MIB } as const;

	few.it.each([
		['when the service answers before it has read it', [REFUSED]],
		['by every attempt whose connection breaks', [CUT, CUT]],
		['when it was sent', []],
	])('%s', async (_when, faults) => {
		jest.replaceProperty(RETRY, 'base', 1);
		const opened = jest.spyOn(Container.get(BinaryDataService), 'getAsStream').mockClear();
		const match = { path: '/transcribe$' };
		for (const action of faults) service.running().fault({ match, action });
		await upload(await storedItem(randomBytes(20 * MIB)));
		const files = await Promise.all(opened.mock.results.map(({ value }) => value as Readable));
		// It was read before, for its key.
		expect(files).toHaveLength(1 + service.running().requests.length);
		await until(() => files.every(({ destroyed }) => destroyed));
	});
});

describe('several recordings', () => {
	long.it('at most three are uploaded at the same time', async () => {
		service.running().fault({
			match: { path: '/transcribe$' },
			times: 7,
			action: { kind: 'slowRead', bytesPerSecond: 20 * MIB },
		});
		const items = await Promise.all(
			Array.from({ length: 7 }, async (_, index) => await storedItem(randomBytes(MIB + index))),
		);
		const { error, json } = await service.run(FILE, { items });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(7);
		expect(service.running().uploadsAtOnce).toBe(3);
	});
});

it('tells an AI agent that n8n gives no files to its tools, and which tool takes a link', async () => {
	const credentials = service.credentials();
	const [answer] = await callTool({ credentials, parameters: FILE, calls: [{}] });
	expect(answer).toMatch(/gives no files to the tools of an AI agent.*Transcribe URL/);
	expect(answer).not.toContain('step before outputs');
	expect(service.lines()).toEqual([]);
});
