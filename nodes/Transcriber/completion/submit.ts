import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { checkWebhookUrl, refuse } from '../request/checks';
import { credentialOf } from '../request/credential';
import { ServiceError, said, wasCertainlyRefused } from '../request/errors';
import { choiceIn, required, textIn } from '../request/parameters';
import type { NodeRun } from '../request/run';
import { send, type Policy, type RoutingRequest } from '../request/service';
import { taskIdOf } from '../request/shapes';
import { SUBMISSION_SECRET, forget, recall, remember } from './accepted';
import { awaitDelivery, checkNotRefusedBefore, resumeAddress } from './awaitWebhook';
import { checkTriggerUrl, handOver } from './handOver';
import { seal, unseal } from './seal';

import { finishedTask } from './wait';
import { checkWaitOptions } from './waitOptions';

/**
 * Carries out transcribeFile, transcribeUrl and sendBot: submits once, whatever happens, then does
 * what 'When Submitted' says.
 */
export async function submit(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const answer = await submitOnce.call(this, request, policy);
	run.accept(this.getItemIndex(), nameOf(answer));
	switch (onCompletionOf(this)) {
		case 'poll':
			return [await finishedTask.call(this, answer)];
		case 'awaitWebhook':
			return await awaitDelivery.call(this, answer, run);
		case 'notifyTrigger':
			await tellTrigger(this, answer);
			return [{ json: answer }];
		default:
			return [{ json: answer }];
	}
}

/**
 * Checks what 'When Submitted' asks for before anything is submitted, and adds the address that
 * the service shall call.
 */
export function prepareCompletion(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
): void {
	checkNotRefusedBefore(this);
	const onCompletion = onCompletionOf(this);
	if (onCompletion === 'poll' || onCompletion === 'awaitWebhook') checkWaitOptions.call(this);
	const webhookUrl = webhookUrlFor(this, request, onCompletion);
	if (!webhookUrl) return;
	request.options.body = { ...(request.options.body as IDataObject), webhook_url: webhookUrl };
}

/** The address that the service shall call; undefined where it shall call none. */
function webhookUrlFor(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	onCompletion: OnCompletion,
): string | undefined {
	if (onCompletion === 'awaitWebhook') return resumeAddress(context, request);
	if (onCompletion === 'notifyTrigger') {
		const triggerUrl = triggerUrlOf(context);
		checkTriggerUrl(context, request, triggerUrl);
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

/** 'When Submitted'. Not set, it is what the panel begins with. */
function onCompletionOf(context: IExecutePaginationFunctions): OnCompletion {
	const value: unknown = context.getNodeParameter('onCompletion', '');
	const byDefault = context.getNodeParameter('operation') === 'sendBot' ? 'returnTask' : 'poll';
	return choiceIn(context, value, 'When Submitted', ON_COMPLETION) ?? byDefault;
}

/** For `perform`: what was submitted in this execution is not checked and built again. */
export function isAccepted(context: IExecutePaginationFunctions): boolean {
	return recall(context) !== undefined;
}

async function submitOnce(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<IDataObject> {
	const memory = recall(this);
	if (memory?.state === 'accepted') return memory.answer;
	if (memory?.state === 'unknown') throw mayHaveBeenAccepted.call(this);
	if (!policy.repeatable) remember(this, { state: 'unknown' });
	let failure: unknown;
	try {
		const [item] = await send.call(this, request, policy);
		const answer = item?.json ?? {};
		return await keep(this, answer);
	} catch (error) {
		failure = error;
	}
	if (wasCertainlyRefused(failure) || neverLeft(this, failure)) forget(this);
	else if (!policy.repeatable && failure instanceof ServiceError) {
		failure.description = [LOOK_FIRST, said(failure.problem)].filter(Boolean).join(' ');
	}
	throw failure;
}

const LOOK_FIRST =
	'It may have been accepted all the same, and a second try could cost twice. Look in the cabinet (or with Task: Get Many) whether it is there; if not, run the workflow anew.';

/** Remembers the answer; the secret of a webhook that n8n itself receives is kept sealed. */
async function keep(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): Promise<IDataObject> {
	const { webhook_secret: secret, ...shown } = answer;
	if (typeof secret !== 'string' || onCompletionOf(context) === 'callUrl') {
		remember(context, { state: 'accepted', at: Date.now(), answer });
		return answer;
	}
	const { apiKey } = await credentialOf(context);
	const sealedSecret = seal(apiKey, SUBMISSION_SECRET, nameOf(answer), secret);
	remember(context, { state: 'accepted', at: Date.now(), answer: shown, sealedSecret });
	return shown;
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
	if (memory?.state !== 'accepted' || memory.handedOver) return;
	const { apiKey } = await credentialOf(context);
	const secret = unseal(apiKey, SUBMISSION_SECRET, nameOf(answer), memory.sealedSecret ?? '');
	if (!secret) {
		throw refuse(
			context,
			`The service gave no readable webhook_secret for ${nameOf(answer)}, so the trigger could not check its delivery`,
			'What was submitted goes on and is not lost: fetch its result with Task: Wait Until Finished.',
		);
	}
	await handOver(context, triggerUrlOf(context), taskIdOf(answer) || String(answer.bot_id), secret);
	remember(context, { ...memory, sealedSecret: undefined, handedOver: true });
}

/** How a submission is called in messages, e.g. `task 7f3c`. */
function nameOf(answer: IDataObject): string {
	const taskId = taskIdOf(answer);
	if (taskId) return `task ${taskId}`;
	return answer.bot_id ? `bot ${String(answer.bot_id)}` : 'an answer without an id';
}

/** Cancelled while it waited for its turn, or after a refusal for the next try. */
function neverLeft(context: IExecutePaginationFunctions, failure: unknown): boolean {
	const cancelled = context.getExecutionCancelSignal();
	return cancelled?.aborted === true && failure === cancelled.reason;
}

function mayHaveBeenAccepted(this: IExecutePaginationFunctions): NodeOperationError {
	return refuse(
		this,
		'It is not known whether the service accepted this item, so it is not sent again',
		LOOK_FIRST,
	);
}
