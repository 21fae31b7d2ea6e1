import type { IDataObject, IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { reasonOfNo } from '../../shared/api/refusalBody';
import { refuse } from '../../shared/parameters/refuse';
import { inOutput } from '../item/itemFailure';

/**
 * The error for an answer with a success status which says that nothing was done (see `saysNo`).
 * `what`: what was not done, e.g. `the dictionary is not changed`.
 */
export function refuseNo(
	context: IExecutePaginationFunctions,
	what: string,
	answer: IDataObject,
	next: string,
): NodeOperationError {
	// `withoutError` has renamed the field `error`.
	const { service_error: error, ...others } = answer;
	const reason = reasonOfNo(error === undefined ? others : { ...others, error });
	return refuse(
		context,
		inOutput(context, `The service answered that ${what}: ${reason}`, next),
		next,
	);
}

/** The same for a write of the dictionary. */
export function dictionaryNotChanged(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): NodeOperationError {
	return refuseNo(
		context,
		'the dictionary is not changed',
		answer,
		'Look with Dictionary: Get what it has, and try again.',
	);
}
