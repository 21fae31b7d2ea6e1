import { createHmac, timingSafeEqual } from 'crypto';
import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { deliveredIn } from '../api/undocumented/submissions';
import { parseJsonObject } from '../jsonValues';

/** A webhook call as received over the wire. */
export interface Delivery {
	/** The signed bytes. Never text, because re-encoding could change the bytes. */
	raw: Buffer;
	/** `X-Service-Signature`: `sha256=` and 64 hex digits. */
	signature: string;
	/** The body if it is a JSON object, whatever the content type says (see `deliveredIn`). Unverified. */
	body?: Record<string, unknown>;
}

/** Why a call is refused before its content is read: an HTTP status and its message. */
export interface Refusal {
	refused: 401 | 413;
	message: string;
}

/** The largest accepted body, in bytes. A documented delivery has a few hundred. */
const LARGEST_BODY = 1_000_000;

/**
 * The delivery in a call with a well-formed signature. Checks the header before parsing the body,
 * because anyone may call.
 */
export async function deliveryFrom(context: IWebhookFunctions): Promise<Delivery | Refusal> {
	// Node.js joins repeated headers, so a repeated signature is not well formed.
	const signature = context.getRequestObject().headers['x-service-signature'];
	if (!isWellFormed(signature)) return { refused: 401, message: 'Signature refused' };
	const raw = await rawBodyOf(context);
	if ('refused' in raw) return raw;
	const body = parseJsonObject(raw.toString('utf8'));
	return { raw, signature, body: body && deliveredIn(body) };
}

/** The JSON object in the body of a call without a signature; `{}` if there is none. */
export async function jsonBodyFrom(
	context: IWebhookFunctions,
): Promise<{ body: Record<string, unknown> } | Refusal> {
	const raw = await rawBodyOf(context);
	return 'refused' in raw ? raw : { body: parseJsonObject(raw.toString('utf8')) ?? {} };
}

async function rawBodyOf(context: IWebhookFunctions): Promise<Buffer | Refusal> {
	const request = context.getRequestObject();
	const tooLarge: Refusal = { refused: 413, message: 'The body is too large' };
	if (Number(request.headers['content-length']) > LARGEST_BODY) return tooLarge;
	// Reading fails if n8n has already consumed the body (multipart), or for a cut or malformed body.
	if (!request.rawBody) await request.readRawBody().catch(() => undefined);
	const raw: Buffer = request.rawBody ?? Buffer.alloc(0);
	return raw.length > LARGEST_BODY ? tooLarge : raw;
}

/** Whether the header has the form `sha256=<64 hex digits>`. */
export function isWellFormed(signature: unknown): signature is string {
	return typeof signature === 'string' && /^sha256=[0-9a-fA-F]{64}$/.test(signature);
}

/**
 * Service document, "Authentication": HMAC-SHA256 over the raw body with the submission's secret,
 * compared in constant time. With a blank secret, every signature is invalid.
 */
export function isSignedWith(secret: string, { raw, signature }: Delivery): boolean {
	if (secret.trim() === '' || !isWellFormed(signature)) return false;
	const expected = createHmac('sha256', secret).update(raw).digest();
	return timingSafeEqual(expected, Buffer.from(signature.slice('sha256='.length), 'hex'));
}

/** Answers a call without starting or resuming an execution. */
export function respond(
	context: IWebhookFunctions,
	status: number,
	message: string,
): IWebhookResponseData {
	context.getResponseObject().status(status).json({ message });
	return { noWebhookResponse: true };
}
