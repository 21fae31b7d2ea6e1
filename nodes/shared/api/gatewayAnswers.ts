import type { Problem } from './noUsableAnswer';

/**
 * A gateway got no usable answer from the service, or did not wait for the whole request. 520 to 530 are
 * Cloudflare's, 499 is nginx's.
 */
const GATEWAY_STATUSES = [408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 530];

/** Whether the connection failed while it was made or used, which may pass. */
export function isBrokenConnection({ transport }: Problem): boolean {
	return transport === 'broken' || transport === 'timeout';
}

/** Whether the service may have carried out the request although no answer arrived. */
export function isWithoutAnswer(problem: Problem): boolean {
	const { status, isUnsent } = problem;
	if (isBrokenConnection(problem)) return !isUnsent;
	return GATEWAY_STATUSES.includes(status ?? 0) || isForeign503(problem);
}

/**
 * Whether a 503 is not the documented refusal, which says that nothing was done. A gateway that loses
 * its connection to the service also answers 503, with a text, a web page or other JSON. Without
 * a body it is the service's, because gateways say then what has happened.
 */
export function isForeign503(problem: Problem): boolean {
	const { status, errorCode, isServiceShape, isBlank, isWebPage } = problem;
	if (status !== 503 || errorCode === 'service_unavailable') return false;
	return !isServiceShape && !(isBlank && !isWebPage);
}

/**
 * Whether a refusal is HTML, so not from the service. Excludes 407, 408, 413 and 429, which proxies
 * also use: the rows for these statuses fit in both cases.
 */
export function isFromSomethingElse({ status = 0, isWebPage }: Problem): boolean {
	return (
		isWebPage === true && status >= 400 && status < 500 && ![407, 408, 413, 429].includes(status)
	);
}

/**
 * Whether a 404 may come from a proxy that has lost its route to the service, while that restarts: Traefik,
 * Kong and an ingress of Kubernetes answer words or JSON of their own. The document does not show the
 * service's own 404, so one in another shape and without a code may be either.
 */
export function mayBeLostRoute({ status, isServiceShape, errorCode, isWebPage }: Problem): boolean {
	return status === 404 && !isWebPage && !isServiceShape && errorCode === undefined;
}
