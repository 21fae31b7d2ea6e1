/** What the failure of an item says that the service may have accepted. */
import { NodeOperationError, type IDataObject, type INodeParameters } from 'n8n-workflow';

import {
	LOOK_FOR_SUBMISSION,
	checkIsAccepted,
	isAboutTheItem,
	isSentAgain,
	mayHaveBeenAccepted,
	sayItMayBeAccepted,
	sayKeyMayHaveBeenSent,
} from '../../../../nodes/Transcriber/submit/once/mayBeAccepted';
import {
	STOPPED_ADVICE,
	continueAdvice,
	retryAdvice,
	retryWords,
} from '../../../../nodes/Transcriber/item/retryAdvice';
import { sentKeyOf } from '../../../../nodes/Transcriber/item/givenIdempotencyKey';
import type { Problem } from '../../../../nodes/shared/api/noUsableAnswer';
import { ServiceError } from '../../../../nodes/shared/api/serviceError';
import { isLasting } from '../../../../nodes/shared/parameters/refuse';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { FILE, LINK } from '../../../support/parameters';
import { MAY_BE_ACCEPTED } from '../../../faults/invariants';
import { filesIn, read } from '../../../structure/read';

const RUSSIAN_KEY = { options: { idempotencyKey: 'Совещание' } };
const OWN_KEY = { options: { idempotencyKey: 'file-17' } };
const OWN_KEY_OF_EXECUTION = { options: { idempotencyKey: '={{ $execution.id }}-a' } };
const CONTINUE: ItemPlace = { node: { onError: 'continueRegularOutput' } };
const STOPPED: ItemPlace = { cancel: AbortSignal.abort() };
const AGENT: ItemPlace = { call: {} };
const SUBWORKFLOW: ItemPlace = { mode: 'integrated' };

function said(
	key: string | undefined,
	parameters: INodeParameters,
	place: ItemPlace = {},
	description?: string,
) {
	const context = itemContext(parameters, place);
	const failure = new NodeOperationError(context.getNode(), 'It broke.', { description });
	sayItMayBeAccepted(context, failure, key);
	return {
		message: failure.message,
		description: failure.description,
		isLasting: isLasting(failure),
	};
}

const LOOK = LOOK_FOR_SUBMISSION;
const escaped = (text: string) => text.replace(/[.()]/g, '\\$&');
const RETRY = /^If the service has accepted it, a Retry of this execution goes on with it/;
const SAME_KEY = /^The service may have accepted it\. With the same 'Idempotency Key'/;

it.each<[string, string | undefined, INodeParameters, ItemPlace, string | RegExp]>([
	['a link: to look in the account', undefined, LINK, {}, LOOK],
	[
		'a link with an own key, which does not protect it: the same',
		undefined,
		{ ...LINK, ...OWN_KEY },
		{},
		LOOK,
	],
	['a file: to retry the execution', 'derived', FILE, {}, RETRY],
	[
		'a file with an own key: to send it with the same key',
		'file-17',
		{ ...FILE, ...OWN_KEY },
		{},
		SAME_KEY,
	],
	[
		'a file with an own key that is sent as a hash: to send it with the same key',
		sentKeyOf(itemContext({ ...FILE, ...RUSSIAN_KEY })),
		{ ...FILE, ...RUSSIAN_KEY },
		{},
		SAME_KEY,
	],
	[
		'a file with an own key that no new execution has: to retry the execution',
		sentKeyOf(itemContext({ ...FILE, ...OWN_KEY_OF_EXECUTION })),
		{ ...FILE, ...OWN_KEY_OF_EXECUTION },
		{},
		RETRY,
	],
	[
		'a file with an own key that no new execution has, where there is no Retry: to look',
		sentKeyOf(itemContext({ ...FILE, ...OWN_KEY_OF_EXECUTION })),
		{ ...FILE, ...OWN_KEY_OF_EXECUTION },
		CONTINUE,
		LOOK,
	],
	[
		'a file with an own key from a field that is called date: the same key',
		'2026-11-27',
		{ ...FILE, options: { idempotencyKey: '={{ $json.date }}' } },
		{ items: [{ json: { date: '2026-11-27' } }] },
		SAME_KEY,
	],
	[
		'a file with an own key that was sent with the derived one before: to retry the execution',
		'derived',
		{ ...FILE, ...OWN_KEY },
		{},
		RETRY,
	],
	[
		'a file where errors do not stop the node, so there is no Retry: to look',
		'derived',
		FILE,
		CONTINUE,
		LOOK,
	],
	[
		'a file of a stopped execution, of which there is no Retry: to look',
		'derived',
		FILE,
		STOPPED,
		LOOK,
	],
	['a file of an AI agent, which cannot retry: to look', 'derived', FILE, AGENT, LOOK],
	[
		'a file with an own key of a stopped execution: the same key',
		'file-17',
		{ ...FILE, ...OWN_KEY },
		STOPPED,
		SAME_KEY,
	],
])('%s', (_what, key, parameters, place, words) => {
	const { description } = said(key, parameters, place);
	if (typeof words === 'string') expect(description).toBe(words);
	else expect(description).toMatch(words);
});

it.each([undefined, 'What to do next.'])(
	'the advice of a failure that a Retry can mend stays, at the end: %s',
	(before) => {
		const { description } = said('derived', FILE, {}, before);
		expect(description).toMatch(new RegExp(`is charged again\\.${before ? ` ${before}` : ''}$`));
	},
);

it('no Retry can mend what no key protects, but one can mend what has a key', () => {
	expect(said(undefined, LINK).isLasting).toBe(true);
	expect(said('derived', FILE).isLasting).toBe(false);
});

it('the words are in the message only where the output shows nothing but the message', () => {
	expect(said(undefined, LINK).message).toBe('It broke.');
	expect(said(undefined, LINK, AGENT).message).toBe('It broke.');
	expect(said(undefined, LINK, CONTINUE).message).toBe(`It broke. ${LOOK}`);
	expect(said('own', { ...FILE, ...OWN_KEY }, CONTINUE).message).toMatch(
		/^It broke\. The service may/,
	);
});

it('what n8n itself throws, such as the end of the execution, is left as it is', () => {
	const failure = new Error('The execution was cancelled');
	sayItMayBeAccepted(itemContext(LINK, CONTINUE), failure, undefined);
	expect(failure).toEqual(new Error('The execution was cancelled'));
	expect(isLasting(failure)).toBe(false);
});

it('an item whose answer is unknown says why it is not sent again', () => {
	const { message, description } = mayHaveBeenAccepted(itemContext(LINK));
	expect(message).toMatch(/^It is not known whether the service accepted this item/);
	expect(description).toBe(LOOK);
	expect(mayHaveBeenAccepted(itemContext(LINK, STOPPED)).message).toBe(
		'The execution was cancelled',
	);
	expect(mayHaveBeenAccepted(itemContext(LINK, CONTINUE)).message).toContain(LOOK);
});

describe('A refusal that names the key', () => {
	const refused = (more: Partial<Problem> = {}, place: ItemPlace = {}) => {
		const context = itemContext({ ...FILE, ...OWN_KEY }, place);
		const problem: Problem = {
			path: '/transcribe',
			status: 422,
			isKeyed: true,
			serviceMessage: 'Idempotency-Key was used with other content',
			...more,
		};
		return { context, failure: new ServiceError(context.getNode(), problem) };
	};
	const SAID = 'Idempotency-Key was used with other content';

	it('of an item that may have been accepted: to look first, and what the service says of the key', () => {
		const { context, failure } = refused();
		sayItMayBeAccepted(context, failure, 'file-17');
		expect(failure.description).toMatch(
			new RegExp(`^${escaped(LOOK)} If you gave an 'Idempotency Key', enter another.*${SAID}`),
		);
	});

	it('of an item that was not: to look first, if the key was sent before', () => {
		const { context, failure } = refused();
		sayKeyMayHaveBeenSent(context, failure);
		expect(failure.description).toMatch(/^If this 'Idempotency Key' was sent before.*look first/);
		expect(failure.description).toContain(SAID);
	});

	it('has these words in the output, too, where errors do not stop the node', () => {
		const { context, failure } = refused({}, CONTINUE);
		const { message } = failure;
		sayKeyMayHaveBeenSent(context, failure);
		expect(failure.message).toBe(`${message}. ${failure.description}`);
	});

	it('may be a 409 that counts as still in progress: its words stand in the output, too', () => {
		const still = { status: 409, serviceMessage: undefined };
		const { context, failure } = refused(still, CONTINUE);
		const { description } = failure;
		sayItMayBeAccepted(context, failure, 'file-17');
		expect(failure.message).toContain(String(description));
		const busy = refused({ status: 500, serviceMessage: 'Busy' }, CONTINUE);
		sayItMayBeAccepted(busy.context, busy.failure, 'file-17');
		expect(busy.failure.message).not.toContain('Busy');
	});

	it('is not any other refusal, whose advice stays', () => {
		const { context, failure } = refused({ status: 418, serviceMessage: 'No' });
		const { description } = failure;
		sayKeyMayHaveBeenSent(context, failure);
		expect(failure.description).toBe(description);
		failure.description = null;
		sayKeyMayHaveBeenSent(context, failure);
		expect(failure.description).toBe('');
	});
});

describe('A refusal', () => {
	const about = (more: Partial<Problem>) =>
		isAboutTheItem(new ServiceError(itemContext(FILE).getNode(), { path: '/transcribe', ...more }));

	it.each<Partial<Problem>>([
		...[400, 413, 415, 422].map((status) => ({ status })),
		{ path: '/meeting', status: 404, isServiceShape: true, errorCode: 'no_such_meeting' },
		{ status: 409, isKeyed: true, errorCode: 'idempotency_key_reuse' },
	])('of the item itself comes again in every Retry: %j', (more) => {
		expect(about(more)).toBe(true);
	});

	it.each<Partial<Problem>>([
		...[401, 402, 403, 404, 408, 429, 500, 503].map((status) => ({ status })),
		{ transport: 'broken' },
	])('of something else may pass: %j', (more) => {
		expect(about(more)).toBe(false);
		expect(isAboutTheItem({ problem: { path: '/transcribe', status: 400 } })).toBe(false);
	});
});

it('Without a key, nothing is sent again', () => {
	expect(isSentAgain(itemContext(LINK), undefined)).toBe(false);
	expect(isSentAgain(itemContext({ ...FILE, ...OWN_KEY }), 'file-17')).toBe(true);
});

describe('A success that says no', () => {
	const check = (...answers: IDataObject[]) => checkIsAccepted(itemContext(FILE), answers);
	const NO = { ok: false, error: 'busy_try_again' };

	it('is an error with what the service says, and nobody knows whether it began', () => {
		expect(() => check(NO)).toThrow(
			'The service answered that this item is not accepted: busy_try_again',
		);
	});

	it('is shown without its secret', () => {
		expect(() => check({ ok: false, webhook_secret: 'whsec_1' })).toThrow(/: \{"ok":false\}/);
	});

	it.each<IDataObject[][]>([
		[[]],
		[[{ status: 'pending' }]],
		[[{ ...NO, task_id: 'a' }]],
		[[{ ...NO, bot_id: 'b' }]],
		[[NO, { task_id: 'a' }]],
	])('is none where there is an id, no refusal, or more than one answer: %j', (answers) => {
		expect(() => check(...answers)).not.toThrow();
	});
});

describe('The tests of everything else find these words by MAY_BE_ACCEPTED', () => {
	const PLACES: Array<[string, ItemPlace]> = [
		['an execution', {}],
		['a sub-workflow', SUBWORKFLOW],
		['a node that goes on after errors', CONTINUE],
		['a stopped execution', STOPPED],
		['an AI agent', AGENT],
	];

	it.each(PLACES)('each sentence of %s', (_what, place) => {
		for (const [key, parameters] of [
			[undefined, LINK],
			['derived', FILE],
			['own', { ...FILE, ...OWN_KEY }],
		] as const) {
			expect(said(key, parameters, place).description).toMatch(MAY_BE_ACCEPTED);
		}
		const { message, description } = mayHaveBeenAccepted(itemContext(LINK, place));
		expect(`${message} ${description}`).toMatch(MAY_BE_ACCEPTED);
	});

	it('no other sentence of the nodes, except those that say of a submission that its outcome is unknown', () => {
		const texts = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
		const sentencesIn = (file: string) =>
			read(file)
				.replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
				.match(texts) ?? [];
		const saying = filesIn('nodes')
			.filter((file) => file.endsWith('.ts'))
			.filter((file) => sentencesIn(file).some((text) => MAY_BE_ACCEPTED.test(text)));
		expect(saying).toEqual([
			'nodes/Transcriber/item/submittedItems.ts',
			'nodes/Transcriber/submit/once/mayBeAccepted.ts',
			'nodes/Transcriber/submit/once/refuseChangedItem.ts',
			'nodes/Transcriber/submit/withoutIds.ts',
			'nodes/TranscriberTrigger/sendBotWhenPublished.ts',
		]);
	});

	it.each([
		retryAdvice(retryWords(itemContext(LINK))),
		continueAdvice(retryWords(itemContext(LINK, SUBWORKFLOW))),
		STOPPED_ADVICE,
	])('not what is said of an item that was accepted: %s', (words) => {
		expect(words).not.toMatch(MAY_BE_ACCEPTED);
	});
});
