/** A file that came in through a webhook or a form: n8n renames it when its execution ends. */
// Also covers submit.ts.
import { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { storedBinary } from '../../support/engine';
import { shortenRetries } from '../../support/scale';
import { serviceForTests } from '../../support/service';
import { workflowWith, type Ended } from '../../support/suspended';

const service = serviceForTests();

const FILE = { resource: 'transcription', operation: 'transcribeFile' };
const BRIEFLY = { onCompletion: 'poll', waitOptions: { pollInterval: 0.05, timeout: 0.04 } };
const RETURN = { onCompletion: 'returnTask' };

const received = async (content: string | Buffer = 'sound'): Promise<INodeExecutionData> => ({
	json: {},
	binary: { data: await storedBinary(Buffer.from(content), 'talk.mp3', 'audio/mpeg', '') },
});

const workflow = (parameters: INodeParameters) =>
	workflowWith({ ...FILE, ...parameters }, service.credentials());

const fileIn = ({ data }: Ended) =>
	data.resultData.runData['Source']?.[0]?.data?.main?.[0]?.[0]?.binary?.data?.id;

const submits = () => service.running().requests.filter(({ method }) => method === 'POST');

const keys = () => new Set(submits().map(({ headers }) => headers['idempotency-key']));

it('is continued in a Retry after a timeout', async () => {
	const item = await received();
	const before = item.binary?.data?.id;
	const { start, retry } = workflow(BRIEFLY);
	const failed = await start([item]);
	expect(failed.error).toContain('has not ended');
	expect(before).toContain('/temp/');
	expect(fileIn(failed)).toBe(before?.replace('/temp/', `/${failed.executionId}/`));
	for (const { id } of service.running().tasks()) service.running().finish(id);
	const { error, next } = await retry(failed);
	expect(error).toBeUndefined();
	expect(next).toMatchObject([{ task_id: service.running().tasks()[0]?.id, status: 'completed' }]);
	expect(service.running().tasks()).toHaveLength(1);
});

it.each<[string, INodeParameters]>([
	['a derived key', {}],
	['an own key', { options: { idempotencyKey: 'file-17' } }],
])('with %s is paid once if the answer was lost', async (_key, parameters) => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'cut', when: 'afterProcessing' },
		times: 1,
	});
	const { start, retry } = workflow({ ...RETURN, ...parameters });
	const failed = await start([await received()]);
	expect(failed.error).toBeDefined();
	const { error, next } = await retry(failed);
	expect(error).toBeUndefined();
	expect(next).toHaveLength(1);
	expect([submits().length, keys().size]).toEqual([2, 1]);
	expect(service.running().tasks()).toHaveLength(1);
});

it('with an own key is sent by a Retry after a refusal', async () => {
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'respond', status: 401 },
		times: 1,
	});
	const { start, retry } = workflow({ ...RETURN, options: { idempotencyKey: 'file-17' } });
	const failed = await start([await received()]);
	expect(failed.error).toContain('does not accept the API key');
	const { error, next } = await retry(failed);
	expect(error).toBeUndefined();
	expect(next).toHaveLength(1);
});

describe('with an own key', () => {
	const OWN = { ...RETURN, options: { idempotencyKey: 'file-17' } };

	it('is the same file as another copy of it', async () => {
		const { start } = workflow(OWN);
		const { error, next } = await start([await received(), await received()]);
		expect(error).toBeUndefined();
		expect(next).toHaveLength(2);
		expect(service.running().tasks()).toHaveLength(1);
	});

	it('is another file than one of the same name and size', async () => {
		const { start } = workflow(OWN);
		const { error } = await start([await received('one'), await received('two')]);
		expect(error).toContain('for two different files');
		expect(submits()).toEqual([]);
	});

	it('is not compared if reading it would break the database connection of n8n', async () => {
		const items = [await received(), await received()];
		for (const [number, { binary }] of items.entries()) {
			if (binary?.data) binary.data.id = `database:0000-${number}`;
		}
		const storage = Container.get(BinaryDataService);
		jest.spyOn(storage, 'getMetadata').mockResolvedValue({ fileSize: 300 * 1024 ** 2 });
		const read = jest.spyOn(storage, 'getAsStream');
		const { error } = await service.run({ ...FILE, ...OWN }, { items });
		expect(error).toBeDefined();
		expect(read).not.toHaveBeenCalled();
	});

	it('of which the connection to the storage breaks, such as S3, is no fault of the service', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 300);
		const read = jest
			.spyOn(Container.get(BinaryDataService), 'getAsStream')
			.mockImplementation(async () => {
				const pieces = async function* () {
					yield await Promise.resolve(Buffer.alloc(256 * 1024));
					throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
				};
				return await Promise.resolve(Readable.from(pieces()));
			});
		const { error } = await service.run(FILE, { items: [await received(Buffer.alloc(2 ** 20))] });
		expect(read.mock.calls.length).toBeGreaterThan(1);
		expect(error?.message).toMatch(/^The connection of n8n to its own storage broke/);
		expect(error?.description).not.toContain('service');
	});

	it('of which the storage does not even tell the size, because its connection breaks, names the storage', async () => {
		const items = [await received()];
		jest
			.spyOn(Container.get(BinaryDataService), 'getMetadata')
			.mockRejectedValue(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
		const { error } = await service.run(FILE, { items });
		expect(error?.message).toMatch(/^The connection of n8n to its own storage broke/);
		expect(submits()).toEqual([]);
	});

	it('is no longer compared when the execution is cancelled, even if the storage stands still', async () => {
		const items = [await received(), await received()];
		const files: Readable[] = [];
		jest.spyOn(Container.get(BinaryDataService), 'getAsStream').mockImplementation(async () => {
			const file = new Readable({ read: () => {} });
			files.push(file);
			return await Promise.resolve(file);
		});
		await service.run({ ...FILE, ...OWN }, { items, cancelWhen: () => files.length > 0 });
		expect(files.map(({ destroyed }) => destroyed)).toEqual([true]);
		expect(submits()).toEqual([]);
	});
});
