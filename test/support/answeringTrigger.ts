/** Where a Transcriber Trigger should be: gives the answers that a test needs, and opens what it is handed. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { openHandOvers, type HandOver } from '../../nodes/shared/webhook/handOverEnvelope';

export const STORED = { status: 200, body: '{"stored":true}' };

export interface TriggerAnswer {
	status: number;
	body: string;
}

export async function answeringTrigger(
	apiKey: string,
	answer: (call: number) => TriggerAnswer | Promise<TriggerAnswer> = () => STORED,
) {
	/** What was handed over in each call. */
	const calls: HandOver[][] = [];
	/** Each call as it came. */
	const heard: Array<{ headers: IncomingHttpHeaders; text: string }> = [];
	/** What the empty hand-overs asked the trigger about. */
	const checks: string[] = [];
	const busy = { now: 0, most: 0 };
	const server = createServer((request, response) => {
		busy.most = Math.max(busy.most, ++busy.now);
		let text = '';
		request.on('data', (piece: Buffer) => (text += piece.toString()));
		request.on('end', () => {
			heard.push({ headers: request.headers, text });
			const { sealed, checkFor } = JSON.parse(text) as { sealed: string; checkFor?: string };
			if (checkFor) checks.push(checkFor);
			const opened = openHandOvers(apiKey, url, sealed);
			const call = calls.push(Array.isArray(opened) ? opened : []);
			const answered = request.method === 'PUT' ? answer(call) : { status: 405, body: '' };
			void Promise.resolve(answered).then(({ status, body }) => {
				busy.now--;
				const type = body.startsWith('{') ? 'application/json' : 'text/html';
				response.writeHead(status, { 'content-type': type, connection: 'close' }).end(body);
			});
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const url = `http://127.0.0.1:${port}/webhook/1/transcriber`;
	return { url, calls, heard, checks, busy, close: () => void server.close() };
}
