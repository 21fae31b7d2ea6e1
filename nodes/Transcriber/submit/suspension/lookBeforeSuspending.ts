import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { isCalledOff } from '../../../shared/api/calledOffBot';
import { hasEnded } from '../../../shared/api/statusMeaning';
import { checkBalance } from '../../wait/finishedTask';
import { waitOptionsOf } from '../../wait/waitOptions';
import type { Suspension } from '../once/suspensionState';
import type { AcceptedMemory, Submitted } from '../once/submissionMemory';
import { lookNow } from './resultsAfterWaking';

/**
 * What was known of a task at most this long ago, in ms, is known well enough to suspend: the service
 * repeats early deliveries. So a submission younger than this is not looked at.
 */
export const YOUNG = { ms: 5_000 };

/** How often to look again before an execution is suspended, if one round of looks takes longer than that. */
const MOST_ROUNDS = 2;

/** Whether what was submitted has certainly not been missed yet. */
export function isYoung({ at }: AcceptedMemory): boolean {
	return Date.now() - at <= YOUNG.ms;
}

/** The state of a task that may have ended unnoticed; undefined if there is no reason to ask. */
export async function lookIfNeeded(
	context: IExecutePaginationFunctions,
	{ ids, answer }: Submitted,
	accepted: AcceptedMemory,
): Promise<IDataObject | undefined> {
	// Until it is suspended, an execution refuses deliveries. With many or slow submissions, the
	// service may have given up the first deliveries before the last item is submitted.
	const hasToFail = waitOptionsOf(context).onInsufficientBalance === 'fail';
	// The answer to the submit may not mention a low balance, and its status is no proof.
	if (isYoung(accepted) && !hasToFail && !hasEnded(answer.status)) return undefined;
	const { state } = await lookNow(context, ids);
	checkBalance(context, state, ids);
	return state;
}

/**
 * The looks of many items, with a busy key, or at a slow service can take minutes, and n8n refuses the
 * deliveries that come meanwhile. So what has not ended is looked at again, up to {@link MOST_ROUNDS}
 * times, until one round is quick. If none is, the execution is suspended, because the service repeats its
 * deliveries.
 */
export async function lookAgain(
	context: IExecutePaginationFunctions,
	{ items }: Suspension,
	began: number,
): Promise<void> {
	let since = began;
	for (let rounds = 0; rounds < MOST_ROUNDS && Date.now() - since > YOUNG.ms; rounds++) {
		since = Date.now();
		const open = Object.values(items).filter(({ ended }) => !ended);
		const looks = open.map(async (item) => {
			const { taskId, botId } = item;
			const outlook = await lookNow(context, { taskId, botId });
			item.ended = outlook.hasEnded;
			// A failed look says nothing.
			if ('status' in outlook.state) item.calledOff = isCalledOff(outlook.state);
		});
		await Promise.all(looks);
	}
}
