/** One submit of an item: what is sent, what is remembered of it, and what a next try does. */
// Also covers settleFailure.ts.
import type { INodeParameters } from 'n8n-workflow';

import { attachRecording, fileOf } from '../../../../nodes/Transcriber/item/inputFile';
import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import { askedFor } from '../../../../nodes/Transcriber/submit/once/sameRequest';
import {
	recall,
	remember,
	type SentMemory,
} from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { submitOnce } from '../../../../nodes/Transcriber/submit/once/submitOnce';
import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import type { Policy, RoutingRequest } from '../../../../nodes/shared/api/types';
import { isLasting, refuse } from '../../../../nodes/shared/parameters/refuse';
import { unseal } from '../../../../nodes/shared/webhook/sealedSecret';
import type { FaultRule } from '../../../simulator/index';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { BOT, FILE, LINK } from '../../../support/parameters';
import { shortenRetries } from '../../../support/scale';
import { itemWithFile, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const UPLOAD: Policy = { limit: 'submit', repeatable: true, upload: true };
const ONCE: Policy = { limit: 'submit', repeatable: false };
const CALL = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };
const SOUND = itemWithFile('sound');
const [SOUND_FILE] = Object.values(SOUND.binary ?? {}).map(fileOf);

beforeEach(() => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
});

function fault(action: FaultRule['action'], more: Partial<FaultRule> = {}): void {
	service.running().fault({ match: { method: 'POST' }, action, ...more });
}

interface Try extends ItemPlace {
	key?: string;
	more?: INodeParameters;
	body?: object;
	/** Another item of the run has failed and stopped the node. */
	isStopped?: boolean;
}

/** An item whose submit can be tried again and again. */
function itemOf(parameters: INodeParameters, saved: ItemPlace['saved'] = {}) {
	const isFile = parameters === FILE;
	const isBot = parameters === BOT;
	const submit = async ({ key, more = {}, body = {}, isStopped, ...place }: Try = {}) => {
		const credentials = service.credentials();
		const items = [SOUND];
		const all = { ...parameters, ...more };
		const context = itemContext(all, { saved, credentials, items, ...place });
		const path = isFile ? '/transcribe' : '/transcribe-url';
		const request = {
			options: {
				method: 'POST',
				baseURL: `${service.running().url}/api/v1`,
				url: isBot ? '/meeting' : path,
				headers: key === undefined ? undefined : { 'Idempotency-Key': key },
				body: {
					...bodyOf(isBot),
					...(more['webhookUrl'] && { webhook_url: more['webhookUrl'] }),
					...body,
				},
			},
		} as unknown as RoutingRequest;
		if (isFile) await attachRecording(context, request);
		const run = NodeRun.of(context);
		run.register(0);
		if (isStopped) {
			const failure = refuse(context, 'Another item has failed', '');
			run.fail(1, failure, { stopsNode: true, isStopped: false });
		}
		const uncertain = jest.spyOn(run.submitted, 'mayBeAccepted');
		const outcome = await submitOnce(context, request, isFile ? UPLOAD : ONCE, run).catch(
			(failure: Error) => ({ failure, isUncertain: uncertain.mock.calls.length > 0 }),
		);
		if (!('failure' in outcome)) return { ...outcome, failure: undefined };
		return { ...outcome, isLasting: isLasting(outcome.failure) };
	};
	const memory = () => recall(itemContext(parameters, { saved }));
	return { submit, memory, saved };
}

function bodyOf(isBot: boolean): object {
	if (isBot) return { meeting_url: BOT.meetingUrl, consent_acknowledged: true };
	return { url: LINK.url };
}

const posts = () => service.running().requests.filter(({ method }) => method === 'POST');
const keys = () => posts().map(({ headers }) => headers['idempotency-key']);
const task = () => service.running().tasks()[0];

describe('What the service has accepted', () => {
	it('is remembered with what a later try has to know', async () => {
		const { submit, memory } = itemOf(LINK);
		const { isFresh, accepted } = await acceptedBy(submit());
		expect(isFresh).toBe(true);
		expect(accepted).toEqual(memory());
		expect(accepted).toEqual({
			state: 'accepted',
			submissions: [{ answer: expect.objectContaining({ task_id: task()?.id }) }],
			at: expect.any(Number),
			startAt: undefined,
			deliversTo: '',
			executionId: '41',
			asked: askedFor(itemContext(LINK)),
			body: expect.stringMatching(/^[\w-]{43}$/),
		});
		expect(Date.now() - (accepted?.at ?? 0)).toBeLessThan(10_000);
	});

	it('is never sent again', async () => {
		const { submit } = itemOf(LINK);
		const first = await acceptedBy(submit());
		const second = await acceptedBy(submit({ executionId: '42' }));
		expect(second).toEqual({ accepted: first.accepted, isFresh: false, failure: undefined });
		expect(posts()).toHaveLength(1);
	});

	it('is sent once if it is asked for twice at the same time', async () => {
		const { submit } = itemOf(LINK);
		await Promise.all([submit(), submit()]);
		expect(posts()).toHaveLength(1);
	});

	it('has its secret sealed for this task', async () => {
		const { submit } = itemOf(LINK);
		const body = { webhook_url: CALL.webhookUrl };
		const { accepted } = await acceptedBy(submit({ more: { onCompletion: 'awaitWebhook' }, body }));
		const [{ answer, sealedSecret = '' } = { answer: {} }] = accepted?.submissions ?? [];
		const { apiKey } = service.credentials();
		expect(answer).not.toHaveProperty('webhook_secret');
		expect(unseal(apiKey, 'submission secret', `task ${task()?.id}`, sealedSecret)).toBe(
			task()?.webhookSecret,
		);
	});

	it('shows its secret where the receiver of Call a URL needs it', async () => {
		const { accepted } = await acceptedBy(itemOf(LINK).submit({ more: CALL }));
		const [submission] = accepted?.submissions ?? [];
		expect(submission).toEqual({
			answer: expect.objectContaining({ webhook_secret: task()?.webhookSecret }),
			sealedSecret: expect.any(String),
		});
		expect(accepted?.deliversTo).toBe(CALL.webhookUrl);
	});

	it('has the start of a bot as it was sent', async () => {
		const start_at = new Date(Date.now() + 3_600_000).toISOString();
		const { accepted } = await acceptedBy(itemOf(BOT).submit({ body: { start_at } }));
		expect(accepted?.startAt).toBe(start_at);
	});

	it('has no start if Custom Fields have a number by that name, which is sent as it is', async () => {
		const start_at = 1_893_456_000;
		const { accepted } = await acceptedBy(itemOf(LINK).submit({ body: { start_at } }));
		expect(accepted?.startAt).toBeUndefined();
		expect(posts()).toMatchObject([{ body: { start_at } }]);
	});
});

async function acceptedBy(submitting: ReturnType<ReturnType<typeof itemOf>['submit']>) {
	const outcome = await submitting;
	if (outcome.failure) throw outcome.failure;
	return outcome;
}

describe('A link', () => {
	it('whose answer was lost is not sent again, and says so', async () => {
		fault(LOST);
		const { submit, memory } = itemOf(LINK);
		const first = await submit({ key: 'an own key, which is not documented for links' });
		expect(first).toMatchObject({ isUncertain: true, isLasting: true });
		expect(memory()).toMatchObject({ state: 'sent', key: undefined, file: undefined });
		const second = await submit();
		expect(second.failure?.message).toMatch(/^It is not known whether the service accepted/);
		expect(second).toMatchObject({ isLasting: true });
		expect(posts()).toHaveLength(1);
	});

	it('does not go out with the key of a file that an older version has sent for the item', async () => {
		const sent: SentMemory = { state: 'sent', key: 'n8n-17', file: 'other file', at: 1 };
		const saved = {};
		remember(itemContext(FILE, { saved }), sent);
		const { failure } = await itemOf(LINK, saved).submit();
		expect(failure).toBeUndefined();
		expect(keys()).toEqual([undefined]);
	});

	it.each([
		[400, true],
		[413, true],
		[415, true],
		[422, true],
		[401, false],
		[402, false],
	])('refused with %i is forgotten; that no Retry can mend it: %s', async (status, lasting) => {
		fault({ kind: 'respond', status });
		const { submit, memory } = itemOf(LINK);
		const outcome = await submit();
		expect(outcome).toMatchObject({ isUncertain: false, isLasting: lasting });
		expect(outcome.failure?.message).not.toContain('may have accepted');
		expect(memory()).toBeUndefined();
		expect((await acceptedBy(submit())).isFresh).toBe(true);
	});

	it('refused because another request is still running is not sent again by the node, and is forgotten', async () => {
		fault({ kind: 'respond', status: 409 });
		const { submit, memory } = itemOf(LINK);
		expect(await submit()).toMatchObject({ isUncertain: false, failure: expect.any(Error) });
		expect(posts()).toHaveLength(1);
		expect(memory()).toBeUndefined();
	});

	it('with an own key, which is not documented for links, may be paid again if its answer was lost', async () => {
		fault(LOST);
		const more = { options: { idempotencyKey: 'link-17' } };
		const outcome = await itemOf(LINK).submit({ key: 'link-17', more });
		expect(outcome).toMatchObject({ isUncertain: true, isLasting: true });
	});

	it('is forgotten if another item stopped the node before it was sent', async () => {
		const { submit, memory } = itemOf(LINK);
		expect((await submit({ isStopped: true })).failure).toBeDefined();
		expect(memory()).toBeUndefined();
		expect(posts()).toEqual([]);
	});
});

describe('A file', () => {
	it('whose answer was lost is sent again with the same key, and counts as a repeat', async () => {
		fault(LOST);
		const { submit, memory } = itemOf(FILE);
		const first = await submit({ key: 'derived' });
		expect(first).toMatchObject({ isUncertain: true, isLasting: false });
		expect(memory()).toMatchObject({ state: 'sent', key: 'derived', file: SOUND_FILE });
		const { at } = memory() ?? {};
		const second = await acceptedBy(submit({ key: 'derived' }));
		expect(second).toMatchObject({ isFresh: true, isRepeat: true, accepted: { at } });
		expect(keys()).toEqual(['derived', 'derived']);
		expect(service.running().tasks()).toHaveLength(1);
	});

	it('with an own key is never paid again, also if its answer was lost', async () => {
		fault(LOST);
		const more = { options: { idempotencyKey: 'file-17' } };
		const outcome = await itemOf(FILE).submit({ key: 'file-17', more });
		expect(outcome).toMatchObject({ isUncertain: false, failure: expect.any(Error) });
	});

	it('with an own key that no new execution has, may be paid again if its answer was lost', async () => {
		fault(LOST);
		const more = { options: { idempotencyKey: '={{ $execution.id }}' } };
		const outcome = await itemOf(FILE).submit({ key: '41', more });
		expect(outcome).toMatchObject({ isUncertain: true, failure: expect.any(Error) });
	});

	it('that the service takes at once is no repeat', async () => {
		const { submit } = itemOf(FILE);
		expect(await acceptedBy(submit({ key: 'derived' }))).toMatchObject({ isRepeat: false });
	});

	it('that the service takes only after a lost answer is a repeat', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 1_000);
		fault(LOST);
		const { submit } = itemOf(FILE);
		expect(await acceptedBy(submit({ key: 'derived' }))).toMatchObject({ isRepeat: true });
		expect(posts()).toHaveLength(2);
	});

	it('that the service has refused at once is forgotten', async () => {
		fault({ kind: 'respond', status: 422 });
		const { submit, memory } = itemOf(FILE);
		expect(await submit({ key: 'derived' })).toMatchObject({ isUncertain: false, isLasting: true });
		expect(memory()).toBeUndefined();
	});

	it('that the service refuses in a success stays remembered, and is sent again with its key', async () => {
		fault({ kind: 'respond', status: 200, body: { ok: false, error: 'busy_try_again' } });
		const { submit, memory } = itemOf(FILE);
		const { failure } = await submit({ key: 'derived' });
		expect(failure?.message).toMatch(/^The service answered that this item is not accepted: busy_/);
		expect(memory()).toMatchObject({ state: 'sent', key: 'derived' });
		expect(await acceptedBy(submit({ key: 'derived' }))).toMatchObject({ isRepeat: true });
		expect(posts()).toHaveLength(2);
	});

	it('that the service has refused after a lost answer stays remembered', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 1_000);
		fault(LOST);
		fault({ kind: 'respond', status: 422 });
		const { submit, memory } = itemOf(FILE);
		expect(await submit({ key: 'derived' })).toMatchObject({ isUncertain: true });
		expect(memory()).toMatchObject({ state: 'sent', key: 'derived' });
		fault({ kind: 'respond', status: 422 });
		await submit({ key: 'derived' });
		expect(memory()).toMatchObject({ state: 'sent', key: 'derived' });
	});

	it('of which the service is still busy with an earlier request stays remembered', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 5);
		fault({ kind: 'respond', status: 409 }, { times: 100 });
		const { submit, memory } = itemOf(FILE);
		expect(await submit({ key: 'derived' })).toMatchObject({ isUncertain: true });
		expect(memory()).toMatchObject({ state: 'sent' });
	});

	it('that never left n8n is forgotten', async () => {
		const { submit, memory } = itemOf(FILE);
		await submit({ key: 'derived', isStopped: true });
		expect(memory()).toBeUndefined();
		const cancel = AbortSignal.abort(new Error('The execution was cancelled'));
		await submit({ key: 'derived', cancel });
		expect(memory()).toBeUndefined();
		expect(posts()).toEqual([]);
	});

	it('that is being sent when the execution is cancelled stays remembered', async () => {
		fault({ kind: 'stall', readBody: true });
		const { submit, memory } = itemOf(FILE);
		const cancel = new AbortController();
		const submitting = submit({ key: 'derived', cancel: cancel.signal });
		while (posts().length === 0) await new Promise(setImmediate);
		cancel.abort(new Error('The execution was cancelled'));
		const outcome = await submitting;
		expect(outcome).toMatchObject({ isUncertain: true, isLasting: false });
		expect(outcome.failure?.message).toContain('cancelled');
		expect(memory()).toMatchObject({ state: 'sent', key: 'derived' });
	});

	it('whose answer was lost is not sent for a changed item: its task would be the earlier one', async () => {
		fault(LOST);
		const { submit } = itemOf(FILE);
		await submit({ key: 'derived' });
		const changed = { language: 'en' };
		const { failure } = await submit({ key: 'derived', executionId: '42', more: changed });
		expect(failure?.message).toMatch(/^This item was changed after it had been sent/);
		expect(posts()).toHaveLength(1);
	});

	it('that replaces another file in a Retry is sent as a new one, which may be a repeat', async () => {
		const { submit, saved, memory } = itemOf(FILE);
		const earlier: SentMemory = { state: 'sent', key: 'earlier', file: 'another', at: 1 };
		remember(itemContext(FILE, { saved }), { ...earlier, asked: 'another', executionId: '40' });
		const outcome = await acceptedBy(submit({ key: 'derived' }));
		expect(outcome).toMatchObject({ isRepeat: true, accepted: { executionId: '41' } });
		expect(memory()).not.toMatchObject({ at: 1 });
	});
});

describe('In a Retry in which the node runs for the first time', () => {
	const retry = { executionId: '42', mode: 'retry' } as const;

	it('a file may be a repeat of what an execution sent that crashed', async () => {
		const outcome = await acceptedBy(itemOf(FILE).submit({ ...retry, key: 'derived' }));
		expect(outcome.isRepeat).toBe(true);
	});

	it('nothing else is one: a link has no key, and an own key says nothing of the execution', async () => {
		const link = await acceptedBy(itemOf(LINK).submit(retry));
		expect(link.isRepeat).toBe(false);
		const more = { options: { idempotencyKey: 'file-17' } };
		const own = await acceptedBy(itemOf(FILE).submit({ ...retry, key: 'file-17', more }));
		expect(own.isRepeat).toBe(false);
	});
});

describe('A key that the service refuses', () => {
	const OWN = { options: { idempotencyKey: 'file-17' } };
	const refused = async (parameters: INodeParameters, given: Try) => {
		fault({ kind: 'respond', status: 422, body: { detail: 'Idempotency-Key was used before' } });
		const { failure, isUncertain } = {
			isUncertain: false,
			...(await itemOf(parameters).submit(given)),
		};
		return { isUncertain, words: String((failure as { description?: string })?.description) };
	};

	it.each([
		['a file', FILE],
		['a link', LINK],
	])('and that the user gave may have been sent before: %s', async (_what, parameters) => {
		const { isUncertain, words } = await refused(parameters, { key: 'file-17', more: OWN });
		expect(words).toMatch(/^If this 'Idempotency Key' was sent before/);
		expect(isUncertain).toBe(false);
	});

	it('may be that of an execution that crashed', async () => {
		const retry = { executionId: '42', mode: 'retry' } as const;
		const { isUncertain, words } = await refused(FILE, { ...retry, key: 'derived' });
		expect(words).toMatch(/^The service may have accepted it/);
		expect(isUncertain).toBe(true);
	});

	it('was certainly not sent before if this execution has made it up', async () => {
		const { isUncertain, words } = await refused(FILE, { key: 'derived' });
		expect(words).not.toMatch(/sent before|may have accepted/);
		expect(isUncertain).toBe(false);
	});
});

it('A refusal that does not name the key says nothing of it', async () => {
	fault({ kind: 'respond', status: 422, body: { detail: 'No such language' } });
	const more = { options: { idempotencyKey: 'file-17' } };
	const { failure } = await itemOf(FILE).submit({ key: 'file-17', more });
	expect(failure).toMatchObject({ description: expect.not.stringContaining('Idempotency Key') });
});

describe('The address that the service reports a file to', () => {
	const deliveredTo = async (more: Try, saved?: ItemPlace['saved']) => {
		const { submit } = itemOf(FILE, saved);
		const { accepted } = await acceptedBy(submit({ key: 'derived', ...more }));
		return { deliversTo: accepted?.deliversTo, executionId: accepted?.executionId };
	};
	const asleep = { onCompletion: 'awaitWebhook' };
	/** n8n has kept nothing of the node: it may have crashed. */
	const firstRetry = { executionId: '42', mode: 'retry' } as const;

	it('is the one that it was sent with', async () => {
		expect(await deliveredTo({ more: CALL })).toEqual({
			deliversTo: CALL.webhookUrl,
			executionId: '41',
		});
		const waiting = await deliveredTo({ more: asleep, key: 'another' });
		expect(waiting.deliversTo).toContain('/webhook-waiting/41/');
	});

	it('is unknown with an own key, which an earlier execution may have used', async () => {
		const options = { idempotencyKey: 'file-17' };
		expect(await deliveredTo({ more: { ...CALL, options }, key: 'file-17' })).toEqual({
			deliversTo: undefined,
			executionId: '41',
		});
	});

	it('is unknown if an execution that crashed may have sent it with its own', async () => {
		const outcome = await itemOf(FILE).submit({ ...firstRetry, key: 'derived', more: asleep });
		const accepted = { executionId: '42', deliversTo: undefined };
		expect(outcome).toMatchObject({ isRepeat: true, accepted });
	});

	it('is known then, too, if all executions give the same', async () => {
		expect(await deliveredTo({ ...firstRetry, more: CALL })).toEqual({
			deliversTo: CALL.webhookUrl,
			executionId: '42',
		});
	});

	it.each([
		['the one that an earlier request with the key had', 'https://before.example.com/', '40'],
		['the same one', CALL.webhookUrl, '41'],
	])('is %s, if the answer to that was lost', async (_what, deliversTo, executionId) => {
		const saved = {};
		const asked = askedFor(itemContext({ ...FILE, ...CALL }, { items: [SOUND] }));
		const earlier = { state: 'sent', key: 'derived', file: SOUND_FILE, asked, at: 1 } as const;
		remember(itemContext(FILE, { saved }), { ...earlier, deliversTo, executionId: '40' });
		expect(await deliveredTo({ more: CALL }, saved)).toEqual({ deliversTo, executionId });
	});
});
