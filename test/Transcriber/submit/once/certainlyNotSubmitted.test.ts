/** Which failures show that the service has done nothing. */
import {
	isHarmless,
	isRefusedAtOnce,
} from '../../../../nodes/Transcriber/submit/once/certainlyNotSubmitted';
import type { Problem } from '../../../../nodes/shared/api/noUsableAnswer';
import { asUnsent } from '../../../../nodes/shared/api/sendWithRetries';
import { ServiceError } from '../../../../nodes/shared/api/serviceError';
import { Abandoned } from '../../../../nodes/Transcriber/item/nodeRun';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const reason = new Error('The execution was cancelled');
const cancelled = itemContext(LINK, { cancel: AbortSignal.abort(reason) });
const running = itemContext(LINK, { cancel: new AbortController().signal });
const withoutSignal = itemContext(LINK);

const failed = (problem: Partial<Problem>) =>
	new ServiceError(running.getNode(), { path: '/transcribe-url', ...problem });

it.each<[string, Partial<Problem>, boolean]>([
	['The service has refused it', { status: 422 }, true],
	['Nothing could be sent', { isUnsent: true }, true],
	['The service has an internal fault', { status: 500 }, false],
	['The connection broke', { transport: 'broken' }, false],
])('%s: %j is harmless: %s', (_what, problem, expected) => {
	expect(isHarmless(running, failed(problem))).toBe(expected);
});

it('A cancellation while the request waited for its turn is harmless, with an Idempotency Key and without', () => {
	expect(isRefusedAtOnce(cancelled, reason)).toBe(true);
	expect(isHarmless(cancelled, reason)).toBe(true);
});

it.each([
	['of a request under way, which ends with another error', cancelled, new Error('aborted')],
	['that has not happened', running, undefined],
	['where n8n gives no signal for it', withoutSignal, undefined],
])('No harmless cancellation is one %s', (_what, context, failure) => {
	expect(isRefusedAtOnce(context, failure)).toBe(false);
	expect(isHarmless(context, failure)).toBe(false);
});

describe('With an Idempotency Key, nothing was submitted', () => {
	it.each<[string, Error]>([
		['the node has given the item up', new Abandoned()],
		['nothing has left n8n', asUnsent(new Error('No credential'))],
		['the service has refused it', failed({ status: 422 })],
		['the service is full', failed({ status: 429 })],
	])('if %s', (_what, failure) => expect(isRefusedAtOnce(running, failure)).toBe(true));

	it.each<[string, Error]>([
		['an earlier attempt may have arrived', failed({ status: 422, isRepeat: true })],
		['the service works on the same request', failed({ status: 409 })],
		['the service has an internal fault', failed({ status: 500 })],
		['the connection broke', failed({ transport: 'broken' })],
		['nobody knows what failed', new Error('HTTP 422')],
	])('but not if %s', (_what, failure) => expect(isRefusedAtOnce(running, failure)).toBe(false));
});
