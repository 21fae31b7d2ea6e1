import type { IExecutePaginationFunctions } from 'n8n-workflow';

import type { RoutingRequest } from '../api/types';
import { refuse } from '../parameters/refuse';

/** The environment variable for n8n's public address: n8n 2.x reads the first, 1.x the second. */
export const PUBLIC_ADDRESS_SETTING = 'N8N_WEBHOOK_URL on n8n 2, WEBHOOK_URL on n8n 1';

/**
 * Refuses a webhook address that is not https and public (service document, "Meeting launch
 * parameters"). Loopback passes only if the service itself is on loopback.
 */
export function checkWebhookUrl(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	webhookUrl: string,
	displayName: string,
): void {
	const reason = reasonAgainstWebhookUrl(webhookUrl, request.options.baseURL ?? '');
	if (!reason) return;
	throw refuse(
		context,
		`'${displayName}' ${reason}: '${webhookUrl}'`,
		`The service calls this address from the internet, so it has to be public and start with https://. If it is the address of n8n, set its public one (${PUBLIC_ADDRESS_SETTING}). Without a public address choose Wait for the Transcript (Polling).`,
	);
}

/** The same as {@link checkWebhookUrl}, for an address that comes from n8n itself. */
export function checkOwnAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	address: string,
	displayName: string,
): void {
	const reason = reasonAgainstWebhookUrl(address, request.options.baseURL ?? '');
	if (!reason) return;
	// Never the query, which holds a token. `localhost:5678/…` has no origin.
	const { origin, protocol, pathname } = new URL(address);
	const shown =
		origin === 'null' ? `${protocol}${pathname.split('/', 1)[0]}`.replace(/^.*@/, '') : origin;
	throw refuse(
		context,
		`${displayName} ${reason}: '${shown}'`,
		`Set the public https address of n8n (${PUBLIC_ADDRESS_SETTING}), or choose Wait for the Transcript (Polling).`,
	);
}

/** Why the service would not call this address; undefined if it would. */
export function reasonAgainstWebhookUrl(webhookUrl: string, baseUrl: string): string | undefined {
	if (/\s/.test(webhookUrl)) return 'has a blank or a line break in it';
	if (!URL.canParse(webhookUrl)) return 'is not a web address';
	const { protocol, hostname: written } = new URL(webhookUrl);
	const hostname = written.replace(/\.$/, '');
	const isServiceHere = URL.canParse(baseUrl) && isLoopback(new URL(baseUrl).hostname);
	if (isServiceHere && isLoopback(hostname)) return undefined;
	if (protocol !== 'https:') return 'does not start with https://';
	return isLocal(hostname) ? 'is a local address that the service cannot reach' : undefined;
}

function isLoopback(hostname: string): boolean {
	return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}

const LOCAL_RANGES =
	/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;

/** Names of networks without a public address (RFC 6761, RFC 8375, and RFC 6762, appendix G). */
const LOCAL_NAMES =
	/\.(local|localhost|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|test)$/i;

/** Names and address ranges that only exist inside a network. */
function isLocal(hostname: string): boolean {
	return (
		isLoopback(hostname) ||
		(/^\d+(\.\d+){3}$/.test(hostname) && LOCAL_RANGES.test(hostname)) ||
		/^\[(::|f[cd]|fe[89ab]|::ffff:)/i.test(hostname) ||
		LOCAL_NAMES.test(hostname) ||
		(!hostname.includes('.') && !hostname.startsWith('['))
	);
}
