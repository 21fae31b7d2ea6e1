/**
 * Repairs lost updates. n8n saves a workflow's static data without a lock, so another process, a
 * polling trigger, or a node that uses static data can save an older copy over what this process
 * has saved.
 *
 * n8n loads and saves static data with each webhook call (see n8nInternals/staticData.ts). So this
 * process calls its own trigger: soon after a change, then less and less often, for as long as the
 * process runs. Each call saves again what was overwritten.
 */
import { randomBytes } from 'crypto';
import type { IN8nHttpFullResponse, IWebhookFunctions } from 'n8n-workflow';

import { isTest } from '../shared/n8nInternals/activation';
import { STORE } from './triggerMemory';
import { remembered } from '../shared/processMemory';
import { wordForLog } from '../shared/webhook/logSeldom';

/** A token that only this process knows. */
const OWN = randomBytes(16).toString('hex');

/** In ms since 1970. */
interface Watch {
	changedAt: number;
	nextCallAt: number;
}

/** The watch of each trigger in this process, by the address that it calls. */
const watches = remembered<Watch>('watches');

/** After this many failed calls in a row, n8n's log says so. */
const MANY_FAILURES = 4;

const warnings = remembered<true>('warnings');
const UNREACHABLE = 'cannot call itself';

/** Whether the call comes from this process. */
export function isOwnCall({ own }: Record<string, unknown>): boolean {
	return own === OWN;
}

/** Whether this process reaches its own address, as far as it knows. */
export function canCallItself(url?: string): boolean {
	return url !== undefined && !warnings.has(UNREACHABLE);
}

/**
 * Checks from now on, often at first, whether everything this process knows stays saved. `url` is
 * `addressOfThisProcess` of the call.
 */
export function watchSavedData(context: IWebhookFunctions, url?: string): void {
	if (isTest(context) || url === undefined) return;
	const now = Date.now();
	const watch = watches.get(url);
	if (watch && watch.nextCallAt - now <= 2 * STORE.safeAfterMs) watch.changedAt = now;
	else void keepWatch(context, url, { changedAt: now, nextCallAt: now });
}

async function keepWatch(context: IWebhookFunctions, url: string, watch: Watch): Promise<void> {
	watches.set(url, watch);
	let hasReached = false;
	for (let failures = 0; ;) {
		// The clock may have been set back since.
		const age = Math.abs(Date.now() - watch.changedAt);
		// Random pauses, so that two processes do not keep overwriting each other.
		const soonest = STORE.safeAfterMs * (1 + Math.random());
		const delay = Math.max(soonest, Math.min(age / 2, STORE.recheckMs));
		watch.nextCallAt = Date.now() + delay;
		await quietSleep(delay);
		// A newer watch has taken over.
		if (watches.get(url) !== watch) return;
		const { status, message, stored, failure } = await callOneself(context, url);
		// The workflow was switched off. A 404 without a message comes from a proxy.
		if (status === 404 && typeof message === 'string') break;
		// The package was updated in the running n8n: the files that n8n has loaded since do not know the
		// token, and begin a watch of their own.
		if (status === 400 && (hasReached || failures >= MANY_FAILURES)) break;
		hasReached ||= stored !== undefined;
		if (stored === false) watch.changedAt = Date.now();
		// One failure may only mean a busy process; several mean that it cannot reach itself.
		failures = stored === undefined ? failures + 1 : 0;
		if (failures === 0) warnings.clear();
		if (failures === MANY_FAILURES) warnOfNoChecks(context, url, failure ?? status);
	}
	if (watches.get(url) === watch) watches.delete(url);
}

/** Unlike `sleep` of n8n-workflow, does not keep the process from exiting. */
async function quietSleep(ms: number): Promise<void> {
	await new Promise<void>((resolve) => {
		AbortSignal.timeout(Math.ceil(ms)).addEventListener('abort', () => resolve(), { once: true });
	});
}

async function callOneself(
	context: IWebhookFunctions,
	url: string,
): Promise<{ status?: number; message?: unknown; stored?: unknown; failure?: unknown }> {
	try {
		const { statusCode, body }: IN8nHttpFullResponse = await context.helpers.httpRequest({
			method: 'PUT',
			url,
			body: { own: OWN },
			json: true,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			returnFullResponse: true,
			// The certificate is issued for the public host name.
			skipSslCertificateValidation: true,
			timeout: 10_000,
		});
		const { stored, message } = (body ?? {}) as { stored?: unknown; message?: unknown };
		return { status: statusCode, message, stored };
	} catch (failure) {
		return { failure };
	}
}

function warnOfNoChecks(context: IWebhookFunctions, url: string, failure: unknown): void {
	if (warnings.has(UNREACHABLE)) return;
	warnings.set(UNREACHABLE, true);
	const cause = typeof failure === 'number' ? `answered with ${failure}` : wordForLog(failure);
	const { origin, hostname } = new URL(url);
	context.logger.warn(
		`The Transcriber Trigger cannot call its own address ${origin} (${cause}), so it does not notice if another process or node overwrites the data that it has stored. If n8n uses a proxy (HTTP_PROXY), add ${hostname} to NO_PROXY. With N8N_SSRF_PROTECTION_ENABLED, add it to N8N_SSRF_ALLOWED_IP_RANGES, as a range: ${rangeOf(hostname)}.`,
	);
}

/** n8n takes only ranges in CIDR notation. */
function rangeOf(hostname: string): string {
	return hostname.startsWith('[') ? `${hostname.slice(1, -1)}/128` : `${hostname}/32`;
}
