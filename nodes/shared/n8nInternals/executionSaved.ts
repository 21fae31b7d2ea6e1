import { sleep, type IWebhookFunctions } from 'n8n-workflow';

/** Between two looks at a response whose caller has hung up, in ms. */
const PAUSE_MS = 100;

/**
 * Waits for n8n's answer to this webhook call. True if n8n has started or woken an execution; until
 * then no repeat of the call may get a 200.
 *
 * n8n does not document when it answers. The table in staticData.ts says what was seen: n8n 2 answers
 * after it has saved the execution, or with 500 if it cannot; n8n 1 may answer a moment before. Both
 * also hold if the caller hangs up.
 */
export async function hasSucceeded(context: IWebhookFunctions): Promise<boolean> {
	const response = context.getResponseObject();
	if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve));
	// If the caller has hung up, n8n still ends the response. With a limit of concurrent executions,
	// n8n 2 has saved the execution, and ends the response only when a place is free.
	while (!response.writableEnded) await sleep(PAUSE_MS);
	return response.statusCode < 400;
}
