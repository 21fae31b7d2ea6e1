import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { hasSucceeded } from '../../../shared/n8nInternals/executionSaved';
import {
	suspendedExecution,
	wake,
	type SuspendedExecution,
} from '../../../shared/n8nInternals/suspendExecution';
import { isInProgress, statusIn } from '../../../shared/api/statusMeaning';
import { SUBMISSION_SECRET } from '../once/submissionMemory';
import {
	RESUME,
	hasEndedAtService,
	haveAllEnded,
	knownOf,
	noteEnding,
	type WakeCall,
	type KnownEndings,
} from './knownEndings';
import { Undecided, decidedBy } from '../../../shared/webhook/answerInTime';
import { logSeldom, wordForLog } from '../../../shared/webhook/logSeldom';
import { secretIn, unseal } from '../../../shared/webhook/sealedSecret';
import {
	respond,
	deliveryFrom,
	isSignedWith,
	type Delivery,
} from '../../../shared/webhook/signature';
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
	if ('refused' in delivery) return respond(context, delivery.refused, delivery.message);
	const item = itemOf(delivery, suspension);
	if (!item) return refused(context);

	const state = knownOf(context, suspension);
	if (!(await isGenuine(now, state, delivery, item))) return refused(context);
	const key = submissionKey(item);
	if (!state.ended.has(key) && isInProgress(statusIn(delivery.body?.status))) {
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

function refused(context: IWebhookFunctions): IWebhookResponseData {
	return respond(context, 401, 'Signature refused');
}

function suspensionOf({ nodeContext }: SuspendedExecution): Suspension | undefined {
	const { suspension } = nodeContext as { suspension?: Suspension };
	return suspension?.asleep && !suspension.resumed ? suspension : undefined;
}

function itemOf({ body }: Delivery, { items }: Suspension): WaitingItem | undefined {
	return Object.values(items).find(
		({ taskId, botId }) => isSameId(taskId, body?.task_id) || isSameId(botId, body?.bot_id),
	);
}

function isSameId(id: string | undefined, value: unknown): boolean {
	return id !== undefined && (value === id || (typeof value === 'number' && String(value) === id));
}

/**
 * Verifies the signature with the secret of this one submission. If the API key was rotated since,
 * the sealed secret is unreadable: then the service is asked, with the new key.
 */
async function isGenuine(
	now: WakeCall,
	state: KnownEndings,
	delivery: Delivery,
	item: WaitingItem,
): Promise<boolean> {
	const secret = (await secretOf(now, item)) ?? (await secretOf(now, item, true));
	if (secret !== undefined) {
		const isSigned = isSignedWith(secret, delivery);
		if (isSigned) noteEnding(state, item, (delivery.body ?? {}) as IDataObject);
		return isSigned;
	}
	return await hasEndedAtService(now, state, item);
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
