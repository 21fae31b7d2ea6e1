/**
 * Repairs lost updates: n8n saves a workflow's static data without a lock, so another process, a
 * polling trigger, or a node that keeps something there can save what it had loaded before, and what
 * this process has saved since is gone.
 *
 * n8n loads static data for a webhook call only, and saves it at its end. So this process calls its
 * own trigger: soon after a change, then less and less often, for as long as it lives. Each such call
 * saves once more what was written over.
 */
import { randomBytes } from 'crypto';
import type { IN8nHttpFullResponse, IWebhookFunctions } from 'n8n-workflow';

import { STORE } from './triggerMemory';
import { remembered } from '../shared/processState';

/** Known to this process only. */
const OWN = randomBytes(16).toString('hex');

/** In ms since 1970. */
interface Watch {
	changedAt: number;
	nextCallAt: number;
}

/** By the address that is called: one for each trigger of this process. */
const watches = remembered<Watch>('watches');

/** So often in a row this process may fail to reach itself. */
const MOST_FAILURES = 4;

const warnings = remembered<true>('warnings');

/** Whether this process has called itself. */
export function isOwnCall({ own }: Record<string, unknown>): boolean {
	return own === OWN;
}

/** Watches from now on whether what this process knows stays saved. */
export function settle(context: IWebhookFunctions): void {
	if (context.getMode() === 'manual') return;
	const url = addressOfThisProcess(context);
	const now = Date.now();
	const watch = watches.get(url);
	if (watch && watch.nextCallAt - now <= 2 * STORE.settledMs) watch.changedAt = now;
	else void keepWatch(context, url, { changedAt: now, nextCallAt: now });
}

async function keepWatch(context: IWebhookFunctions, url: string, watch: Watch): Promise<void> {
	watches.set(url, watch);
	for (let failures = 0; failures < MOST_FAILURES;) {
		const age = Date.now() - watch.changedAt;
		// At random times, so that two processes do not overwrite each other again and again.
		const soonest = STORE.settledMs * (1 + Math.random());
		const delay = Math.max(soonest, Math.min(age / 2, STORE.recheckMs));
		watch.nextCallAt = Date.now() + delay;
		await quietSleep(delay);
		// A newer watch has taken over.
		if (watches.get(url) !== watch) return;
		const { status, stored } = await callOneself(context, url);
		// The workflow was switched off.
		if (status === 404) break;
		if (stored === false) watch.changedAt = Date.now();
		// This process may be busy; but where it cannot reach itself, trying on is of no use.
		failures = stored === undefined ? failures + 1 : 0;
		if (failures === MOST_FAILURES) warnOnce(context, url);
	}
	if (watches.get(url) === watch) watches.delete(url);
}

/** Unlike `sleep` of n8n-workflow, it does not keep a process alive that is to end. */
async function quietSleep(ms: number): Promise<void> {
	await new Promise<void>((resolve) => {
		AbortSignal.timeout(Math.ceil(ms)).addEventListener('abort', () => resolve(), { once: true });
	});
}

/** Past the load balancer: the address and port at which the call has come in. */
function addressOfThisProcess(context: IWebhookFunctions): string {
	const { socket, originalUrl } = context.getRequestObject();
	const { localAddress = '', localPort = 0 } = socket;
	const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress;
	const path = originalUrl.split('?')[0];
	return `${'encrypted' in socket ? 'https' : 'http'}://${host}:${localPort}${path}`;
}

async function callOneself(
	context: IWebhookFunctions,
	url: string,
): Promise<{ status?: number; stored?: unknown }> {
	try {
		const { statusCode, body }: IN8nHttpFullResponse = await context.helpers.httpRequest({
			method: 'PUT',
			url,
			body: { own: OWN },
			json: true,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			returnFullResponse: true,
			// The certificate is made out to the public name.
			skipSslCertificateValidation: true,
			timeout: 10_000,
		});
		return { status: statusCode, stored: (body as { stored?: unknown } | null)?.stored };
	} catch {
		return {};
	}
}

function warnOnce(context: IWebhookFunctions, url: string): void {
	if (warnings.has('cannot call itself')) return;
	warnings.set('cannot call itself', true);
	context.logger.warn(
		`The Transcriber Trigger cannot call its own address ${new URL(url).origin}, so it does not notice when another process or node writes over what it has stored. With N8N_SSRF_PROTECTION_ENABLED, add the address to N8N_SSRF_ALLOWED_IP_RANGES.`,
	);
}
