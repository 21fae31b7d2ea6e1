import type { IDataObject } from 'n8n-workflow';

import { said, type ServiceError } from '../../shared/api/serviceError';

/** How long the status request after a refusal may take, in ms. */
export const LOOK_MS = 30_000;

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
