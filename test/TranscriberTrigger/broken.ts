/** Deliveries and hand-overs that nobody must believe: malicious ones and broken ones. */
import type { OutgoingHttpHeaders } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';

import { sign } from './client';

export interface BrokenRequest {
	method: 'POST' | 'PUT';
	raw: string | Buffer;
	headers: OutgoingHttpHeaders;
	/** An exact repeat of an accepted request: accepted again, without effect. */
	isReplay?: boolean;
}

interface About {
	count: number;
	/** A task whose secret the trigger has. */
	taskId: string;
	secret: string;
	/** The secret of another task, which the trigger has too. */
	otherSecret: string;
	/** A sealed hand-over that is too old. */
	expired: string;
	/** A delivery and a sealed hand-over of a task that has ended. */
	delivered: { raw: string; secret: string };
	handedOver: string;
}

/** The same every time. */
function randomNumbers(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

export function broken(about: About): BrokenRequest[] {
	const { count, taskId, secret, otherSecret, expired, delivered, handedOver } = about;
	const random = randomNumbers(42);
	const body = () => JSON.stringify({ task_id: taskId, no: random(1e9) });
	const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random(256)));
	const withSignature = (raw: string | Buffer, signature: string | string[]): BrokenRequest => ({
		method: 'POST',
		raw,
		headers: { 'x-service-signature': signature },
	});
	const flip = (text: string, from: number) => {
		const at = from + random(text.length - from);
		const digit = Number.parseInt(text.charAt(at), 16) ^ (1 << random(4));
		return `${text.slice(0, at)}${digit.toString(16)}${text.slice(at + 1)}`;
	};
	const put = (raw: string | Buffer): BrokenRequest => ({ method: 'PUT', raw, headers: {} });
	const kinds: Array<() => BrokenRequest> = [
		() => ({ method: 'POST', raw: body(), headers: {} }),
		() => withSignature(body(), ''),
		() => withSignature(body(), sign(body(), secret).slice(0, -1 - random(60))),
		() => withSignature(body(), `${sign(body(), secret)}${random(10)}`),
		() => withSignature(body(), sign(body(), secret).toUpperCase()),
		() => withSignature(body(), sign(body(), secret).replace('sha256=', 'sha1=')),
		() => withSignature(body(), sign(body(), secret).replace('sha256=', '')),
		() => {
			const raw = body();
			return withSignature(raw, sign(raw, otherSecret));
		},
		() => {
			const raw = body();
			return withSignature(raw, flip(sign(raw, secret), 'sha256='.length));
		},
		() => {
			const raw = body();
			return withSignature(`${raw} `, sign(raw, secret));
		},
		() => {
			const raw = body();
			return withSignature(raw, [sign(raw, secret), sign(raw, secret)]);
		},
		() => {
			const packed = gzipSync(body());
			const request = withSignature(packed, sign(packed, secret));
			return { ...request, headers: { ...request.headers, 'content-encoding': 'gzip' } };
		},
		() => {
			const packed = deflateSync(body());
			const request = withSignature(packed, sign(packed, secret));
			return { ...request, headers: { ...request.headers, 'content-encoding': 'deflate' } };
		},
		() => {
			const raw = Buffer.from(body(), 'utf16le');
			const request = withSignature(raw, sign(raw, secret));
			return {
				...request,
				headers: { ...request.headers, 'content-type': 'text/plain; charset=utf-16le' },
			};
		},
		() => withSignature('', sign('', secret)),
		() => {
			const raw = bytes(random(400));
			const request = withSignature(raw, sign(raw, secret));
			return {
				...request,
				headers: { ...request.headers, 'content-type': 'application/octet-stream' },
			};
		},
		() => {
			const raw = JSON.stringify({ task_id: `${taskId}${random(1e6)}` });
			return withSignature(raw, sign(raw, secret));
		},
		() => withSignature('{"task_id":', sign('{"task_id":', secret)),
		() => put(JSON.stringify({ sealed: expired })),
		() => put(JSON.stringify({ sealed: bytes(60 + random(200)).toString('base64url') })),
		() => put(JSON.stringify({ sealed: flipBase64(expired, random(expired.length)) })),
		() => put(JSON.stringify({ id: taskId, secret: 'planted' })),
		() => put('[]'),
		() => put(JSON.stringify({ own: bytes(16).toString('hex') })),
		() => ({
			...withSignature(delivered.raw, sign(delivered.raw, delivered.secret)),
			isReplay: true,
		}),
		() => ({ ...put(JSON.stringify({ sealed: handedOver })), isReplay: true }),
	];
	// Few, because a request as large as n8n takes is slow to send.
	const huge = [
		withSignature(
			JSON.stringify({ task_id: taskId, text: 'x'.repeat(4_000_000) }),
			sign('', secret),
		),
		put(JSON.stringify({ sealed: 'A'.repeat(4_000_000) })),
		withSignature(body(), `sha256=${'a'.repeat(12_000)}`),
	];
	const rest = Array.from({ length: count - huge.length }, (_, index) => {
		const make = kinds[index % kinds.length];
		if (!make) throw new Error('There is no such kind');
		return make();
	});
	return [...rest, ...huge];
}

function flipBase64(text: string, at: number): string {
	return `${text.slice(0, at)}${text.charAt(at) === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}
