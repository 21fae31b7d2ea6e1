/** What talks to a trigger: the service (POST) and Transcriber nodes (PUT). */
import { createHmac } from 'node:crypto';
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { sealHandOvers, type HandOver } from '../../nodes/shared/webhook/handOverEnvelope';

export interface Answer {
	status: number;
	body: Record<string, unknown>;
}

/** Where host.ts listens: what callers know, and all that they are answered, as it comes over the wire. */
export const told: { secret: (secret: string) => void; answer: (wire: unknown) => void } = {
	secret: () => {},
	answer: () => {},
};

export function sign(raw: string | Buffer, secret: string): string {
	told.secret(secret);
	return `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
}

/** A delivery with exactly these bytes and headers. */
export async function post(
	url: string,
	raw: string | Buffer,
	headers: OutgoingHttpHeaders = {},
	method = 'POST',
): Promise<Answer> {
	return await new Promise((resolve, reject) => {
		const request = httpRequest(url, {
			method,
			agent: false,
			headers: {
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(raw),
				...headers,
			},
		});
		request.on('error', reject);
		request.on('response', (response) => {
			let text = '';
			response.on('data', (chunk: Buffer) => (text += chunk.toString()));
			response.on('end', () => {
				const body = JSON.parse(text || '{}') as Answer['body'];
				const wire = [response.statusMessage, response.rawHeaders, text];
				told.answer(wire);
				const answer = { status: response.statusCode ?? 0, body };
				// Not enumerable: tests compare the other two.
				resolve(Object.defineProperty(answer, 'wire', { value: wire }));
			});
			response.on('error', reject);
		});
		request.end(raw);
	});
}

/** A delivery as the service makes it. */
export async function deliver(url: string, body: unknown, secret: string): Promise<Answer> {
	const raw = JSON.stringify(body);
	return await post(url, raw, { 'x-service-signature': sign(raw, secret) });
}

/** One attempt of a Transcriber node to hand a secret over. */
export async function put(
	url: string,
	id: string,
	secret: string,
	apiKey: string,
): Promise<Answer> {
	return await putAll(url, [{ id, secret }], apiKey);
}

/** The same for many at once. */
export async function putAll(url: string, handOvers: HandOver[], apiKey: string): Promise<Answer> {
	for (const { secret } of handOvers) told.secret(secret ?? '');
	const raw = JSON.stringify({ sealed: sealHandOvers(apiKey, url, handOvers) });
	return await post(url, raw, {}, 'PUT');
}

/** Hands a secret over, asking until it is stored. Returns how often it had to ask. */
export async function handOverTo(
	url: string,
	id: string,
	secret: string,
	apiKey: string,
	intervalMs = 100,
): Promise<number> {
	for (let tries = 1; tries < 200; tries++) {
		const { status, body } = await put(url, id, secret, apiKey);
		if (status === 200 && body['stored'] === true) return tries;
		// An n8n with too much to do says so with 5xx, and the node tries again.
		if (status !== 202 && status < 500)
			throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`);
		await sleep(intervalMs);
	}
	throw new Error('It was never stored');
}
