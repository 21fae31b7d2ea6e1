import type { IExecutePaginationFunctions } from 'n8n-workflow';

import {
	isTool,
	nodeContextOf,
	runIndexAfterTimeout,
	runIndexOf,
} from '../../../shared/n8nInternals/runIdentity';
import { toolCallOf } from './toolCall';
import type { Suspension } from './suspensionState';

/**
 * The run index of the node in this execution, from 0. After a timeout of a suspended run, n8n
 * counts another run (see `suspend`), although it is the same one: then `isLate` is set.
 */
export function runOf(context: IExecutePaginationFunctions): { index: number; isLate: boolean } {
	const index = runIndexOf(context);
	const { suspension } = nodeContextOf(context) as { suspension?: Suspension };
	const isLate =
		suspension?.asleep === true &&
		!suspension.resumed &&
		index === runIndexAfterTimeout(suspension.run);
	return { index: isLate ? suspension.run : index, isLate };
}

/** Identifies an item within the execution by run and index: in a loop, the indexes repeat. */
export function placeOf(context: IExecutePaginationFunctions): string {
	// Each tool call has its own run index, so a call is identified by what it asks for.
	if (isTool(context)) return toolCallOf(context);
	return `${runOf(context).index}:${context.getItemIndex()}`;
}
