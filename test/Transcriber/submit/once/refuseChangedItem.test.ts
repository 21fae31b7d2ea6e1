/** What is refused because the item was changed after its submit, and what the refusal says. */
import type { INodeParameters } from 'n8n-workflow';

import {
	checkUnchanged,
	checkUnchangedSince,
	nameOfAddress,
} from '../../../../nodes/Transcriber/submit/once/refuseChangedItem';
import { askedFor } from '../../../../nodes/Transcriber/submit/once/sameRequest';
import {
	remember,
	type AcceptedMemory,
} from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { FILE, LINK } from '../../../support/parameters';

const CALL = { ...LINK, onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/now' };
const TRIGGER = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: 'https://n8n.example.com/t' };

/** Checks an item of execution 42 of which execution 41 remembers this. */
async function check(
	memory: Partial<AcceptedMemory>,
	parameters: INodeParameters,
	place?: ItemPlace,
) {
	const context = itemContext(parameters, { executionId: '42', ...place });
	const submissions = [{ answer: { task_id: '7f3c' } }];
	const accepted = { state: 'accepted', submissions, at: 0, executionId: '41' } as const;
	remember(context, { ...accepted, ...memory });
	await checkUnchanged(context);
}

const CHANGED = /^This item was changed after task 7f3c had been accepted/;

describe('what the service has accepted', () => {
	it('is refused for another request in a Retry', async () => {
		await expect(check({ asked: 'something else' }, LINK)).rejects.toThrow(CHANGED);
	});

	it('is refused in a Retry for an item that has lost its file, with the same words', async () => {
		const memory = { asked: 'something else', fingerprint: 'n8n-17' };
		await expect(check(memory, FILE)).rejects.toThrow(CHANGED);
	});

	it.each<[string, Partial<AcceptedMemory>, ItemPlace]>([
		['the same request', { asked: askedFor(itemContext(LINK)) }, {}],
		['another request in the same execution', { asked: 'else', executionId: '42' }, {}],
		['another request of an AI agent, which is another call', { asked: 'else' }, { call: {} }],
		['what an older version has accepted, which did not note the request', {}, {}],
	])('is taken up for %s', async (_what, memory, place) => {
		await expect(check(memory, LINK, place)).resolves.toBeUndefined();
	});

	it('is no question for an item that was never submitted', async () => {
		await expect(checkUnchanged(itemContext(CALL))).resolves.toBeUndefined();
	});

	it.each<[string, INodeParameters, string]>([
		[
			'to no address',
			CALL,
			"The service reports task 7f3c to no address, and not to 'Webhook URL'",
		],
		[
			'to no trigger',
			TRIGGER,
			"The service reports task 7f3c to no address, and not to 'Trigger URL'",
		],
	])('is refused if the service reports it %s', async (_what, parameters, message) => {
		await expect(check({ deliversTo: '' }, parameters)).rejects.toThrow(message);
	});

	it('is refused if the service reports it elsewhere, and the message shows no secret of that address', async () => {
		const deliversTo = 'https://user:pass@hooks.example.com/before?key=hush#hush';
		await expect(check({ deliversTo }, CALL)).rejects.toThrow(
			/to a different address than 'Webhook URL': 'https:\/\/hooks\.example\.com\/before'$/,
		);
	});

	it.each<[string, string | undefined, INodeParameters]>([
		['the address is the same', CALL.webhookUrl, CALL],
		['the address is unknown', undefined, CALL],
		['nobody waits for a webhook', 'https://hooks.example.com/before', LINK],
	])('is taken up if %s', async (_why, deliversTo, parameters) => {
		await expect(check({ deliversTo }, parameters)).resolves.toBeUndefined();
	});
});

describe('a file whose answer was lost', () => {
	const lost = (memory: { asked?: string; executionId?: string }, place: ItemPlace = {}) =>
		checkUnchangedSince(itemContext(LINK, { executionId: '42', ...place }), {
			state: 'sent',
			executionId: '41',
			...memory,
		});

	it('is not sent again if the item asks for something else', () => {
		expect(() => lost({ asked: 'else' })).toThrow(/^This item was changed after it had been sent/);
	});

	it.each<[string, { asked?: string; executionId?: string }, ItemPlace]>([
		['asks for the same', { asked: askedFor(itemContext(LINK)) }, {}],
		['is tried again in the same execution', { asked: 'else', executionId: '42' }, {}],
		['was sent by an older version, which did not note the request', {}, {}],
		['is the call of an AI agent', { asked: 'else' }, { call: {} }],
	])('is sent again if the item %s', (_what, memory, place) => {
		expect(() => lost(memory, place)).not.toThrow();
	});
});

it.each<[string | undefined, INodeParameters]>([
	['Webhook URL', CALL],
	['Trigger URL', TRIGGER],
	[undefined, LINK],
	[undefined, { ...LINK, onCompletion: 'awaitWebhook' }],
])('the parameter with an address of somebody else is %s', (name, parameters) => {
	expect(nameOfAddress(itemContext(parameters))).toBe(name);
});
