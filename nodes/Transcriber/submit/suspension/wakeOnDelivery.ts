import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { hasSucceeded } from '../../../shared/n8nInternals/executionSaved';
import {
	suspendedExecution,
	wake,
	type SuspendedExecution,
} from '../../../shared/n8nInternals/suspendExecution';
import { goesOn } from '../../../shared/api/statusMeaning';
import { SUBMISSION_SECRET } from '../once/submissionMemory';
import { hasEndedAtService, haveAllEnded, type WakeCall } from './askWhetherEnded';
import { RESUME, knownOf, noteEnding, type KnownEndings } from './knownEndings';
import { Undecided, decidedBy } from '../../../shared/webhook/answerInTime';
import { logSeldom, wordForLog } from '../../../shared/webhook/logSeldom';
import { secretIn, unseal } from '../../../shared/webhook/sealedSecret';
import {
	respond,
	deliveryFrom,
	isSignedWith,
	type Delivery,
} from '../../../shared/webhook/hmacSignedBody';
import { webhookCredential } from '../../../shared/webhook/webhookCredential';
import { submissionKey } from '../../../shared/api/submission';
import type { Suspension, WaitingItem } from '../once/suspensionState';

/**
 * Handles a delivery to a suspended execution. Trusts no content before the signature over the raw
 * body is verified (service document, "Authentication"). Wakes the execution once, when every
 * submission it waits for has ended. Never throws: n8n would discard the data of the execution and
 * run it with an empty item. A delivery that cannot be decided gets 503 and changes nothing.
 */
export async function resume(this: IWebhookFunctions): Promise<IWebhookResponseData> {
	try {
		return await answerDelivery(this);
	} catch (error) {
		if (!(error instanceof Undecided)) {
			logSeldom(
				this,
				'error',
				`A delivery to a suspended execution gets 503: ${wordForLog(error)}`,
			);
		}
		return respond(this, 503, 'This delivery cannot be processed now. Deliver it again later.');
	}
}

async function answerDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const cameAt = Date.now();
	const now: WakeCall = { context, cameAt, deadline: cameAt + RESUME.answer };
	const suspended = suspendedExecution(context);
	const suspension = suspended && suspensionOf(suspended);
	if (!suspension) return respond(context, 409, 'This execution is not waiting for a delivery');
	const delivery = await decidedBy(deliveryFrom(context), now.deadline);
	if ('refused' in delivery) return refused(context, delivery.refused, delivery.message);
	const state = knownOf(context, suspension);
	const item = await genuineItem(now, state, delivery, itemsOf(delivery, suspension));
	if (!item) return refused(context, 401, 'Signature refused');
	const key = submissionKey(item);
	if (!state.ended.has(key) && goesOn(delivery.body?.status)) {
		const line = `A delivery to the suspended execution ${context.getExecutionId()} says that its recording has not ended. The execution waits on.`;
		logSeldom(context, 'warn', `${context.getNode().name}: ${line}`);
		return respond(context, 400, 'Not a delivery as documented');
	}
	state.ended.add(key);
	const decision = state.turn.then(
		async () => await decide(now, state, key, suspended, suspension),
	);
	state.turn = decision.catch(() => undefined);
	return await decidedBy(decision, now.deadline);
}

/** Answers a genuine delivery. Runs for one at a time, so that a repeat finds `noted`. */
async function decide(
	now: WakeCall,
	state: KnownEndings,
	key: string,
	suspended: SuspendedExecution,
	suspension: Suspension,
): Promise<IWebhookResponseData> {
	const { context, deadline } = now;
	if (Date.now() >= deadline) throw new Undecided();
	if (state.noted.has(key)) return respond(context, 200, 'Noted');
	if (!(await haveAllEnded(now, state, suspension))) {
		state.noted.add(key);
		return respond(context, 200, 'Noted');
	}
	while (state.woken) {
		if (await decidedBy(state.woken, deadline)) return respond(context, 200, 'Known');
	}
	if (Date.now() >= deadline) throw new Undecided();
	state.woken = hasSucceeded(context)
		.catch(() => false)
		.then((succeeded) => {
			// The service sees the failure and delivers again, which wakes the execution.
			if (!succeeded) state.woken = undefined;
			return succeeded;
		});
	suspension.resumed = true;
	for (const item of Object.values(suspension.items)) {
		item.completed = state.completed.has(submissionKey(item));
		item.failed = state.failed.has(submissionKey(item));
		item.recording = state.recordings.get(submissionKey(item));
	}
	return { workflowData: wake(suspended) };
}

/** Answers a delivery that changes nothing, and writes into n8n's log that it has come. */
function refused(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	const { name } = context.getNode();
	const ofService =
		'If it came from the service, something on the way may have changed it, or its secret can no longer be read. ';
	const cause = status === 401 ? ofService : '';
	const line = `${name}: A delivery to the suspended execution ${context.getExecutionId()} gets ${status}: ${message}. ${cause}The execution waits on, and asks the service itself when its 'Timeout' is over.`;
	logSeldom(context, 'warn', line);
	return respond(context, status, message);
}

function suspensionOf({ nodeContext }: SuspendedExecution): Suspension | undefined {
	const { suspension } = nodeContext as { suspension?: Suspension };
	return suspension?.asleep && !suspension.resumed ? suspension : undefined;
}

/** All items that wait for the task or bot: the service may give several items the same one. */
function itemsOf({ body }: Delivery, { items }: Suspension): WaitingItem[] {
	return Object.values(items).filter(
		({ taskId, botId }) => isSameId(taskId, body?.task_id) || isSameId(botId, body?.bot_id),
	);
}

function isSameId(id: string | undefined, value: unknown): boolean {
	return id !== undefined && (value === id || (typeof value === 'number' && String(value) === id));
}

/**
 * The item whose secret has signed the delivery: each answer to a submit may have its own secret, also
 * for the same task. If the API key was rotated since, a sealed secret is unreadable: then the service
 * is asked, with the new key.
 */
async function genuineItem(
	now: WakeCall,
	state: KnownEndings,
	delivery: Delivery,
	items: WaitingItem[],
): Promise<WaitingItem | undefined> {
	let unreadable: WaitingItem | undefined;
	for (const item of items) {
		const secret = (await secretOf(now, item)) ?? (await secretOf(now, item, true));
		if (secret === undefined) {
			unreadable ??= item;
		} else if (isSignedWith(secret, delivery)) {
			noteEnding(state, item, (delivery.body ?? {}) as IDataObject);
			return item;
		}
	}
	return unreadable && (await hasEndedAtService(now, state, unreadable)) ? unreadable : undefined;
}

/** Undefined if the service gave no secret, or if it was sealed with a different API key. */
async function secretOf(
	{ context, deadline }: WakeCall,
	{ sealedSecret, ...item }: WaitingItem,
	fresh?: boolean,
): Promise<string | undefined> {
	const { apiKey } = await decidedBy(webhookCredential(context, fresh), deadline);
	return secretIn(unseal(apiKey, SUBMISSION_SECRET, submissionKey(item), sealedSecret ?? ''));
}
