import { sleep, type IWebhookFunctions } from 'n8n-workflow';

/** Longer than n8n takes to start an execution on a busy machine, in ms. */
const ANSWERED_WITHIN_MS = 60_000;

/**
 * Whether n8n has started or woken an execution for this call. Until then the caller must not
 * get a 200.
 *
 * n8n promises nothing about when it answers. Seen in 2.41.1 (webhook-helpers.js): for a webhook with
 * the response mode `onReceived`, n8n answers after it has saved the execution, and with 500 where it
 * could not. n8n 1.123.81 answers a moment before. A caller that hangs up changes neither.
 */
export async function hasSucceeded(context: IWebhookFunctions): Promise<boolean> {
	const response = context.getResponseObject();
	if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve));
	// After the caller has hung up, n8n still ends the response, though nobody reads it.
	const deadline = Date.now() + ANSWERED_WITHIN_MS;
	while (!response.writableEnded && Date.now() < deadline) await sleep(100);
	return response.writableEnded && response.statusCode < 400;
}
