import type { SubmissionIds } from '../../shared/api/submission';

/** One submission that a suspended execution waits for. */
export interface WaitingItem extends SubmissionIds {
	/** The webhook_secret of the submission, sealed; missing where the service gave none. */
	sealedSecret?: string;
	ended?: boolean;
	/** It ended as `completed`: a verified delivery or the service itself has said so. */
	completed?: boolean;
}

/** What n8n saves with a suspended execution, in the context of the node. */
export interface Suspension {
	run: number;
	/** When the execution gives up waiting, in ms since 1970. */
	until: number;
	/** By {@link waitingKey}. */
	items: Record<string, WaitingItem>;
	/** Items that failed before the execution was suspended, with the reason. */
	refused: Record<number, string>;
	/** Set by the first item that gets there: the execution is suspended once. */
	asleep?: boolean;
	/** Set by the delivery that wakes the execution. */
	resumed?: boolean;
}

/** The first task of an item has the number of the item; executions that sleep hold such keys. */
export function waitingKey(itemIndex: number, task: number): string {
	return task === 0 ? String(itemIndex) : `${itemIndex}.${task}`;
}
