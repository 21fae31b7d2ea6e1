import type { INode, JsonObject } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { rowFor } from './errorTitlesAndAdvice';
import { isWithoutAnswer, mayBeLostRoute } from './gatewayAnswers';
import type { Problem } from './noUsableAnswer';

/** The error for a failed request, in words a no-code user can act on. */
export class ServiceError extends NodeApiError {
	readonly problem: Problem;

	/** The message says too little without what the service said. */
	readonly isVague: boolean;

	constructor(node: INode, problem: Problem) {
		const row = rowFor(problem);
		super(node, { message: row.message } as JsonObject, {
			message: row.message,
			description: adviceFor(problem),
			httpCode: problem.status === undefined ? undefined : String(problem.status),
		});
		// n8n replaces a message with certain words in it, such as ENOTFOUND.
		this.message = row.message;
		// n8n shows the details of an error depending on this name, not on its class.
		this.name = 'NodeApiError';
		this.problem = problem;
		this.isVague = row.isVague;
	}
}

function adviceFor(problem: Problem): string {
	return [rowFor(problem).next, asksToWait(problem), said(problem)].filter(Boolean).join(' ');
}

/** The advice of a failure if the service may have accepted the same request in an earlier try or execution. */
export function adviceForRepeat({ problem }: ServiceError): string {
	return adviceFor({ ...problem, isRepeat: true });
}

/** Whether the service has certainly done nothing, so that sending again is safe. */
export function wasCertainlyRefused(failure: unknown): boolean {
	return failure instanceof ServiceError && isCertainRefusal(failure.problem);
}

/** The same as {@link wasCertainlyRefused}, for a problem. */
export function isCertainRefusal(problem: Problem): boolean {
	const { status, transport, isUnsent } = problem;
	if (isUnsent) return true;
	if (transport === 'notJson' || isWithoutAnswer(problem)) return false;
	if (status !== undefined) return isRefusalStatus(status);
	// Without the rest of the file, the service could not accept it.
	return ['unreachable', 'unknownHost', 'noTurn', 'storage'].includes(transport ?? '');
}

/**
 * Whether a status means that nothing was done. 301, 302 and 303 may answer a request that was
 * carried out.
 */
function isRefusalStatus(status: number): boolean {
	if (status === 307 || status === 308 || status === 503) return true;
	return status >= 400 && status < 500;
}

/**
 * Whether the service refuses a request for good, so that repeating it is useless. A web page or a
 * 407 comes from a proxy, which says nothing about the request.
 */
export function isRefusedForGood(failure: unknown): boolean {
	if (!(failure instanceof ServiceError) || isWithoutAnswer(failure.problem)) return false;
	const { status = 0, isWebPage } = failure.problem;
	return status >= 400 && status < 500 && ![401, 403, 407, 429].includes(status) && !isWebPage;
}

/**
 * Whether there is nothing at the address of the bot or task. A gateway that has lost its route to
 * the service says so, too: see {@link isUnknownToService}.
 */
export function isNotFound(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status = 0, isWebPage } = failure.problem;
	return [404, 410].includes(status) && !isWebPage;
}

/**
 * Whether the service says that it does not know the bot or task. The document does not show the
 * answer. Only 404 and 410 of the service itself count: a mistake would send a second bot, or let the
 * first go on recording. A code counts, too: gateways send words. Nothing at all does not: Envoy
 * answers a lost route like that.
 */
export function isUnknownToService(failure: unknown): boolean {
	if (!(failure instanceof ServiceError) || !isNotFound(failure)) return false;
	const { isServiceShape, errorCode } = failure.problem;
	return isServiceShape === true || errorCode !== undefined;
}

/**
 * What to do about a refusal, for an id that the service itself has given. The usual advice for an
 * unknown id, to check it, is for an id that the user has entered.
 */
export function adviceForKnownId(failure: ServiceError): string {
	if (isNotFound(failure)) return said(failure.problem);
	return failure.description ?? '';
}

/**
 * What remains of the advice of a failure if the service may have done what was asked: to try again
 * would be wrong, to correct the address is not. Empty if the failure is not one of the service.
 */
export function adviceIfUncertain(failure: unknown): string {
	if (!(failure instanceof ServiceError)) return '';
	const { problem, description } = failure;
	const { transport } = problem;
	const isAboutAddress = transport && ['redirect', 'notJson', 'tls'].includes(transport);
	return (isAboutAddress ? description : undefined) ?? said(problem);
}

/** The status and message of the service, or of what answered in its place, word for word. */
export function said(problem: Problem): string {
	const { status, errorCode, serviceMessage, isWebPage, transport } = problem;
	if (status === undefined) return '';
	const mayBeOther = isWebPage || transport === 'notJson' || mayBeLostRoute(problem);
	const answered = mayBeOther ? 'The answer was' : 'The service answered';
	const code = errorCode ? `, ${errorCode}` : '';
	const words = serviceMessage ? `: “${serviceMessage}”` : '';
	return `${answered} HTTP ${status}${code}${words}.`;
}

/** When to try again, if the service says so. */
function asksToWait({ retryAfter }: Problem): string {
	if (!retryAfter) return '';
	const [amount, unit] = inWords(retryAfter / 1000);
	return `The service asks to try again in ${amount} ${unit}${amount === 1 ? '' : 's'}.`;
}

function inWords(seconds: number): [amount: number, unit: string] {
	if (seconds < 120) return [Math.ceil(seconds), 'second'];
	if (seconds < 120 * 60) return [Math.ceil(seconds / 60), 'minute'];
	return [Math.ceil(seconds / 3600), 'hour'];
}
