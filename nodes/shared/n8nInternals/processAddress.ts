import type { IWebhookFunctions } from 'n8n-workflow';

/**
 * The address with which a webhook call reached this process: the local address and port of the
 * call bypass any load balancer. To be read before the call waits for anything: once the caller has
 * hung up, Node.js no longer knows them. Then undefined, and for an address that a URL cannot hold
 * (IPv6 with a zone, `fe80::1%eth0`).
 *
 * n8n does not document that a call to it reaches the webhook in this process. Seen in 2.41.1 and
 * 1.123.81 (abstract-server.js, live-webhooks.js): each process that takes webhook calls listens by
 * itself, and looks for the webhook in the database by the path of the call. `originalUrl`, a
 * property of Express, has the path as it was called, with the prefix that n8n is set to. If the call
 * reaches nobody, or another process, repairStaticData.ts notices.
 */
export function addressOfThisProcess(context: IWebhookFunctions): string | undefined {
	const { socket, originalUrl } = context.getRequestObject();
	const { localAddress, localPort } = socket;
	if (localAddress === undefined || localPort === undefined) return undefined;
	// An IPv4 address on a socket for both kinds. NO_PROXY and n8n's own lists have it in its plain form.
	const address = localAddress.replace(/^::ffff:(?=[\d.]+$)/i, '');
	const host = address.includes(':') ? `[${address}]` : address;
	const path = originalUrl.split('?')[0];
	const url = `${'encrypted' in socket ? 'https' : 'http'}://${host}:${localPort}${path}`;
	return URL.canParse(url) ? url : undefined;
}
