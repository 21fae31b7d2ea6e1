/** A file that a step before the node downloads: n8n stores it under another id each time. */
// Also covers once/idempotencyKey.ts, once/refuseChangedItem.ts.
import { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INodeExecutionData, INodeParameters, WorkflowExecuteMode } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { until } from '../../simulator/testing-client';
import { again, besides } from '../../support/again';
import { storedBinary } from '../../support/engine';
import { MADE_UP } from '../../support/madeUpRuns';
import { shortenRetries } from '../../support/scale';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

const FILE = { resource: 'transcription', operation: 'transcribeFile', onCompletion: 'returnTask' };

const downloaded = async (executionId: string, content = 'sound'): Promise<INodeExecutionData> => ({
	json: {},
	binary: { data: await storedBinary(Buffer.from(content), 'talk.mp3', 'audio/mpeg', executionId) },
});

/** What n8n 2 saves before an execution runs, so that its Retries have it. n8n 1 has none. */
let resumeToken = '';
beforeEach(() => {
	resumeToken = `token ${Math.random()}`;
});

const first = async (executionId: string, content?: string, more: INodeParameters = {}) =>
	await service.run(
		{ ...FILE, ...more },
		{ items: [await downloaded(executionId, content)], executionId, mode: 'trigger', resumeToken },
	);

/** A Retry of an execution of which n8n has saved nothing of the node. */
const retry = async (executionId: string, content?: string, more: INodeParameters = {}) =>
	await service.run(
		{ ...FILE, ...more },
		{ items: [await downloaded(executionId, content)], executionId, mode: 'retry', resumeToken },
	);

const taskIds = () =>
	service
		.running()
		.tasks()
		.map(({ id }) => id);

it('is paid once if n8n 2 is killed after the submit, and its Retry downloads the file again', async () => {
	await first('41');
	const { json } = await retry('42');
	expect(json).toMatchObject([{ task_id: taskIds()[0] }]);
	expect(taskIds()).toHaveLength(1);
});

it.each(['begun', 'ended'] as const)(
	'is paid once if n8n has made up a run of the node that had %s before it was killed',
	async (madeUp) => {
		await first('41');
		const items = [await downloaded('42')];
		const data = besides(items, FILE, items);
		data.resultData.runData.Transcriber = [MADE_UP[madeUp]];
		await service.run(FILE, { data, executionId: '42', mode: 'retry', resumeToken });
		expect(taskIds()).toHaveLength(1);
	},
);

it('is paid once if n8n 2 is killed in the second round of a loop', async () => {
	const round = async () => await first('41');
	const saved = await round();
	const second = async (executionId: string, mode: WorkflowExecuteMode) =>
		await service.run(FILE, {
			data: again(structuredClone(saved), FILE, [await downloaded(executionId, 'part two')]),
			...{ executionId, mode, resumeToken },
		});
	await second('41', 'trigger');
	await second('42', 'retry');
	expect(taskIds()).toHaveLength(2);
});

it('is paid once if the worker of n8n 1 dies, and n8n runs the same execution again', async () => {
	resumeToken = '';
	await first('41');
	await first('41');
	expect(taskIds()).toHaveLength(1);
});

it.each<[string, string, INodeParameters]>([
	['the file is another one by then', 'noise', {}],
	['the user wants another language by then', 'sound', { language: 'en' }],
])('is submitted by a Retry after a crash if %s', async (_what, content, more) => {
	await first('41');
	await retry('42', content, more);
	expect(taskIds()).toHaveLength(2);
});

it('is taken up by a second Retry of an execution that failed before the node', async () => {
	const { json } = await retry('42');
	const again = await retry('43');
	expect(again.error?.message).toBeUndefined();
	expect(again.json).toEqual(json);
	expect(taskIds()).toHaveLength(1);
});

it.each(['={{ $execution.id }}', 'mine'])(
	'is paid once by two Retries at the same time, which read it before either has sent it, with the key %s',
	async (idempotencyKey) => {
		const mine = { ...FILE, options: { idempotencyKey } };
		const items = [await downloaded('41')];
		const action = { kind: 'respond', status: 401 } as const;
		service.running().fault({ match: { method: 'POST' }, action, times: 1 });
		const failed = await service.run(mine, { items, executionId: '41', resumeToken });
		expect(failed.error?.message).toContain('API key');
		const storage = Container.get(BinaryDataService);
		const { getAsStream } = storage;
		const bothRead = new Promise<void>((resolve) => {
			jest.spyOn(storage, 'getAsStream').mockImplementation(async (...given) => {
				if (jest.mocked(storage.getAsStream).mock.calls.length === 2) resolve();
				await bothRead;
				return await getAsStream.apply(storage, given);
			});
		});
		const retries = ['42', '43'].map(async (executionId) => {
			const data = again(structuredClone(failed), mine, items, { asFirstRun: true });
			return await service.run(mine, { data, executionId, mode: 'retry' });
		});
		const [one, other] = await Promise.all(retries);
		jest.mocked(storage.getAsStream).mockRestore();
		expect(one?.json).toEqual(other?.json);
		expect(taskIds()).toHaveLength(1);
	},
);

it('is not read again by Retry On Fail, so that nothing hides that its answer was lost', async () => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	const mine = { ...FILE, options: { idempotencyKey: '={{ $execution.id }}' } };
	const items = [await downloaded('41')];
	const action = { kind: 'cut', when: 'afterProcessing' } as const;
	service.running().fault({ match: { method: 'POST' }, action, times: 1 });
	const failed = await service.run(mine, { items, executionId: '41', resumeToken });
	expect(failed.error?.description).toContain('If the service has accepted it');
	const read = jest.spyOn(Container.get(BinaryDataService), 'getAsStream');
	const data = again(structuredClone(failed), mine, items, { asFirstRun: true });
	const { json } = await service.run(mine, { data, executionId: '41' });
	// For the upload.
	expect(read).toHaveBeenCalledTimes(1);
	read.mockRestore();
	expect(json).toMatchObject([{ task_id: taskIds()[0] }]);
	expect(taskIds()).toHaveLength(1);
});

const KEYS_OF_USER = ['mine', 'Совещание 12 мая.mp3', '={{ $execution.id }}', '={{ $now }}'];

describe.each(KEYS_OF_USER)('that was sent with a key of the user: %s', (idempotencyKey) => {
	const mine = { options: { idempotencyKey } };

	it('is taken up by that Retry', async () => {
		const { json } = await retry('42', 'sound', mine);
		const again = await retry('43', 'sound', mine);
		expect(again.error?.message).toBeUndefined();
		expect(again.json).toEqual(json);
		expect(taskIds()).toHaveLength(1);
	});

	it.each<[string, string, INodeParameters]>([
		['is another file', 'noise', {}],
		['is to have another language', 'sound', { language: 'en' }],
	])('is refused in that Retry if it %s', async (_what, content, more) => {
		await retry('42', 'sound', mine);
		const { error } = await retry('43', content, { ...mine, ...more });
		expect(error?.message).toContain('This item was changed after task');
		expect(taskIds()).toHaveLength(1);
	});

	describe('and whose answer was lost', () => {
		beforeEach(async () => {
			shortenRetries(500);
			jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
			const action = { kind: 'cut', when: 'afterProcessing' } as const;
			service.running().fault({ match: { method: 'POST' }, action, times: 1 });
			await retry('42', 'sound', mine);
		});

		it.each<[string, INodeParameters]>([
			['with its key', mine],
			['also if the user has taken the key away', {}],
			['also if the user has given another key', { options: { idempotencyKey: 'another' } }],
		])('is sent with the same key by the second Retry, %s', async (_what, more) => {
			const { json, error } = await retry('43', 'sound', more);
			expect(error?.message).toBeUndefined();
			expect(json).toMatchObject([{ task_id: taskIds()[0] }]);
			expect(taskIds()).toHaveLength(1);
			// What the second has got, the third finds.
			expect((await retry('44', 'sound', more)).json).toEqual(json);
			expect(taskIds()).toHaveLength(1);
		});

		it('is refused by it if it asks for something else', async () => {
			const { error } = await retry('43', 'sound', { ...mine, language: 'en' });
			expect(error?.message).toContain('This item was changed after it had been sent');
			expect(taskIds()).toHaveLength(1);
		});

		it('does not stand for another file', async () => {
			const { error, json } = await retry('43', 'noise', mine);
			// With the id of the execution or the time in it, the key is a new one.
			if (idempotencyKey.includes('$')) {
				expect(json).toMatchObject([{ task_id: expect.any(String) }]);
				expect(taskIds()).toHaveLength(2);
			} else {
				expect(error?.message).toContain('The file is another one than the one that was sent');
				expect(error?.description).toContain('in a new execution with the same key');
				expect(taskIds()).toHaveLength(1);
			}
		});
	});
});

it('is taken up by that Retry also if the user has given it a key since', async () => {
	const { json } = await retry('42');
	const again = await retry('43', 'sound', { options: { idempotencyKey: 'mine' } });
	expect(again.error?.message).toBeUndefined();
	expect(again.json).toEqual(json);
	expect(taskIds()).toHaveLength(1);
});

it('is refused in that Retry if it is another file by then', async () => {
	await retry('42');
	const { error } = await retry('43', 'noise');
	expect(error?.message).toContain('This item was changed after task');
	expect(taskIds()).toHaveLength(1);
});

it('is not read any more when a failure of another item has stopped the node', async () => {
	const storage = Container.get(BinaryDataService);
	const { getAsStream } = storage;
	const standing: Readable[] = [];
	const read = jest.spyOn(storage, 'getAsStream').mockImplementation(async (...given) => {
		if (![2, 3, 4].includes(read.mock.calls.length)) return await getAsStream.apply(storage, given);
		standing.push(new Readable({ read: () => {} }));
		return standing.at(-1) as Readable;
	});
	const action = { kind: 'respond', status: 401 } as const;
	service.running().fault({ match: { method: 'POST' }, action });
	const contents = ['first', 'second', 'third', 'fourth'];
	const items = await Promise.all(contents.map((content) => downloaded('41', content)));
	const { error } = await service.run(FILE, { items });
	expect(error?.message).toContain('does not accept the API key');
	await until(() => standing.length === 3 && standing.every(({ destroyed }) => destroyed));
	// The first also for its upload.
	expect(read).toHaveBeenCalledTimes(5);
	read.mockRestore();
});

describe('whose answer was lost in the first Retry', () => {
	beforeEach(async () => {
		shortenRetries(500);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		const action = { kind: 'cut', when: 'afterProcessing' } as const;
		service.running().fault({ match: { method: 'POST' }, action, times: 1 });
		const { error } = await retry('42');
		expect(error?.description).toContain('If the service has accepted it');
	});

	it('is sent with the same key by the second', async () => {
		const { json } = await retry('43');
		expect(json).toMatchObject([{ task_id: taskIds()[0] }]);
		expect(taskIds()).toHaveLength(1);
	});

	it('is sent with the same key by the second, also if the user has given it an own one', async () => {
		const mine = { options: { idempotencyKey: 'mine' } };
		await retry('43', 'sound', mine);
		const third = await retry('44', 'sound', mine);
		expect(third.error?.message).toBeUndefined();
		expect(taskIds()).toHaveLength(1);
	});

	it('names only a Retry as free where the key that the user has given since was not sent', async () => {
		const action = { kind: 'cut', when: 'afterProcessing' } as const;
		service.running().fault({ match: { method: 'POST' }, action, times: 1 });
		const { error } = await retry('43', 'sound', { options: { idempotencyKey: 'mine' } });
		expect(error?.description).toContain('a Retry of this execution goes on with it');
		expect(error?.description).not.toContain('With the same');
	});

	it('is refused by the second if it asks for something else', async () => {
		const { error } = await retry('43', 'sound', { language: 'en' });
		expect(error?.message).toContain('This item was changed after it had been sent');
		expect(taskIds()).toHaveLength(1);
	});

	it('is another recording in the second, which asks for something else: it is submitted', async () => {
		const { error } = await retry('43', 'noise', { language: 'en' });
		expect(error?.message).toBeUndefined();
		expect(taskIds()).toHaveLength(2);
	});
});
