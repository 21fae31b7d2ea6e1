import type { IWebhookDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { hasSucceeded } from '../n8nInternals/answered';
import { credentialOf } from '../request/credential';
import { SUBMISSION_SECRET } from './accepted';
import { hasEndedAtService } from './awaitWebhook';
import { unseal } from './seal';
import { answer, deliveryFrom, isSignedWith, type Delivery } from './signature';
import { sleepingExecution, wake, type Suspension, type WaitingItem } from './suspend';

/** The address at which a suspended execution takes deliveries: `$execution.resumeUrl` + node id. */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: '={{ $nodeId }}',
		isFullPath: true,
		restartWebhook: true,
	},
];

/**
 * Which submissions of a suspended execution have ended, as far as this process knows. Kept in
 * memory, because n8n saves nothing of a call that does not wake the execution; what another
 * process or a restart has made it miss, the service is asked for.
 */
interface Known {
	ended: Set<string>;
	until: number;
	/** Set while n8n wakes the execution, and for good when it has: whether that succeeded. */
	woken?: Promise<boolean>;
}

const known = new Map<string, Known>();

/**
 * A delivery to a suspended execution. Nothing is believed before its signature is verified over
 * the raw body (service document, "Authentication"); the execution wakes once, when every
 * submission it waits for has ended.
 */
export async function resume(this: IWebhookFunctions): Promise<IWebhookResponseData> {
	const sleeping = sleepingExecution(this);
	if (!sleeping) return answer(this, 409, 'This execution waits for nothing');
	const { suspension } = sleeping;
	const delivery = await deliveryFrom(this);
	if ('refused' in delivery) return answer(this, delivery.refused, delivery.message);
	const item = itemOf(delivery, suspension);
	if (!item) return answer(this, 401, 'Signature refused');

	const state = knownOf(this, suspension);
	if (!(await isGenuine(this, delivery, item))) return answer(this, 401, 'Signature refused');
	state.ended.add(keyOf(item));
	if (!(await haveAllEnded(this, state, suspension))) return answer(this, 200, 'Noted');
	while (state.woken) if (await state.woken) return answer(this, 200, 'Known');
	state.woken = hasSucceeded(this).then((succeeded) => {
		// The service hears of the failure and delivers again: that wakes it.
		if (!succeeded) state.woken = undefined;
		return succeeded;
	});
	return { workflowData: wake(sleeping) };
}

function itemOf({ body }: Delivery, { items }: Suspension): WaitingItem | undefined {
	return Object.values(items).find(
		({ taskId, botId }) =>
			(taskId !== undefined && taskId === body?.task_id) ||
			(botId !== undefined && botId === body?.bot_id),
	);
}

function keyOf({ taskId, botId }: WaitingItem): string {
	return taskId ? `task ${taskId}` : `bot ${botId}`;
}

/**
 * Verifies the signature with the secret of this one submission. A secret that was sealed with an
 * API key since rotated cannot be read any more: then the service itself is asked, with the new key.
 */
async function isGenuine(
	context: IWebhookFunctions,
	delivery: Delivery,
	item: WaitingItem,
): Promise<boolean> {
	const { apiKey } = await credentialOf(context);
	const secret = unseal(apiKey, SUBMISSION_SECRET, keyOf(item), item.sealedSecret ?? '');
	if (secret !== undefined) return isSignedWith(secret, delivery);
	return await hasEndedAtService(context, item);
}

function knownOf(context: IWebhookFunctions, { run, until, items }: Suspension): Known {
	const now = Date.now();
	for (const [key, { until: end }] of known) if (end < now) known.delete(key);
	// An execution may be suspended again: by another node, or by the same one in a loop.
	const key = [context.getExecutionId(), context.getNode().id, run].join(' ');
	let state = known.get(key);
	if (!state) {
		const ended = Object.values(items).filter((item) => item.ended);
		state = { ended: new Set(ended.map(keyOf)), until };
		known.set(key, state);
	}
	return state;
}

/** Asks for one submission after the other until the first that has not ended. */
async function haveAllEnded(
	context: IWebhookFunctions,
	state: Known,
	{ items }: Suspension,
): Promise<boolean> {
	for (const item of Object.values(items)) {
		if (state.ended.has(keyOf(item))) continue;
		if (!(await hasEndedAtService(context, item))) return false;
		state.ended.add(keyOf(item));
	}
	return true;
}
