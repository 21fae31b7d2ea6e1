/** What is checked of 'Get the Transcript' before anything is submitted, and what the request then has. */
import type { INodeParameters } from 'n8n-workflow';

import {
	checkTakenUpCompletion,
	prepareCompletion,
} from '../../../nodes/Transcriber/submit/prepareCompletion';
import { askedFor } from '../../../nodes/Transcriber/submit/once/sameRequest';
import {
	remember,
	type AcceptedSubmission,
} from '../../../nodes/Transcriber/submit/once/submissionMemory';
import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import type { RoutingRequest } from '../../../nodes/shared/api/types';
import { resumeUrlOf } from '../../../nodes/shared/n8nInternals/resumeUrl';
import { answeringTrigger } from '../../support/answeringTrigger';
import { itemContext, type ItemPlace } from '../../support/itemContext';
import { LINK } from '../../support/parameters';

const SERVICE = 'https://api.example.com/api/v1';
const HERE = 'http://127.0.0.1:9/api/v1';
const URL_TO_CALL = 'https://hooks.example.com/a';

/** The body of the request after the checks. */
async function prepared(
	parameters: INodeParameters,
	{ body, baseURL = SERVICE, ...place }: ItemPlace & { body?: object; baseURL?: string } = {},
) {
	const options = { baseURL, url: '/transcribe-url', body };
	const request = { options } as unknown as RoutingRequest;
	await prepareCompletion(itemContext({ ...LINK, ...parameters }, place), request);
	return request.options.body;
}

const body = { url: LINK.url };

it.each(['poll', 'returnTask'])('%s: the request stays as it is', async (onCompletion) => {
	expect(await prepared({ onCompletion }, { body })).toBe(body);
	expect(await prepared({ onCompletion })).toBeUndefined();
});

it('callUrl: the request gets the address, beside what it has', async () => {
	const call = { onCompletion: 'callUrl', webhookUrl: URL_TO_CALL };
	expect(await prepared(call, { body })).toEqual({ ...body, webhook_url: URL_TO_CALL });
	expect(await prepared(call)).toEqual({ webhook_url: URL_TO_CALL });
	expect(body).toEqual({ url: LINK.url });
});

it('callUrl: an address that the service cannot reach is refused', async () => {
	const call = { onCompletion: 'callUrl', webhookUrl: 'http://hooks.example.com/a' };
	await expect(prepared(call)).rejects.toThrow("'Webhook URL' does not start with https://");
});

it('awaitWebhook: the request gets the address of the execution', async () => {
	const waiting = { onCompletion: 'awaitWebhook' };
	const resumeToken = 'of execution 41';
	const address = resumeUrlOf(itemContext({ ...LINK, ...waiting }, { resumeToken }));
	const found = await prepared(waiting, { body, baseURL: HERE, resumeToken });
	expect(found).toEqual({ ...body, webhook_url: address });
});

it('awaitWebhook: an n8n without a public address is refused', async () => {
	await expect(prepared({ onCompletion: 'awaitWebhook' })).rejects.toThrow(
		/^The webhook address of this n8n does not start with https/,
	);
});

it.each(['poll', 'awaitWebhook'])('%s: Transcript Options are checked', async (onCompletion) => {
	const waiting = { onCompletion, waitOptions: { timeout: -1 } };
	await expect(prepared(waiting, { baseURL: HERE })).rejects.toThrow("'Timeout'");
});

it.each([
	['returnTask', {}],
	['callUrl', { webhookUrl: URL_TO_CALL }],
])('%s: Transcript Options, which nothing uses, are not checked', async (onCompletion, more) => {
	const unused = { onCompletion, ...more, waitOptions: { timeout: -1 } };
	expect(await prepared(unused, { body })).toMatchObject(body);
});

describe('notifyTrigger', () => {
	const notify = async (status: number, answer: string) => {
		const trigger = await answeringTrigger('test-api-key', () => ({ status, body: answer }));
		const parameters = { onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const outcome = prepared(parameters, { body, baseURL: HERE });
		await outcome.catch(() => {});
		trigger.close();
		return { trigger, outcome };
	};
	beforeEach(() => jest.replaceProperty(HAND_OVER, 'patienceBefore', 0));
	it('the request gets the address of a trigger that takes an empty hand-over', async () => {
		const { trigger, outcome } = await notify(200, '{"stored":true}');
		expect(await outcome).toEqual({ ...body, webhook_url: trigger.url });
		expect(trigger.calls).toEqual([[]]);
	});

	it('a trigger that is not active is refused, and nothing was submitted', async () => {
		const { outcome } = await notify(404, '{}');
		await expect(outcome).rejects.toThrow(
			/cannot be used, so nothing was submitted: its workflow is not active/,
		);
	});
});

describe("a webhook_url in 'Custom Fields'", () => {
	const custom = { ...body, webhook_url: URL_TO_CALL };

	it.each(['poll', 'returnTask'])('is sent with %s', async (onCompletion) => {
		expect(await prepared({ onCompletion }, { body: custom })).toBe(custom);
	});

	it.each(['callUrl', 'awaitWebhook', 'notifyTrigger'])(
		'is refused with %s, which sends one itself',
		async (onCompletion) => {
			await expect(prepared({ onCompletion }, { body: custom, baseURL: HERE })).rejects.toThrow(
				"'Custom Fields' has a webhook_url, but 'Get the Transcript' already sends one",
			);
		},
	);

	it.each<[unknown, string]>([
		['http://hooks.example.com/a', "'Custom Fields: webhook_url' does not start with https://"],
		['', "The parameter 'Custom Fields: webhook_url' is empty"],
		[null, "The parameter 'Custom Fields: webhook_url' is empty"],
		[{}, "'Custom Fields: webhook_url' has to be a text"],
	])('is refused like any other address: %j', async (webhook_url, message) => {
		const wrong = prepared({ onCompletion: 'returnTask' }, { body: { ...body, webhook_url } });
		await expect(wrong).rejects.toThrow(message);
	});
});

describe('Of an item that was submitted before, in a Retry,', () => {
	const check =
		(parameters: INodeParameters, memory: Partial<AcceptedSubmission> | 'unknown' = {}) =>
		() => {
			const context = itemContext({ ...LINK, ...parameters });
			const asked = askedFor(context);
			if (memory !== 'unknown') {
				const submissions = [{ answer: { task_id: '7f3c' }, ...memory }];
				remember(context, { state: 'accepted', submissions, at: Date.now(), asked });
			}
			checkTakenUpCompletion(context, { options: { baseURL: SERVICE } } as RoutingRequest);
		};
	const triggerUrl = 'n8n.example.com/webhook/1/transcriber';
	const notify = { onCompletion: 'notifyTrigger', triggerUrl };

	it("'Trigger URL' is checked as long as the hand-over needs it", () => {
		expect(check(notify)).toThrow("'Trigger URL' is not a web address");
		expect(check({ ...notify, triggerUrl: `https://${triggerUrl}` })).not.toThrow();
		expect(check(notify, { handedOver: true })).not.toThrow();
	});

	it('it is not if nobody knows whether the item was accepted: the error has to say that', () => {
		expect(check(notify, 'unknown')).not.toThrow();
	});

	it('no other address is, because the service has it already', () => {
		expect(check({ onCompletion: 'callUrl', webhookUrl: 'hooks.example.com' })).not.toThrow();
		expect(check({ onCompletion: 'poll' })).not.toThrow();
	});
});
