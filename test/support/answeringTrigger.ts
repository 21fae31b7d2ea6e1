/** Where a Transcriber Trigger should be: gives the answers that a test needs, and opens what it is handed. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { openHandOvers, type HandOver } from '../../nodes/shared/webhook/handOverEnvelope';

export const STORED = { status: 200, body: '{"stored":true}' };

const PATH = '/webhook/1/transcriber';

export interface TriggerAnswer {
	status: number;
	body: string;
	/** The connection breaks before the answer. */
	isCut?: boolean;
}

export async function answeringTrigger(
	/** One, or all that it may be by now. */
	apiKey: string | (() => string[]),
	answer: (call: number, handedOver: HandOver[]) => TriggerAnswer | Promise<TriggerAnswer> = () =>
		STORED,
) {
	/** What was handed over in each call. */
	const calls: HandOver[][] = [];
	/** Each call as it came. */
	const heard: Array<{ headers: IncomingHttpHeaders; text: string }> = [];
	/** What the empty hand-overs asked the trigger about. */
	const checks: string[] = [];
	const busy = { now: 0, most: 0 };
	const server = createServer((request, response) => {
		// Meant for a closed server of another test, which had the same port.
		if (request.url !== PATH) {
			response.writeHead(404, { connection: 'close' }).end();
			return;
		}
		busy.most = Math.max(busy.most, ++busy.now);
		let text = '';
		request.on('data', (piece: Buffer) => (text += piece.toString()));
		request.on('end', () => {
			heard.push({ headers: request.headers, text });
			// A delivery of the service.
			if (request.method === 'POST') {
				busy.now--;
				response.writeHead(405, { connection: 'close' }).end();
				return;
			}
			const { sealed, checkFor } = JSON.parse(text) as { sealed: string; checkFor?: string };
			if (checkFor) checks.push(checkFor);
			const keys = typeof apiKey === 'string' ? [apiKey] : apiKey();
			const opened = keys.map((key) => openHandOvers(key, url, sealed)).find(Array.isArray) ?? [];
			const answered =
				request.method === 'PUT' ? answer(calls.push(opened), opened) : { status: 405, body: '' };
			void Promise.resolve(answered).then(({ status, body, isCut }) => {
				busy.now--;
				if (isCut) {
					request.destroy();
					return;
				}
				const type = body.startsWith('{') ? 'application/json' : 'text/html';
				response.writeHead(status, { 'content-type': type, connection: 'close' }).end(body);
			});
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const url = `http://127.0.0.1:${port}${PATH}`;
	return { url, calls, heard, checks, busy, close: () => void server.close() };
}
