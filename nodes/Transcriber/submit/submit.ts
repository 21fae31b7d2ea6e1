import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';
import { credentialOf } from '../../shared/api/credential';
import { ServiceError, said, wasCertainlyRefused } from '../../shared/api/serviceError';
import { neverLeft } from '../../shared/api/exchange';
import { choiceIn, required, textIn } from '../../shared/parameters/values';
import { isBatched, type NodeRun } from '../item/nodeRun';
import { withoutSecrets } from '../../shared/api/redact';
import { recordingOf } from '../item/inputFile';
import { SUBMISSION_SECRET, fileOf, forget, recall, remember } from './submissionMemory';
import { awaitDelivery, checkNotRefusedBefore, ownAddress, resumeAddress } from './waitForWebhook';
import { checkTrigger, handOver } from './notifyTrigger';
import { seal, unseal } from '../../shared/webhook/sealedSecret';
import { idFields, idsIn, submissionKey, submissionName } from '../../shared/api/submission';
import { finishedTask } from '../wait/finishedTask';
import { checkWaitOptions } from '../wait/waitOptions';
import { checkWebhookUrl } from '../../shared/webhook/publicAddress';
import { refuse } from '../../shared/parameters/refuse';
import { sendDeclared } from '../item/sendDeclared';
import { type Policy, type RoutingRequest } from '../../shared/api/types';

/**
 * Carries out transcribeFile, transcribeUrl and sendBot: submits once, whatever happens, then does
 * what 'Get the Transcript' says.
 */
export async function submit(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const { answer, isFresh } = await submitOnce(context, request, policy);
	// The `id` in an answer about a bot would be no task's.
	const ids = idsIn(policy.limit === 'meeting' ? { bot_id: '', ...answer } : answer);
	run.accept(context.getItemIndex(), submissionName(ids));
	if (!ids.taskId && !ids.botId) throw withoutId(context);
	const start = scheduledStart(context, answer);
	// What was remembered says which task it is, and nothing of how it is now.
	const state: IDataObject = { ...(isFresh ? answer : idFields(ids)), ...start };
	switch (onCompletionOf(context)) {
		case 'poll':
			// A run that will fail says so now, and not when the other items have been waited for.
			if (!context.continueOnFail() && !isBatched(context)) {
				await run.waitForAll('submitted', context.getItemIndex());
				if (run.hasFailed()) return [{ json: answer }];
			}
			return [await finishedTask(context, state, { run })];
		case 'awaitWebhook':
			return await awaitDelivery(context, state, run);
		case 'notifyTrigger':
			await tellTrigger(context, answer);
			return [{ json: answer }];
		default:
			return [{ json: answer }];
	}
}

/**
 * Checks what 'Get the Transcript' asks for before anything is submitted, and adds the address that
 * the service shall call.
 */
export async function prepareCompletion(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	checkNotRefusedBefore(context);
	const onCompletion = onCompletionOf(context);
	if (onCompletion === 'poll' || onCompletion === 'awaitWebhook') checkWaitOptions(context);
	const webhookUrl = await webhookUrlFor(context, request, onCompletion);
	if (!webhookUrl) return;
	request.options.body = { ...(request.options.body as IDataObject), webhook_url: webhookUrl };
}

/** The address that the service shall call; undefined where it shall call none. */
async function webhookUrlFor(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	onCompletion: OnCompletion,
): Promise<string | undefined> {
	if (onCompletion === 'awaitWebhook') return resumeAddress(context, request);
	if (onCompletion === 'notifyTrigger') {
		const triggerUrl = triggerUrlOf(context);
		await checkTrigger(context, request, triggerUrl);
		return triggerUrl;
	}
	if (onCompletion !== 'callUrl') return undefined;
	const given = textIn(context, context.getNodeParameter('webhookUrl', ''), 'Webhook URL');
	const webhookUrl = required(context, given, 'Webhook URL');
	checkWebhookUrl(context, request, webhookUrl, 'Webhook URL');
	return webhookUrl;
}

const ON_COMPLETION = ['awaitWebhook', 'callUrl', 'notifyTrigger', 'poll', 'returnTask'] as const;

type OnCompletion = (typeof ON_COMPLETION)[number];

/** 'Get the Transcript'. Not set, it is what the panel begins with. */
function onCompletionOf(context: IExecutePaginationFunctions): OnCompletion {
	const value: unknown = context.getNodeParameter('onCompletion', '');
	const byDefault = context.getNodeParameter('operation') === 'sendBot' ? 'returnTask' : 'poll';
	return choiceIn(context, value, 'Get the Transcript', ON_COMPLETION) ?? byDefault;
}

/**
 * For `perform`: what was submitted in this execution is not checked and built again. A request that
 * may be sent again with its Idempotency-Key is.
 */
export function isAccepted(context: IExecutePaginationFunctions): boolean {
	const memory = recall(context);
	return memory !== undefined && !(memory.state === 'sent' && memory.key);
}

async function submitOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<{ answer: IDataObject; isFresh: boolean }> {
	const memory = recall(context);
	if (memory?.state === 'accepted') return { answer: memory.answer, isFresh: false };
	if (memory && !memory.key) throw mayHaveBeenAccepted(context);
	const key = request.options.headers?.['Idempotency-Key'];
	const file = key === undefined ? undefined : fileOf(recordingOf(context).binary);
	remember(context, { state: 'sent', key: key === undefined ? undefined : String(key), file });
	const sent = {
		// With a key that was sent before, the answer may be about an older task with another address.
		deliversTo: memory || hasOwnKey(context) ? undefined : deliveryAddress(context),
		startAt: startAtIn(request),
	};
	let failure: unknown;
	try {
		const items = await sendDeclared(context, request, policy);
		const withId = items.find(({ json }) => Object.values(idsIn(json)).some(Boolean));
		return { answer: await keep(context, (withId ?? items[0])?.json ?? {}, sent), isFresh: true };
	} catch (error) {
		failure = error;
	}
	// A key is kept: an attempt before the last may have been accepted, and its answer lost.
	const isHarmless =
		neverLeft(failure) || wasCertainlyRefused(failure) || wasCancelledInTurn(context, failure);
	if (key === undefined && isHarmless) forget(context);
	else if (!policy.repeatable && failure instanceof ServiceError) {
		failure.description = [LOOK_FIRST, said(failure.problem)].filter(Boolean).join(' ');
	}
	throw failure;
}

const LOOK_FIRST =
	'The service may have accepted it, and a second try could cost twice. Look in your account at the service (or with Transcript: Get Many) whether it is there. If it is not, run the workflow again.';

/** Remembers the answer; the secret of a webhook that n8n itself receives is kept sealed. */
async function keep(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
	sent: { deliversTo?: string; startAt?: string },
): Promise<IDataObject> {
	const onCompletion = onCompletionOf(context);
	const at = Date.now();
	// Noted before anything is awaited: whatever fails from here on, the service has accepted it.
	const shown = withoutSecrets(answer, '', onCompletion === 'callUrl') as IDataObject;
	remember(context, { state: 'accepted', at, answer: shown, ...sent });
	const { webhook_secret: secret } = answer;
	if (typeof secret !== 'string' || onCompletion === 'callUrl') return shown;
	const { apiKey } = await credentialOf(context);
	const sealedSecret = seal(apiKey, SUBMISSION_SECRET, submissionKey(idsIn(answer)), secret);
	remember(context, { state: 'accepted', at, answer: shown, ...sent, sealedSecret });
	return shown;
}

/** Where the service delivers what is submitted now; '' for nowhere. */
function deliveryAddress(context: IExecutePaginationFunctions): string {
	const onCompletion = onCompletionOf(context);
	if (onCompletion === 'awaitWebhook') return ownAddress(context);
	if (onCompletion === 'callUrl') return String(context.getNodeParameter('webhookUrl', ''));
	return onCompletion === 'notifyTrigger' ? triggerUrlOf(context) : '';
}

/** Whether the user gave the Idempotency-Key: it may have been used before, in any execution. */
function hasOwnKey(context: IExecutePaginationFunctions): boolean {
	const { idempotencyKey } = context.getNodeParameter('options', {}) as IDataObject;
	return (idempotencyKey ?? '') !== '';
}

function startAtIn({ options }: RoutingRequest): string | undefined {
	const { start_at: startAt } = (options.body ?? {}) as IDataObject;
	return typeof startAt === 'string' ? startAt : undefined;
}

/** When a bot starts: as the service has answered, or else as it was sent. */
function scheduledStart(context: IExecutePaginationFunctions, answer: IDataObject): IDataObject {
	const memory = recall(context);
	const sent = memory?.state === 'accepted' ? memory.startAt : undefined;
	const start = answer.scheduled_start_at ?? sent;
	return start === undefined ? {} : { scheduled_start_at: start };
}

function triggerUrlOf(context: IExecutePaginationFunctions): string {
	const given = textIn(context, context.getNodeParameter('triggerUrl', ''), 'Trigger URL');
	return required(context, given, 'Trigger URL');
}

/** Hands the secret to the trigger once; afterwards this node has no use for it. */
async function tellTrigger(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): Promise<void> {
	const memory = recall(context);
	if (memory?.state !== 'accepted') return;
	const ids = idsIn(answer);
	const { deliversTo } = memory;
	if (deliversTo && deliversTo !== triggerUrlOf(context)) {
		// A query may hold what is secret.
		const { origin, pathname } = new URL(deliversTo);
		throw refuse(
			context,
			`The service reports ${submissionName(ids)} to another address than 'Trigger URL': '${origin}${pathname}'`,
			'It was submitted with that address, and the service cannot be given another one. Fetch its result with Transcript: Wait Until Finished.',
		);
	}
	if (memory.handedOver) return;
	const { apiKey } = await credentialOf(context);
	const sealedSecret = memory.sealedSecret ?? '';
	const secret = unseal(apiKey, SUBMISSION_SECRET, submissionKey(ids), sealedSecret);
	if (!secret) {
		throw refuse(
			context,
			`The service gave no readable webhook_secret for ${submissionName(ids)}, so the trigger could not check its delivery`,
			'What was submitted goes on and is not lost: fetch its result with Transcript: Wait Until Finished.',
		);
	}
	await handOver(context, triggerUrlOf(context), ids, secret);
	remember(context, { ...memory, sealedSecret: undefined, handedOver: true });
}

/** Cancelled while it waited for its turn, or after a refusal for the next try. */
function wasCancelledInTurn(context: IExecutePaginationFunctions, failure: unknown): boolean {
	const cancelled = context.getExecutionCancelSignal();
	return cancelled?.aborted === true && failure === cancelled.reason;
}

function mayHaveBeenAccepted(context: IExecutePaginationFunctions): NodeOperationError {
	return refuse(
		context,
		'It is not known whether the service accepted this item, so it is not sent again',
		LOOK_FIRST,
	);
}

function withoutId(context: IExecutePaginationFunctions): NodeOperationError {
	return refuse(
		context,
		'The service answered that this item is accepted, but without an id',
		'It is not submitted again, because that could cost twice. Look in your account at the service (or with Transcript: Get Many) for its id, then fetch it with Transcript: Wait Until Finished.',
	);
}
