import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf, type TranscriberCredential } from '../../../shared/api/credential';
import { asUnsent } from '../../../shared/api/sendWithRetries';
import { withoutSecrets } from '../../../shared/api/redact';
import { idsIn, submissionKey } from '../../../shared/api/submission';
import type { Policy, RoutingRequest } from '../../../shared/api/types';
import { asLasting, refuse } from '../../../shared/parameters/refuse';
import { sendNow } from '../../../shared/parameters/startAt';
import { seal, secretIn } from '../../../shared/webhook/sealedSecret';
import { fileOf, recordingOf } from '../../item/inputFile';
import type { NodeRun } from '../../item/nodeRun';
import { givenKeyOf } from '../../item/givenIdempotencyKey';
import { sendOperation } from '../../item/sendOperation';
import { askedFor, hashOfBody, settingsFor } from './sameRequest';
import { checkUnchangedSince } from './refuseChangedItem';
import { resumeUrlIn, setFormerAddress } from './formerAddress';
import { deliveryAddress, onCompletionOf, usesWebhook } from '../choice/onCompletion';
import {
	SUBMISSION_SECRET,
	recall,
	remember,
	type AcceptedMemory,
	type AcceptedSubmission,
	type SentMemory,
	takeOverFromEarlierRun,
} from './submissionMemory';
import { fingerprintOf, isOfFile, mayBeOfCrashed, setKey } from './idempotencyKey';
import { oncePerPlace } from './oncePerPlace';
import { sayFirstAnswer } from './firstAnswer';
import { checkIsAccepted, mayHaveBeenAccepted } from './mayBeAccepted';
import { settleFailure } from './settleFailure';

/**
 * Submits the item (`isFresh`), or finds what was submitted for it before. Throws if the service
 * refused the item, or if it is unknown whether the service accepted it.
 */
export async function submitOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<Outcome> {
	return await oncePerPlace(context, async () => await submitItem(context, request, policy, run));
}

/** What became of an item's submit. */
export interface Outcome {
	/** What the service has accepted for the item. */
	accepted: AcceptedMemory;
	/** This call has submitted it. */
	isFresh: boolean;
	/** This call may have repeated a request that the service had accepted already. */
	isRepeat?: boolean;
}

async function submitItem(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<Outcome> {
	const { apiKey } = await credentialOf(context);
	const header = request.options.headers?.['Idempotency-Key'];
	const keyed = header !== undefined;
	// The header makes a repeat safe only if the service document shows it for the request.
	const key = keyed && policy.repeatable ? String(header) : undefined;
	const fingerprint = (await fingerprintOf(context, key, run.stopped)) ?? key;
	// Nothing is awaited from here until the item is remembered: another Retry of the same execution may
	// run at the same time.
	const body = key === undefined ? hashOfBody(context, request.options.body) : undefined;
	if (body !== undefined && !recall(context)) takeOverFromEarlierRun(context, body);
	const memory = recall(context);
	if (memory?.state === 'accepted') return { accepted: memory, isFresh: false };
	if (memory && !memory.key) {
		run.submitted.mayBeAccepted(context.getItemIndex());
		throw asLasting(sayFirstAnswer(context, mayHaveBeenAccepted(context)));
	}
	const sending = rememberAsSent(context, request, { memory, key, fingerprint, body });
	try {
		return await sendItem(context, request, { ...policy, keyed }, run, { ...sending, apiKey });
	} catch (error) {
		const failed = { isRepeat: memory !== undefined, key: sending.sent.key };
		throw settleFailure(context, run, failed, error);
	}
}

/** A request that is being sent. */
interface Sending {
	/** What was remembered of the item. */
	memory?: SentMemory;
	/** The same, if it was sent for the same file: this request repeats it. */
	earlier?: SentMemory;
	/** What is remembered now. */
	sent: SentMemory;
}

/** Remembers the item before it is sent, and gives a repeat the key and the address of the request before. */
function rememberAsSent(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	own: Pick<SentMemory, 'key' | 'fingerprint' | 'body'> & { memory?: SentMemory },
): Sending {
	const { memory } = own;
	const file = own.key === undefined ? undefined : fileOf(recordingOf(context).binary);
	const isStored = memory !== undefined && isOfFile(memory, file);
	// A file whose answer was lost is no link or bot now, either.
	const isOther = memory !== undefined && own.key === undefined;
	if (isStored || isOther) checkUnchangedSince(context, memory);
	// The same file, also if it was downloaded again. Another Retry may have sent it since its key was chosen.
	const isCopy =
		own.key !== undefined && [memory?.key, memory?.fingerprint].includes(own.fingerprint);
	const isSame = isStored || isCopy;
	const earlier = isSame ? memory : undefined;
	if (earlier?.key !== undefined) {
		setKey(request, earlier.key);
		setFormerAddress(context, request, earlier);
	}
	const key = earlier?.key ?? own.key;
	const sent: SentMemory = {
		state: 'sent',
		key,
		file,
		fingerprint: earlier?.fingerprint ?? own.fingerprint,
		settings: file === undefined ? undefined : settingsFor(context).ofItem,
		resumeUrl: resumeUrlIn(context, request),
		at: earlier?.at ?? Date.now(),
		...destinationOf(context, key, earlier),
		asked: askedFor(context),
		body: own.body,
	};
	remember(context, sent);
	return { memory, earlier, sent };
}

/** Sends the item, and remembers what the service has accepted. `apiKey`: that of the credential now. */
async function sendItem(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
	{ memory, earlier, sent, apiKey }: Sending & { apiKey: string },
): Promise<Outcome> {
	const { key, fingerprint, deliversTo, executionId, asked, body } = sent;
	let sealingKey = apiKey;
	let isRepeat = memory !== undefined || mayBeOfCrashed(context, key);
	let at = earlier?.at;
	const startAt = startAtIn(request);
	const onAttempt = (mayBeAccepted: boolean, credential: TranscriberCredential) => {
		// The key of the last attempt seals the secrets in the answer: it may have been rotated meanwhile.
		sealingKey = credential.apiKey;
		if (startAt !== undefined) checkStartAgain(context, startAt);
		isRepeat ||= mayBeAccepted;
		// A refused attempt was no submission. The time of a repeat says nothing about the first.
		at = earlier?.at ?? (mayBeAccepted ? at : Date.now());
	};
	const onCompletion = onCompletionOf(context);
	const ownPolicy = { ...policy, keepsWebhookSecret: usesWebhook(onCompletion) };
	const items = await sendOperation(context, request, ownPolicy, run, onAttempt);
	const answers = items.map(({ json }) => json);
	// With the key, it is safe to ask again.
	if (key !== undefined) checkIsAccepted(context, answers);
	const keepsSecret = onCompletion === 'callUrl';
	const accepted: AcceptedMemory = {
		state: 'accepted',
		fingerprint,
		submissions: answers.map((answer) => submissionOf(answer, sealingKey, keepsSecret)),
		at: at ?? Date.now(),
		startAt,
		deliversTo,
		executionId,
		asked,
		body,
	};
	remember(context, accepted);
	return { accepted, isFresh: true, isRepeat };
}

/**
 * The webhook address of what is submitted now, and the execution that has given it. If an earlier
 * request with the same key and another address may have been accepted, the address of that request
 * counts. Undefined if the service may return a task of another execution with another address: the
 * user gave the key, or see {@link mayBeOfCrashed}.
 */
function destinationOf(
	context: IExecutePaginationFunctions,
	key: string | undefined,
	earlier?: SentMemory,
): Pick<AcceptedMemory, 'deliversTo' | 'executionId'> {
	const executionId = context.getExecutionId();
	// Only the address of a suspended execution differs from execution to execution.
	const isOwnAddress = onCompletionOf(context) === 'awaitWebhook';
	const mayBeOfAnother =
		givenKeyOf(context) !== undefined || (isOwnAddress && mayBeOfCrashed(context, key));
	if (!earlier && mayBeOfAnother) return { executionId };
	const deliversTo = deliveryAddress(context);
	if (!earlier || earlier.deliversTo === deliversTo) return { deliversTo, executionId };
	return { deliversTo: earlier.deliversTo, executionId: earlier.executionId };
}

/** The start may pass while the bot waits for its turn: the service could then send it late, and charge. */
function checkStartAgain(context: IExecutePaginationFunctions, startAt: string): void {
	if (Date.parse(startAt) > Date.now()) return;
	const message = `'Start At' has passed before the service took the request, so no bot was sent: '${startAt}'`;
	const advice = `Choose a later time. ${sendNow(context)}`;
	throw asUnsent(asLasting(refuse(context, message, advice)));
}

/** Seals the webhook_secret. It also stays readable if the output shows it (`keepsSecret`). */
function submissionOf(
	answer: IDataObject,
	apiKey: string,
	keepsSecret: boolean,
): AcceptedSubmission {
	const shown = withoutSecrets(answer, {}, keepsSecret) as IDataObject;
	const secret = secretIn(answer.webhook_secret);
	if (secret === undefined) return { answer: shown };
	const sealedSecret = seal(apiKey, SUBMISSION_SECRET, submissionKey(idsIn(answer)), secret);
	return { answer: shown, sealedSecret };
}

function startAtIn({ options }: RoutingRequest): string | undefined {
	const { start_at: startAt } = (options.body ?? {}) as IDataObject;
	return typeof startAt === 'string' ? startAt : undefined;
}
