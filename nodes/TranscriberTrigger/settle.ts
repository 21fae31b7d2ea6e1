import { randomBytes } from 'crypto';
import { sleep, type IWebhookFunctions } from 'n8n-workflow';

import { STORE } from './store';

/** Known to this process only. */
const OWN = randomBytes(16).toString('hex');

/** The addresses that are being called, with the time of the last change there in ms since 1970. */
const changes = new Map<string, number>();

const MOST_CALLS = 60;

/** Whether this process has called itself. */
export function isOwnCall({ own }: Record<string, unknown>): boolean {
	return own === OWN;
}

/**
 * Another process may have loaded the data before this one has saved something, and save its own
 * afterwards: then what this one has saved is gone, and nothing brings it back, because n8n saves
 * at the end of a call only. So this process calls itself until it finds in the data all it knows.
 */
export async function settle(context: IWebhookFunctions): Promise<void> {
	if (context.getMode() === 'manual') return;
	const url = addressOfThisProcess(context);
	const isUnderWay = changes.has(url);
	changes.set(url, Date.now());
	if (isUnderWay) return;
	try {
		for (let calls = 0; calls < MOST_CALLS; calls++) {
			// At random times, so that two processes do not overwrite each other again and again.
			await sleep(STORE.settledMs * (1 + Math.random()));
			const isQuiet = Date.now() - (changes.get(url) ?? 0) >= STORE.settledMs;
			const { stored } = await callOneself(context, url);
			if (stored && isQuiet) return;
			// This process may be busy; but where it cannot reach itself, trying on is of no use.
			if (stored === undefined) calls += MOST_CALLS / 4;
		}
	} finally {
		changes.delete(url);
	}
}

/** Past the load balancer: the address and port at which the call has come in. */
function addressOfThisProcess(context: IWebhookFunctions): string {
	const { socket, originalUrl } = context.getRequestObject();
	const { localAddress = '', localPort = 0 } = socket;
	const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
	return `${'encrypted' in socket ? 'https' : 'http'}://${host}:${localPort}${originalUrl}`;
}

async function callOneself(context: IWebhookFunctions, url: string): Promise<{ stored?: boolean }> {
	try {
		return await context.helpers.httpRequest({
			method: 'PUT',
			url,
			body: { own: OWN },
			json: true,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			// The certificate is made out to the public name.
			skipSslCertificateValidation: true,
			timeout: 10_000,
		});
	} catch {
		return {};
	}
}
