/** Contract, "Every request": a request that certainly never left may be sent again. */
import { createServer as createHttps } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { selfSignedCertificate } from '../../support/certificate';
import { runNode } from '../../support/engine';
import { BOT, FILE } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { itemWithFile } from '../../support/service';

const API_KEY = 'key-123456789';
const ACCOUNT = { resource: 'account', operation: 'get' };
const ANSWERS: Record<string, object> = {
	'POST /api/v1/transcribe': { task_id: 'T1', status: 'pending' },
	'GET /api/v1/tasks/T1': { task_id: 'T1', status: 'completed' },
	'GET /api/v1/tasks/T1/result': { text: 'Hello' },
};

const servers: Server[] = [];
const sockets: Socket[] = [];
async function listening<Of extends Server>(server: Of): Promise<Of> {
	servers.push(server);
	server.on('connection', (socket: Socket) => sockets.push(socket));
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeEach(giveUpSoon);
afterEach(() => {
	for (const server of servers.splice(0)) server.close();
	for (const socket of sockets.splice(0)) socket.destroy();
});

describe('A proxy between n8n and the service', () => {
	/** What the proxy answers to its nth CONNECT, before it hangs up; undefined if it opens the tunnel. */
	let refusalOf: (nth: number) => string | undefined;
	const credentials = { baseUrl: 'https://service.example.com', apiKey: API_KEY };

	beforeEach(async () => {
		const service = await listening(
			createHttps(selfSignedCertificate(), (request, response) => {
				request.resume().on('end', () => {
					response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
					response.end(JSON.stringify(ANSWERS[`${request.method} ${request.url}`] ?? {}));
				});
			}),
		);
		let connects = 0;
		const tunnel = (socket: Socket) => {
			const onward = connect(portOf(service), '127.0.0.1').on('error', () => {});
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
			socket.pipe(onward).pipe(socket);
		};
		const proxy = await listening(
			createServer((socket) => {
				socket
					.on('error', () => {})
					.once('data', () => {
						const refusal = refusalOf(++connects);
						if (refusal === undefined) tunnel(socket);
						else socket.end(refusal);
					});
			}),
		);
		process.env['HTTPS_PROXY'] = `http://127.0.0.1:${portOf(proxy)}`;
		process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
	});
	afterEach(() => {
		delete process.env['HTTPS_PROXY'];
		delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
	});

	it.each([
		['the upload', 1],
		['the first look', 2],
		['the request for the result', 3],
	])('that hangs up once does not end a wait: %s is sent again', async (_which, hangsUp) => {
		refusalOf = (nth) => (nth === hangsUp ? '' : undefined);
		const parameters = { ...FILE, onCompletion: 'poll', waitOptions: { pollInterval: 0.05 } };
		const { json, error } = await runNode({ parameters, credentials, items: [itemWithFile()] });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ text: 'Hello' }]);
	});

	it('that hangs up each time: the error does not say that a bot may have been sent', async () => {
		refusalOf = () => '';
		const { error } = await runNode({ parameters: BOT, credentials });
		expect(error?.message).toMatch(/^The service cannot be reached/);
		expect(error?.description).not.toContain('may have accepted');
	});

	it('that wants a password (407): the error says so, and does not name the service', async () => {
		refusalOf = () =>
			'HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
		const { error } = await runNode({ parameters: ACCOUNT, credentials });
		expect(error?.message).toMatch(/^The proxy between n8n and the internet wants a user name/);
		expect(error?.description).toContain('HTTPS_PROXY');
	});
});

it('a connection that is closed while TLS is set up: the error does not say that a bot may have been sent', async () => {
	const server = await listening(
		createServer((socket) => socket.once('data', () => socket.destroy())),
	);
	const credentials = { baseUrl: `https://127.0.0.1:${portOf(server)}`, apiKey: API_KEY };
	const { error } = await runNode({ parameters: BOT, credentials });
	expect(error?.message).toMatch(/^The service cannot be reached/);
	expect(error?.description).not.toContain('may have accepted');
});
