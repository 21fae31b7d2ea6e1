/** Contract, "When things are not as expected": what a request has held is free once it has ended. */
// Also covers uploadStream.ts, deadlines.ts.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Readable } from 'node:stream';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import { sleep, type INodeParameters } from 'n8n-workflow';

import { until } from '../../simulator/testing-client';
import { storedBinary } from '../../support/engine';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const FILE = { resource: 'transcription', operation: 'transcribeFile' };
const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://a.example/a.mp3',
};
const ACCOUNT = { resource: 'account', operation: 'get' };

/** Waits until all but the latest are free: that may still be on a stack, or on a socket. */
async function expectFree(held: Array<WeakRef<object>>): Promise<void> {
	const left = () => held.slice(0, -1).filter((ref) => ref.deref() !== undefined).length;
	for (let tries = 0; tries < 50 && left() > 0; tries++) {
		await sleep(100);
		collectGarbage();
	}
	expect(left()).toBe(0);
}

it('an upload that has ended leaves neither its recording nor the data of its execution in memory', async () => {
	const held: Array<WeakRef<object>> = [];
	const upload = async (isStored: boolean) => {
		const data = isStored
			? await storedBinary(Buffer.from('sound'), 'talk.mp3', 'audio/mpeg')
			: itemWithFile('sound').binary?.data;
		const rows = { big: ['row'] };
		const items = [{ json: { rows }, binary: data && { data } }];
		const { error } = await service.run({ ...FILE, onCompletion: 'returnTask' }, { items });
		expect(error).toBeUndefined();
		held.push(new WeakRef(rows));
	};
	for (const isStored of [true, false, true]) await upload(isStored);
	await expectFree(held);
});

it('a node that polls has no file from n8n’s database in memory', async () => {
	const held: Array<WeakRef<object>> = [];
	const files = Container.get(BinaryDataService);
	// As DatabaseManager of n8n. A spy would hold what it has returned.
	const { getAsStream, getMetadata } = files;
	files.getAsStream = async () => {
		const file = Buffer.alloc(1024, 7);
		held.push(new WeakRef(file));
		return Readable.from(file);
	};
	files.getMetadata = async () => ({ fileSize: 1024 });
	const file = { data: 'database', fileName: 'a.mp3', mimeType: 'audio/mpeg' };
	const items = [1, 2, 3].map((id) => ({
		json: {},
		binary: { data: { ...file, id: `database:${id}` } },
	}));
	try {
		const running = service.run({ ...FILE, onCompletion: 'poll' }, { items });
		await until(() => service.running().tasks().length === items.length);
		await expectFree(held);
		// Each is read once for its key, and once for its upload.
		expect(held).toHaveLength(2 * items.length);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		expect((await running).error).toBeUndefined();
	} finally {
		Object.assign(files, { getAsStream, getMetadata });
	}
});

it.each<[string, INodeParameters]>([
	['Get', ACCOUNT],
	['a link', { ...LINK, onCompletion: 'returnTask' }],
	['a file', { ...FILE, onCompletion: 'returnTask' }],
])(
	'%s that is stopped in a long pause leaves no data of its execution in memory',
	async (_, asks) => {
		const action = {
			kind: 'respond',
			status: 429,
			headers: { 'Retry-After': '100' },
			body: { detail: { message: 'Slow down' } },
		} as const;
		service
			.running()
			.fault({ match: { path: '/(transcribe|transcribe-url|account)$' }, times: 9, action });
		const held: Array<WeakRef<object>> = [];
		const stopped = async () => {
			const rows = { big: ['row'] };
			const asked = service.lines().length;
			await service.run(asks, {
				items: [{ ...itemWithFile('sound'), json: { rows } }],
				cancelWhen: () => service.lines().length > asked,
			});
			held.push(new WeakRef(rows));
		};
		for (let runs = 0; runs < 3; runs++) await stopped();
		await expectFree(held);
	},
);
