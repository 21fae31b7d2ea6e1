/** The public address of the cluster: webhooks go round the webhook processes, everything else to the main process. */
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';

export interface Upstream {
	name: string;
	port: number;
	/** As a health check would tell: while it starts, n8n answers 404 to webhooks that it has. */
	isReady: boolean;
}

/** `onServed` hears who has answered, e.g. `webhook-1 POST /webhook/…`. */
export function createBalancer(
	main: Upstream,
	webhooks: Upstream[],
	onServed: (line: string) => void,
): Server {
	const round = [...webhooks];
	return createServer((request, response) => {
		void (async () => {
			const body: Buffer[] = [];
			for await (const chunk of request as AsyncIterable<Buffer>) body.push(chunk);
			const isForWebhooks = /^\/webhook(-waiting)?\//.test(request.url ?? '');
			// All of an MCP client, as the documentation of n8n demands.
			const isForMcp = /^\/mcp\//.test(request.url ?? '');
			const upstreams = isForWebhooks ? [...round] : isForMcp ? webhooks.slice(0, 1) : [main];
			if (isForWebhooks) round.push(...round.splice(0, 1));
			for (const upstream of upstreams.filter(({ isReady }) => isReady)) {
				// One that is down has not got anything yet, so the next one may.
				const answer = await ask(upstream, request, Buffer.concat(body)).catch(
					({ code }: NodeJS.ErrnoException) => code,
				);
				if (answer === 'ECONNREFUSED') continue;
				if (answer === undefined || typeof answer === 'string') break;
				onServed(`${upstream.name} ${request.method} ${request.url} ${answer.statusCode}`);
				response.writeHead(answer.statusCode ?? 502, answer.headers);
				answer.on('error', () => response.destroy()).pipe(response);
				return;
			}
			response.writeHead(502).end();
		})().catch(() => response.destroy());
	});
}

async function ask(
	{ port }: Upstream,
	{ method, url, headers }: IncomingMessage,
	body: Buffer,
): Promise<IncomingMessage> {
	return await new Promise((resolve, reject) => {
		const options = { host: '127.0.0.1', port, method, path: url, headers, agent: false };
		httpRequest(options, resolve).on('error', reject).end(body);
	});
}
