import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isSubworkflow } from '../../shared/n8nInternals/runIdentity';

export interface RetryWords {
	/** The execution of which a Retry goes on with what was accepted. */
	ofExecution: string;
	/** What submits again. Follows an article. */
	newExecution: string;
}

/**
 * Words for a Retry. The error of a sub-workflow is also shown in the execution of its caller, where
 * "this execution" would name the wrong one: its Retry starts the sub-workflow anew.
 */
export function retryWords(context: IExecutePaginationFunctions): RetryWords {
	return isSubworkflow(context)
		? {
				ofExecution: `execution ${context.getExecutionId()} (the sub-workflow, whose caller then does not get the output)`,
				newExecution:
					'new execution, a Retry of the caller or Retry On Fail of the node that calls it',
			}
		: { ofExecution: 'this execution', newExecution: 'new execution' };
}

/** Advice for what was accepted if a retry can succeed. */
export function retryAdvice({ ofExecution, newExecution }: RetryWords): string {
	return `Retry On Fail, and a Retry of ${ofExecution}, go on with that and cost nothing more, but a ${newExecution} is charged again.`;
}

/**
 * Advice for the other items if no retry can succeed. `failed`: the item that failed, if a new execution would
 * pay for it, too.
 */
export function continueAdvice({ ofExecution, newExecution }: RetryWords, failed = ''): string {
	const which = failed ? `, and ${failed}, too` : ', so give it only what failed';
	return `To get these without paying twice, set 'On Error' of this node to Continue, save the workflow, and choose 'Retry with currently saved workflow' for ${ofExecution}. A ${newExecution} would submit them again${which}.`;
}

/** The operations that fetch what was submitted, for messages. */
export const WAIT_OPERATIONS =
	'Transcript: Wait Until Finished (a bot with Meeting: Wait Until Transcribed)';

/** Advice for all items of a stopped execution: n8n offers a Retry only if an execution has failed. */
export const STOPPED_ADVICE = `n8n offers no Retry of a stopped execution. Fetch these with ${WAIT_OPERATIONS}; look in your account at the service for an item without an id. Do not run the workflow again for these: it would submit them again.`;
