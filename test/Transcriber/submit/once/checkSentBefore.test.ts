/** A file that may have been accepted, and a check that fails in a later try: the user must not learn only the latter. */

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import type { FaultRule } from '../../../simulator/index';
import { again } from '../../../support/again';
import { storedBinary } from '../../../support/engine';
import { FILE } from '../../../support/parameters';
import { shortenRetries } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();
beforeEach(() => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
});

const LOST = { kind: 'cut', when: 'afterProcessing' } as const;
const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const MAY_BE = /^The service may have accepted it.* Run the step that made the file again/;
const RETRY_GOES_ON =
	/^If the service has accepted it, a Retry of this execution goes on with it and costs nothing more, but a new execution is charged again\./;

const answer = (action: FaultRule['action'], skip = 0) =>
	service.running().fault({ match: { method: 'POST' }, skip, times: 2, action });

async function files(...names: string[]): Promise<INodeExecutionData[]> {
	const stored = names.map(
		async (name) => await storedBinary(Buffer.from(name), `${name}.mp3`, 'audio/mpeg', '41'),
	);
	return (await Promise.all(stored)).map((data) => ({ json: {}, binary: { data } }));
}

/** n8n's storage answers so for the file of an item. */
function storage(code: string, item?: INodeExecutionData): void {
	const binary = Container.get(BinaryDataService);
	const read = binary.getMetadata.bind(binary);
	jest.spyOn(binary, 'getMetadata').mockImplementation(async (id) => {
		if (id === item?.binary?.data?.id) throw Object.assign(new Error(code), { code });
		return await read(id);
	});
}

interface Tries {
	items: INodeExecutionData[];
	parameters?: INodeParameters;
	node?: Partial<INode>;
	/** What fails in the second try. */
	then: (items: INodeExecutionData[]) => void;
}

/** Runs the node, whose first answer is lost, and again: by Retry On Fail, or by a Retry of the user. */
async function twoTries(mode: 'manual' | 'retry', { items, parameters = FILE, node, then }: Tries) {
	answer(LOST);
	const first = await service.run(parameters, { items, executionId: '41', node });
	service.running().clearFaults();
	then(items);
	const data = again(first, parameters, items, { asFirstRun: true, node });
	const executionId = mode === 'retry' ? '42' : '41';
	return await service.run(parameters, { items, data, mode, executionId, node });
}

it('In a Retry with a key that is no key, the error says that the file may be accepted', async () => {
	answer(LOST);
	const items = await files('one');
	const first = await service.run(FILE, { items, executionId: '41' });
	const now = { ...FILE, options: { idempotencyKey: '={{ $json }}' } };
	const data = again(first, now, items, { asFirstRun: true });
	const { error } = await service.run(now, { items, data, mode: 'retry', executionId: '42' });
	expect(error?.message).toContain("'Idempotency Key' has to be a text");
	expect(error?.description).toMatch(RETRY_GOES_ON);
});

describe.each(['manual', 'retry'] as const)('In a later try (%s)', (mode) => {
	it('a file whose storage is away: a Retry may go on with it', async () => {
		const then = ([one]: INodeExecutionData[]) => storage('ECONNREFUSED', one);
		const { error } = await twoTries(mode, { items: await files('one'), then });
		expect(error?.message).toMatch(/connection of n8n to its own storage broke/);
		expect(error?.description).toMatch(RETRY_GOES_ON);
		expect(error?.description).toContain('Try again later');
	});

	it('a file that is gone: no Retry brings it back, so the user has to look for the task', async () => {
		const then = ([one]: INodeExecutionData[]) => storage('ENOENT', one);
		const { error } = await twoTries(mode, { items: await files('one'), then });
		expect(error?.description).toMatch(MAY_BE);
		expect(error?.description).not.toContain('Retry');
	});

	it('a file with a key of the user that is gone: with the same key, nothing is paid twice', async () => {
		const parameters = { ...FILE, options: { idempotencyKey: 'mine' } };
		const then = ([one]: INodeExecutionData[]) => storage('ENOENT', one);
		const { error } = await twoTries(mode, { items: await files('one'), parameters, then });
		expect(error?.description).toMatch(
			/With the same 'Idempotency Key' it is not paid twice\. Run/,
		);
	});

	it('an item that goes on after errors has both in its output', async () => {
		const then = ([one]: INodeExecutionData[]) => storage('ENOENT', one);
		const tries = { items: await files('one'), node: CONTINUE, then };
		const { json } = await twoTries(mode, tries);
		expect(json[0]?.error).toMatch(/cannot be read from the storage.*may have accepted it/);
	});

	it('another file that cannot be read: its error names the item that may be accepted', async () => {
		const then = ([, two]: INodeExecutionData[]) => storage('ENOENT', two);
		const { error } = await twoTries(mode, { items: await files('one', 'two'), then });
		expect(error?.message).toMatch(/cannot be read .*\[item 1\]$/);
		expect(error?.description).toMatch(/The service may also have accepted item 0/);
	});

	it('a file that a proxy refuses for its size must not become a link, which is paid for again', async () => {
		const then = () =>
			answer({ kind: 'respond', status: 413, body: '<html>413 Request Entity Too Large</html>' });
		const { error } = await twoTries(mode, { items: await files('one'), then });
		expect(error?.description).toContain('client_max_body_size');
		expect(error?.description).not.toContain('Transcribe URL');
	});
});

it('A file that was refused for its size without any doubt may become a link', async () => {
	answer({ kind: 'respond', status: 413, body: '<html>413 Request Entity Too Large</html>' });
	const { error } = await service.run(FILE, { items: await files('one') });
	expect(error?.description).toContain('Transcribe URL');
});

it('A file that is accepted in a later try may not be accepted a second time in the error of another', async () => {
	const items = await files('one', 'two');
	const then = () => answer({ kind: 'respond', status: 422 }, 1);
	const { error } = await twoTries('retry', { items, then });
	expect(error?.description).toMatch(/Already accepted by the service: item \d: task/);
	expect(error?.description).not.toMatch(/may also have accepted/);
});
