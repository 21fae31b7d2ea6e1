/**
 * Tasks that count as ended, and then are not: one that has failed, and that the service runs again, and one of
 * which nobody knew at publication whether it had ended.
 */
// Also covers taskHashes.ts, unclearWords.ts.

import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { AccountHost } from './host';
import { atLength, few } from '../support/long';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(60_000);

const { list, state } = listForTests();

const COMPLETED = ['transcriptCompleted'];

async function active(events: string[], isOldestFirst = false): Promise<AccountHost> {
	Object.assign(list(), { isOldestFirst, pageLength: 20 });
	list().add(atLength(70, 30));
	const options = { includeResult: false };
	const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' }, { events, options });
	await host.activate();
	await host.polls(3);
	return host;
}

function say(id: string, status: string): void {
	for (const task of list().tasks) if (task.task_id === id) task.status = status;
}

/** A task that the trigger has seen in progress and then failed. */
async function failedTask(host: AccountHost, failure = 'failed'): Promise<string> {
	const [id = ''] = list().add(1);
	for (const status of ['processing', failure]) {
		say(id, status);
		await host.polls(2);
	}
	return id;
}

few.describe.each([false, true])(
	'with Transcript Completed alone (oldest first: %s)',
	(isOldest) => {
		few.it.each<[string, string[]]>([
			['failed', []],
			['cancelled', ['processing', 'failed', 'pending']],
		])('%s, then %j, then completed: starts it once', async (failure, between) => {
			const host = await active(COMPLETED, isOldest);
			const id = await failedTask(host, failure);
			const others = list().add(atLength(50, 30));
			await host.polls(4);
			for (const status of [...between, 'completed', 'failed', 'completed']) {
				say(id, status);
				await host.polls(status === 'completed' ? atLength(8, 4) : 2);
			}
			expect(await allStarted(host)).toEqual([id, ...others].sort());
			expect(host.executions.flat().map(({ json }) => json.status)).not.toContain('failed');
		});
	},
);

it('also after a restart, and with a new version that wants failures too', async () => {
	const host = await active(COMPLETED);
	const id = await failedTask(host);
	// n8n saves the state when something starts the workflow.
	const others = list().add(1);
	await host.poll();
	host.node.parameters.events = ['transcriptCompleted', 'transcriptFailed'];
	await host.restart();
	say(id, 'completed');
	expect(await allStarted(host)).toEqual([id, ...others].sort());
});

it('with both events, the failure has started it, and the transcript does not start it again', async () => {
	const host = await active(['transcriptCompleted', 'transcriptFailed']);
	const id = await failedTask(host);
	for (const status of ['processing', 'completed']) {
		say(id, status);
		await host.polls(3);
	}
	expect(host.started).toEqual([id]);
});

it('a task that the user does not want although it is completed never starts it', async () => {
	const host = await active(['transcriptFailed']);
	const [id = ''] = list().add(1);
	await host.polls(2);
	host.node.parameters.events = ['transcriptCompleted', 'transcriptFailed'];
	await host.activate('update');
	say(id, 'completed');
	await host.polls(5);
	expect(host.started).toEqual([]);
});

it('a poll makes no request more for it, and remembers a bounded number', async () => {
	jest.replaceProperty(ACCOUNT_MEMORY, 'failed', 3);
	const host = await active(COMPLETED);
	const polled = async () => {
		await host.polls(atLength(4, 2));
		list().requests = 0;
		await host.polls(atLength(8, 4));
		return list().requests;
	};
	const before = await polled();
	const ids: string[] = [];
	for (let count = 0; count < 4; count++) ids.push(await failedTask(host));
	expect(await polled()).toBe(before);
	const others = list().add(1);
	await host.poll();
	expect(String(state(host).failed)).toHaveLength(3 * 8);
	for (const id of ids) say(id, 'completed');
	expect(await allStarted(host)).toEqual([...ids.slice(1), ...others].sort());
});

describe('A task that the list shows with an unknown status when the workflow is published', () => {
	async function published(words: string[], events = [...COMPLETED, 'transcriptFailed']) {
		list().pageLength = 100;
		list().add(20);
		const ids = list().add(words.length);
		for (const [index, word] of words.entries()) say(ids[index] ?? '', word);
		const options = { includeResult: false };
		const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' }, { events, options });
		await host.activate();
		return { host, ids };
	}

	few.it.each([
		['queued', ['completed']],
		['scheduled', ['failed']],
		['uploading', ['processing', 'completed']],
		['queued', ['uploading', 'pending', 'failed', 'processing', 'completed']],
	])('%s, and later as %j: starts it once', async (word, next) => {
		const { host, ids } = await published([word]);
		for (const status of next) {
			await host.polls(2);
			say(ids[0] ?? '', status);
		}
		await host.polls(4);
		expect(host.started).toEqual(ids);
	});

	it('also after a restart', async () => {
		const { host, ids } = await published(['queued']);
		await host.restart();
		say(ids[0] ?? '', 'completed');
		await host.polls(3);
		expect(host.started).toEqual(ids);
	});

	it('that many tasks have, which means that they had ended: starts nothing, also with another word later', async () => {
		jest.replaceProperty(ACCOUNT_MEMORY, 'unclear', { words: 2, ofOneWord: 3 });
		// More than the one that is the sign of too many: of these, none is remembered.
		const old = ['finished', 'finished', 'finished', 'finished', 'finished'];
		const { host, ids } = await published(['uploading', 'queued', ...old]);
		await host.polls(2);
		for (const id of ids) say(id, 'completed');
		const others = list().add(1);
		// The list is read newest first, so the word of the oldest task is one too many to be remembered.
		expect(await allStarted(host)).toEqual([ids[1], ...others].sort());
		const unclear = Object.entries(state(host).unclear ?? {}).map(([word, { length }]) => [
			word,
			length,
		]);
		expect(unclear).toEqual([
			['finished', (3 + 1) * 8],
			['queued', 0],
		]);
	});
});
