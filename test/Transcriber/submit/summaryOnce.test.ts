/** A summary is asked for once, and leaves alone what the node knows of a recording that it has submitted. */
// Also covers once/sendWithoutKey.ts, nodes/Transcriber/resources/task/regenerateSummary.ts.

import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { again } from '../../support/again';
import type { Outcome } from '../../support/engine';
import { BOT, FILE, LINK } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();
beforeEach(() => shortenRetries(500));

const SUMMARY: INodeParameters = {
	resource: 'task',
	operation: 'regenerateSummary',
	taskId: byId('a'),
	path: '/tasks/{taskId}/summary',
};
const REFUSED = { kind: 'respond', status: 422, readBody: true } as const;
const posts = (part: string) =>
	service.lines().filter((line) => line.startsWith('POST') && line.includes(part)).length;

describe('A body with the time in it', () => {
	const OF_NOW = { ...SUMMARY, bodyJson: '={{ { "prompt": "Today is " + $now.toISO() } }}' };
	const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const answer = { kind: 'respond', status: 200, body: { summary: 'new' } } as const;

	it('is not sent again after a lost answer', async () => {
		const match = { method: 'POST' };
		service.running().fault({ match, action: { kind: 'cut', when: 'afterProcessing' } });
		service.running().fault({ match, times: 9, action: answer });
		const { error } = await service.run(OF_NOW, { items: itemsOf({}), node });
		expect(posts('/summary')).toBe(1);
		expect(error?.message).toMatch(/It is not known/);
	});

	it('is not sent again because another item is refused', async () => {
		service.running().fault({ match: { method: 'POST', path: '/b/' }, action: REFUSED });
		service.running().fault({ match: { method: 'POST' }, times: 9, action: answer });
		const ofItem = { ...OF_NOW, taskId: { __rl: true, mode: 'id', value: '={{ $json.id }}' } };
		await service.run(ofItem, { items: itemsOf({ id: 'a' }, { id: 'b' }), node });
		expect([posts('/a/summary'), posts('/b/summary')]).toEqual([1, 2]);
	});

	it('is sent for another item, although the text of the expression is the same', async () => {
		service.running().fault({ match: { method: 'POST' }, times: 9, action: answer });
		const first = await service.run(OF_NOW, { items: itemsOf({ of: 'Monday' }) });
		const items = itemsOf({ of: 'Tuesday' });
		const data = again(first, OF_NOW, items, { asFirstRun: true });
		await service.run(OF_NOW, { items, data, mode: 'retry', executionId: '42' });
		expect(posts('/summary')).toBe(2);
	});
});

describe('A Retry that asks for a summary, is refused, and is followed by one that submits as before', () => {
	const items = [itemWithFile()];
	const retried = async (before: Outcome, parameters: INodeParameters, executionId: string) => {
		const data = again(before, parameters, items as INodeExecutionData[], { asFirstRun: true });
		return await service.run(parameters, { items, data, mode: 'retry', executionId });
	};

	async function summaryBetween(first: Outcome, parameters: INodeParameters) {
		service.running().clearFaults();
		service.running().fault({ match: { method: 'POST' }, action: REFUSED });
		const second = await retried(first, SUMMARY, '42');
		expect(second.error).toBeDefined();
		service.running().clearFaults();
		await retried(second, parameters, '43');
	}

	it.each([
		['link', LINK],
		['bot', BOT],
		[
			'file with a key of each execution',
			{ ...FILE, options: { idempotencyKey: '={{ $execution.id }}' } },
		],
	])('does not pay again for a %s whose answer was lost', async (_what, parameters) => {
		const action = { kind: 'garble', keepBytes: 12 } as const;
		service.running().fault({ match: { method: 'POST' }, times: 99, action });
		const first = await service.run(parameters, { items, executionId: '41' });
		await summaryBetween(first, parameters);
		expect([...service.running().tasks(), ...service.running().bots()]).toHaveLength(1);
	});

	it('does not pay again for a link that was accepted, and has outlived Timeout', async () => {
		const waitOptions = { pollInterval: 0.02, timeout: 0.002 };
		const polling = { ...LINK, onCompletion: 'poll', waitOptions };
		const first = await service.run(polling, { items, executionId: '41' });
		expect(first.error?.message).toContain('has not ended');
		await summaryBetween(first, polling);
		expect(service.running().tasks()).toHaveLength(1);
	});
});
