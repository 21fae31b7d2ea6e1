import { sleep, type IWebhookFunctions } from 'n8n-workflow';

/** A response whose caller has hung up, in ms: between two looks at it, and how long to look. */
export const HUNG_UP = { pauseMs: 100, giveUpMs: 3_600_000 };

/**
 * Whether n8n saves the execution before static data: n8n 2 does, n8n 1 does not (see the table in
 * staticData.ts). To be called at most one turn of the event loop before `webhook()` returns. The
 * function that it returns is for the moment when n8n is about to save static data: n8n 1 is in the
 * same turn, while n8n 2 has taken at least one more to save the execution.
 */
export function savesExecutionFirst(): () => boolean {
	let isLater = false;
	void sleep(0).then(() => (isLater = true));
	return () => isLater;
}

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
	// n8n 2 has saved the execution, and ends the response only when a place is free; if the user stops
	// the execution before, never.
	const giveUpAt = Date.now() + HUNG_UP.giveUpMs;
	while (!response.writableEnded && Date.now() < giveUpAt) await sleep(HUNG_UP.pauseMs);
	return response.writableEnded && response.statusCode < 400;
}
