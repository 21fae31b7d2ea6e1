import type { IDataObject } from 'n8n-workflow';

import { said, type ServiceError } from '../../shared/api/serviceError';
import type { LookBounds } from '../../shared/api/taskState';
import { STOPS_SPENDING } from '../../shared/api/types';

/**
 * For the status request after a refusal: 30 s from its turn, and as urgent as the cancellation. On a
 * busy key it would otherwise wait behind all the others, while the recording may go on.
 */
export const REFUSED_CANCEL: LookBounds = { fromTurn: 30_000, policy: STOPS_SPENDING };

/**
 * Whether a refused cancellation may be about the task or bot itself, so that its status can explain
 * the refusal. 404 only after a repeat: then an earlier attempt may have removed it.
 */
export function isAboutItsState({ problem: { status = 0, isRepeat } }: ServiceError): boolean {
	if (status === 404) return isRepeat === true;
	return status >= 400 && status < 500 && ![401, 402, 403, 429].includes(status);
}

/** Makes the failure say that the task or bot has already ended. */
export function sayItHasEnded(failure: ServiceError, what: string, { status }: IDataObject): void {
	failure.message = `The ${what} has already ended (${String(status)})`;
	const next = 'There is nothing left to cancel.';
	failure.description = [next, said(failure.problem)].filter(Boolean).join(' ');
}
