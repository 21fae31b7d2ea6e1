import type { SubmissionIds } from '../../../shared/api/submission';

/** One submission that a suspended execution waits for. */
export interface WaitingItem extends SubmissionIds {
	/** The sealed webhook_secret of the submission; missing if the service gave none. */
	sealedSecret?: string;
	ended?: boolean;
	/** Was a bot that is called off (see `isCalledOff`) when the execution was about to be suspended. */
	calledOff?: boolean;
	/** The task id of a bot's recording, according to a verified delivery or to the service itself. */
	recording?: string;
	/** Ended as `completed`, according to a verified delivery or to the service itself. */
	completed?: boolean;
	/** Ended as `failed`, according to a verified delivery or to the service itself. */
	failed?: boolean;
}

/** The state of a suspended execution, which n8n saves in the context of the node. */
export interface Suspension {
	run: number;
	/** When the execution stops waiting, in ms since 1970. */
	until: number;
	/** Keyed by {@link waitingKey}. */
	items: Record<string, WaitingItem>;
	/** Items that failed before the execution was suspended, with the reason. */
	refused: Record<number, string>;
	/** Set by the first item that suspends the execution, so that it is suspended only once. */
	asleep?: boolean;
	/** Set by the delivery that wakes the execution. */
	resumed?: boolean;
}

/** The first task's key is the bare item number, which older suspended executions hold. */
export function waitingKey(itemIndex: number, task: number): string {
	return task === 0 ? String(itemIndex) : `${itemIndex}.${task}`;
}
