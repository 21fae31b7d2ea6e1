/** "Every request" in the contract: the request that an operation declares, and the answer to it. */

import { TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { BOT, FILE, LINK } from '../../support/parameters';
import { findIn } from '../../support/search';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();

const answer = (status: number, body?: unknown, headers: Record<string, string> = {}) =>
	service.running().fault({
		match: {},
		times: 1,
		action: { kind: 'respond', status, body, headers, readBody: true },
	});

it('The time for an answer does not limit an upload', async () => {
	jest.replaceProperty(TIMEOUTS, 'request', 50);
	const action = { kind: 'delay', ms: 400, processed: true } as const;
	service.running().fault({ match: {}, times: 1, action });
	const { error, json } = await service.run(FILE, { items: [itemWithFile()] });
	jest.replaceProperty(TIMEOUTS, 'request', 60_000);
	expect(error).toBeUndefined();
	expect(json).toMatchObject([{ status: 'pending' }]);
	expect(service.lines()).toHaveLength(1);
});

describe('A refusal for its size', () => {
	it.each([
		['get', {}, /although it sends no terms/],
		['clear', {}, /although it sends no terms/],
		['add', { terms: 'n8n' }, /the list of terms is too large/],
		['replace', { terms: 'n8n' }, /the list of terms is too large/],
	])(
		'says whether dictionary.%s sends anything that could be too large',
		async (operation, own, words) => {
			answer(413, 'Too large', { 'content-type': 'text/plain' });
			const { error } = await service.run({ resource: 'dictionary', operation, ...own });
			expect(error?.message).toMatch(words);
		},
	);
});

describe('The answer to a submit', () => {
	it.each([
		['a bot', BOT, { bot_id: 'x-17' }],
		['a recording', LINK, { task_id: 'x-17' }],
	])('that is a bare id is the id of %s', async (_what, parameters, expected) => {
		answer(200, '"x-17"', { 'content-type': 'application/json' });
		const { json, error } = await service.run({ ...parameters, onCompletion: 'returnTask' });
		expect(error).toBeUndefined();
		expect(json).toEqual([expected]);
	});

	it.each([
		['a bot', BOT],
		['a recording', LINK],
	])(
		'that is a text shows no secret of %s, neither in the error nor in what n8n saves',
		async (_what, parameters) => {
			answer(200, 'reference=7f3c&webhook_secret=whsec_17', { 'content-type': 'text/plain' });
			const { error, data } = await service.run({ ...parameters, onCompletion: 'returnTask' });
			expect(error?.description).toContain('reference=7f3c');
			expect(findIn([error, data], ['whsec_17'])).toEqual([]);
		},
	);
});
