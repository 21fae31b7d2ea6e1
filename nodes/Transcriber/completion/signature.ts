import { createHmac, timingSafeEqual } from 'crypto';
import { sleep, type IWebhookFunctions, type IWebhookResponseData } from 'n8n-workflow';

/** A webhook call as it came over the wire. */
export interface Delivery {
	/** The bytes that were signed. Never text: re-encoding would change them. */
	raw: Buffer;
	/** `X-Service-Signature`; undefined unless it came exactly once. */
	signature?: string;
	/** The body if it is a JSON object, whatever the content type says. Unverified. */
	body?: Record<string, unknown>;
}

export async function deliveryFrom(context: IWebhookFunctions): Promise<Delivery> {
	const request = context.getRequestObject();
	// n8n has read some bodies to their end already (multipart), and others are cut or not what they say.
	if (!request.rawBody) await request.readRawBody().catch(() => undefined);
	const raw: Buffer = request.rawBody ?? Buffer.alloc(0);
	const signature = request.headers['x-service-signature'];
	return {
		raw,
		signature: typeof signature === 'string' ? signature : undefined,
		body: jsonObjectIn(raw.toString('utf8')),
	};
}

export function jsonObjectIn(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
		return isObject ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

/** Whether the header has the form `sha256=<64 lower-case hex digits>`. */
export function isWellFormed(signature: string | undefined): signature is string {
	return signature !== undefined && /^sha256=[0-9a-f]{64}$/.test(signature);
}

/**
 * Service document, "Authentication": HMAC-SHA256 over the raw body with the submission's
 * secret, compared in constant time. A blank secret verifies nothing.
 */
export function isSignedWith(secret: string, { raw, signature }: Delivery): boolean {
	if (secret === '' || !isWellFormed(signature)) return false;
	const expected = createHmac('sha256', secret).update(raw).digest();
	return timingSafeEqual(expected, Buffer.from(signature.slice('sha256='.length), 'hex'));
}

/** Answers a call that starts and resumes nothing. */
export function answer(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	context.getResponseObject().status(status).json({ message });
	return { noWebhookResponse: true };
}

/** Longer than n8n takes to start an execution on a busy machine, in ms. */
const ANSWERED_WITHIN_MS = 60_000;

/**
 * Whether n8n has started or woken an execution for this call. It answers only when it has saved
 * that, and with 500 where it fails (n8n 1 answers at once). Until then nobody may be told that all
 * is well.
 */
export async function hasSucceeded(context: IWebhookFunctions): Promise<boolean> {
	const response = context.getResponseObject();
	if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve));
	// Where the caller has hung up, n8n answers all the same, though nobody hears it.
	const deadline = Date.now() + ANSWERED_WITHIN_MS;
	while (!response.writableEnded && Date.now() < deadline) await sleep(100);
	return response.writableEnded && response.statusCode < 400;
}
