/** What the log and the error say if a trigger does not answer, or something else answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
	put,
	whatIsWrong,
	type Reply,
} from '../../../../nodes/Transcriber/submit/trigger/triggerReply';
import { HAND_OVER } from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import {
	NOT_OPENED,
	STALE,
	UNDECIDED,
	UNUSABLE_ID,
	sealHandOvers,
} from '../../../../nodes/shared/webhook/handOverEnvelope';
import { answeringTrigger } from '../../../support/answeringTrigger';
import { itemContext } from '../../../support/itemContext';
import { captureLogs } from '../../../support/logs';
import { replaceValues } from '../../../support/scale';
import { findIn } from '../../../support/search';

import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://files.example.com/a.mp3',
	onCompletion: 'notifyTrigger',
};

it('an address where nobody listens: the log says why, in one line', async () => {
	replaceValues(HAND_OVER, { interval: 10, patienceBefore: 50 });
	const logs = captureLogs();
	const { error } = await service.run(
		{ ...LINK, triggerUrl: 'http://127.0.0.1:9/webhook/1/transcriber' },
		{ items: itemsOf({}) },
	);
	logs.release();
	expect(error?.message).toContain('n8n cannot reach its address');
	expect(service.lines()).toEqual([]);
	const lines = logs.lines.filter((line) => line.includes("the address in 'Trigger URL'"));
	expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

it('The trigger is sent neither the API key nor the webhook_secret in the clear', async () => {
	const { apiKey } = service.credentials();
	const trigger = await answeringTrigger(apiKey);
	const { error } = await service.run({ ...LINK, triggerUrl: trigger.url });
	trigger.close();
	expect(error).toBeUndefined();
	const secret = service.running().tasks()[0]?.webhookSecret ?? '';
	expect(trigger.calls.flat()).toEqual([expect.objectContaining({ secret })]);
	expect(findIn(trigger.heard, [apiKey, secret])).toEqual([]);
});

it.each([
	[403, 'a firewall that knows no PUT'],
	[405, 'a proxy that takes only GET and POST'],
	[302, 'a login page in front of n8n'],
])('HTTP %i of %s: the error says that PUT may not get through', async (status) => {
	const proxy = createServer((request, response) => {
		request.resume().on('end', () => {
			response.writeHead(status, { 'content-type': 'text/html', location: '/login' });
			response.end('<html><body>nginx</body></html>');
		});
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	const { port } = proxy.address() as AddressInfo;
	const triggerUrl = `http://127.0.0.1:${port}/webhook/1/transcriber`;
	const { error } = await service.run({ ...LINK, triggerUrl }, { items: itemsOf({}) });
	proxy.close();
	expect(error?.message).toContain(`HTTP ${status}, but not as a Transcriber Trigger does`);
	expect(error?.description).toContain('a proxy or firewall in front of n8n may not let PUT');
	expect(service.lines()).toEqual([]);
});

/** One hand-over, and the answer to it. */
async function putTo(status: number, answer: string | object) {
	const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
	const trigger = await answeringTrigger('test-api-key', () => ({ status, body }));
	const sealed = sealHandOvers('test-api-key', trigger.url, [{ id: 'a', secret: 's' }]);
	const reply = await put(itemContext(LINK), trigger.url, sealed);
	trigger.close();
	return { reply, calls: trigger.calls };
}

/** What a Transcriber Trigger says is read only from the answer that it gives with this status. */
it.each<[number, string | object, Partial<Reply>]>([
	[200, { stored: true }, { stored: true }],
	[202, { stored: false }, { stored: false }],
	[200, { stored: 'true' }, {}],
	[200, 'n8n is starting up', {}],
	[200, '', {}],
	[401, { message: NOT_OPENED }, { isNotOpened: true }],
	[401, { message: STALE }, { isStale: true }],
	[401, { message: 'Log in' }, {}],
	[403, { message: NOT_OPENED }, {}],
	[403, { message: STALE }, {}],
	[400, { message: UNUSABLE_ID }, { isIdUnusable: true }],
	[400, { message: 'Bad request' }, {}],
	[404, { message: UNUSABLE_ID }, {}],
	[503, { message: UNDECIDED }, { isUndecided: true }],
	[503, { message: 'Overloaded' }, {}],
	[500, { message: UNDECIDED }, {}],
	[422, { message: 'Trigger On is empty' }, { reason: 'Trigger On is empty' }],
])('HTTP %i with %j says %j', async (status, answer, expected) => {
	const { reply, calls } = await putTo(status, answer);
	const none = { isNotOpened: false, isStale: false, isIdUnusable: false, isUndecided: false };
	expect(reply).toEqual({ ...none, status, ...expected });
	expect(calls).toEqual([[{ id: 'a', secret: 's' }]]);
});

it('What a trigger says of its parameters is cut: something else may have answered', async () => {
	const { reply } = await putTo(422, { message: 'x'.repeat(1_000) });
	expect(reply.reason).toBe('x'.repeat(300));
});

it.each<[string, Reply]>([
	['n8n cannot reach its address', {}],
	['its workflow is not active', { status: 404 }],
	['the clocks of the two machines differ', { status: 401, isStale: true }],
	['another API key, or an older version', { status: 401, isNotOpened: true, needsSecret: true }],
	['it has another API key', { status: 401, isNotOpened: true }],
	['its own parameters cannot be used: x', { status: 422, reason: 'x' }],
	['it accepts no delivery for an id like this', { status: 400, isIdUnusable: true }],
	['it could not process the call', { status: 503, isUndecided: true }],
	['it has not confirmed within a minute', { status: 202, stored: false }],
	['its address answered HTTP 401, but not as a Transcriber Trigger', { status: 401 }],
	['its address answered HTTP 200, but not as a Transcriber Trigger', { status: 200 }],
])('What is wrong: %s', (words, reply) => {
	const [reason, next] = whatIsWrong(reply);
	expect(reason).toContain(words);
	expect(next).toMatch(/\.$/);
});

it("A meeting's trigger is not to be changed for it: that would cancel its bot", () => {
	const [, next] = whatIsWrong({ status: 422, reason: "'Source' is One Meeting (Sends a Bot)" });
	expect(next).toMatch(/^Add another Transcriber Trigger/);
});
