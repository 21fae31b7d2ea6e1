import type { INodeExecutionData, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { answer, deliveryFrom } from '../Transcriber/completion/signature';
import { webhookCredential } from '../Transcriber/completion/webhookCredential';
import { hasSucceeded } from '../Transcriber/n8nInternals/answered';
import { ServiceError } from '../Transcriber/request/errors';
import { eventIn, type DeliveredEvent } from './event';
import { optionsOf, outputFor, statusAtService } from './output';
import { settle } from './settle';
import { Store } from './store';
import { proofOf, verify } from './verify';

/**
 * POST: a delivery of the service. Nothing is believed and no execution starts before the
 * signature over the raw body is verified (service document, "Authentication"). After every answer
 * but 200 the service tries again (service document, "Events").
 */
export async function receive(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const delivery = await deliveryFrom(context);
	if ('refused' in delivery) return answer(context, delivery.refused, delivery.message);
	const store = new Store(context);
	let verdict = verify(delivery, store, await webhookCredential(context));
	// The API key may have been changed a moment ago.
	if (verdict.kind === 'unreadable') {
		verdict = verify(delivery, store, await webhookCredential(context, true));
	}
	if (verdict.kind === 'forged') return answer(context, 401, 'Signature refused');
	if (verdict.kind === 'unknown') return answer(context, 503, 'Its secret is not here yet');

	const event = eventIn(delivery.body);
	try {
		if (verdict.kind === 'unreadable') {
			// Nobody can tell who has sent it, so only what the service itself says counts.
			if (event) event.status = await statusAtService(context, event);
			if (!event?.status) return answer(context, 401, 'Signature refused');
		}
		if (!event) return answer(context, 400, 'Not a delivery as documented');
		const id = verdict.id ?? event.taskId ?? event.botId ?? '';
		return await emit(context, store, event, id, proofOf(delivery));
	} catch (error) {
		const isService = error instanceof ServiceError;
		return answer(context, isService ? 503 : 500, 'It cannot be taken in now');
	}
}

/** Starts an execution, once for each submission and final status. */
async function emit(
	context: IWebhookFunctions,
	store: Store,
	event: DeliveredEvent,
	id: string,
	proof: string,
): Promise<IWebhookResponseData> {
	if (optionsOf(context).emitDuplicates) {
		const output = await outputFor(context, event);
		return output ? started(output) : answer(context, 200, 'Not selected');
	}
	const status = String(event.body.status ?? '?').charAt(0);
	const statuses = store.endingOf(id)?.statuses ?? '';
	// A repeat must not be told that all is well before it is.
	if (store.isInFlight(id)) return answer(context, 503, 'Still at work on it');
	if (statuses.includes(status)) {
		store.keepEnding(id);
		return answer(context, 200, 'Known');
	}

	store.open(id);
	let output: INodeExecutionData | undefined;
	try {
		output = await outputFor(context, event);
	} finally {
		if (!output) store.leave(id);
	}
	store.end(id, { statuses: statuses + status, proof }, output !== undefined);
	void settle(context);
	if (!output) {
		store.close(id, true);
		return answer(context, 200, 'Not selected');
	}
	void hasSucceeded(context).then((succeeded) => store.close(id, succeeded));
	return started(output);
}

function started(output: INodeExecutionData): IWebhookResponseData {
	return { workflowData: [[output]], webhookResponse: { message: 'Accepted' } };
}
