/** Contract, "Every request": a request that certainly never left may be sent again. */
import { createServer as createHttps } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { NodeApiError, type INode } from 'n8n-workflow';

import { codeOf, transportOf } from '../../../nodes/shared/api/connectionError';
import { problemOf } from '../../../nodes/shared/api/noUsableAnswer';
import { patienceFor } from '../../../nodes/shared/api/delayBeforeRetry';
import { REPEATABLE } from '../../../nodes/shared/api/types';
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

	it.each([
		['', ''],
		[' with a web page, as Squid does', '<html><h1>Cache Access Denied</h1></html>'],
	])('that wants a password (407)%s: the error says so', async (_how, page) => {
		refusalOf = () =>
			`HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
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
	expect(error?.message).toMatch(/^The connection to the service broke/);
	expect(error?.description).not.toContain('may have accepted');
});

it('what was not sent because its connection broke is sent again for two minutes, not for 15 seconds', () => {
	const problem = { path: '/meeting/1', transport: 'broken', isUnsent: true } as const;
	expect(patienceFor(problem, REPEATABLE)).toBe('patienceWhenBroken');
});

const broken = (error: object) => problemOf(error, '/account', { apiKey: API_KEY });

describe('The kind of a connection error', () => {
	it.each([
		['unknownHost', ['ENOTFOUND', 'ERR_INVALID_URL', 'ERR_BAD_REQUEST']],
		['unreadableFile', ['ENOENT', 'EACCES', 'EPERM', 'EIO', 'EISDIR', 'EMFILE', 'ENFILE']],
		['storage', ['ESTORAGE']],
		['unreachable', ['ECONNREFUSED', 'EAI_AGAIN']],
		[
			'tls',
			[
				...['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION', 'EPROTO'],
				...['DEPTH_ZERO_SELF_SIGNED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
			],
		],
		['timeout', ['ECONNABORTED', 'ETIMEDOUT', 'ESOCKETTIMEDOUT', 'ERR_CANCELED']],
		['broken', ['ECONNRESET', 'EPIPE', 'XENOENT', 'ENOENTX', 'XECONNREFUSED', 'ETIMEDOUTX']],
		['broken', ['ECONNREFUSEDX', 'XETIMEDOUT']],
	])('is %s for %j', (transport, codes) => {
		for (const code of codes) expect(transportOf(code)).toBe(transport);
	});

	it.each(['EACCES', 'EPERM', 'EMFILE', 'ENFILE'])(
		'%s: no file is to blame if the connection was being made',
		(code) => {
			expect(broken({ code, syscall: 'open' })).toMatchObject({ transport: 'unreadableFile' });
			expect(broken({ code, syscall: 'connect' })).toMatchObject({ transport: 'unreachable' });
			expect(broken({ code, message: `connect ${code} 10.0.0.1:443` })).toMatchObject({
				transport: 'unreachable',
			});
		},
	);

	const whileConnecting = (code: string): object[] => [
		{ syscall: 'connect' },
		{ syscall: 'getaddrinfo' },
		{ errors: [] },
		{ message: `connect ${code} 10.0.0.1:443` },
		{ cause: { syscall: 'connect' } },
	];

	it.each([
		['EHOSTUNREACH', 'unreachable', 'broken'],
		['ENETUNREACH', 'unreachable', 'broken'],
		['ETIMEDOUT', 'timeout', 'timeout'],
		['ECONNRESET', 'broken', 'broken'],
		['EAI_FAIL', 'broken', 'broken'],
		['EBUSY', 'broken', 'broken'],
	])(
		'%s while the connection is made: %s, and nothing was sent. Later: %s',
		(code, atFirst, later) => {
			for (const details of whileConnecting(code)) {
				const problem = broken({ code, ...details });
				expect(problem).toMatchObject({ transport: atFirst, isUnsent: true });
			}
			for (const syscall of [undefined, 'read']) {
				expect(broken({ code, syscall })).toMatchObject({ transport: later, isUnsent: false });
			}
		},
	);

	it.each([
		['CERT_HAS_EXPIRED', true],
		['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
		['HOSTNAME_MISMATCH', true],
		['INVALID_CA', true],
		['INVALID_PURPOSE', true],
		['EPROTO', false],
		['ECONNRESET', false],
		['XINVALID_CA', false],
		['INVALID_CAX', false],
		['XINVALID_PURPOSE', false],
		['INVALID_PURPOSES', false],
	])('%s refuses the certificate, before anything is sent: %s', (code, isUnsent) => {
		expect(broken({ code })).toMatchObject({ path: '/account', isUnsent });
	});
});

describe('The code of a connection error', () => {
	const NODE = { name: 'Transcriber', type: 'x', parameters: {} } as unknown as INode;

	it('may be in any layer that n8n has put around it', () => {
		expect(codeOf({ code: 'ECONNRESET' })).toBe('ECONNRESET');
		expect(codeOf({ cause: { code: 'ECONNRESET' } })).toBe('ECONNRESET');
		expect(codeOf({ errorResponse: { cause: { code: 'ECONNRESET' } } })).toBe('ECONNRESET');
		expect(codeOf({ httpCode: 'ECONNRESET' })).toBe('ECONNRESET');
		expect(codeOf({ code: 7, httpCode: '404', cause: { code: 'EPIPE' } })).toBe('EPIPE');
		expect(codeOf({ httpCode: '404 Not Found', cause: { code: 'EPIPE' } })).toBe('EPIPE');
		let [near, far]: object[] = [{ code: 'EPIPE' }, { code: 'EPIPE' }];
		for (let layer = 0; layer < 4; layer++) near = { cause: near };
		for (let layer = 0; layer < 5; layer++) far = { cause: far };
		expect([codeOf(near), codeOf(far)]).toEqual(['EPIPE', undefined]);
	});

	it('may stand in its words', () => {
		expect(codeOf(new Error('read ECONNRESET'))).toBe('ECONNRESET');
		expect(codeOf(new Error('CERT_HAS_EXPIRED: no'))).toBe('CERT_HAS_EXPIRED');
		expect(codeOf(new Error('unable: SELF_SIGNED_CERT_IN_CHAIN'))).toBe(
			'SELF_SIGNED_CERT_IN_CHAIN',
		);
		const wrapped = new NodeApiError(NODE, { message: 'x' });
		wrapped.messages = ['first', 'write EPIPE'];
		expect(codeOf(wrapped)).toBe('EPIPE');
	});

	it('of a file that n8n has deleted is that of a missing file', () => {
		expect(codeOf(new Error('File not found'))).toBe('ENOENT');
		expect(codeOf({ message: 'File not found' })).toBeUndefined();
	});

	it.each([[new Error('END of it')], [new Error('No')], [undefined], [null], ['text']])(
		'is not in %j, which is no problem of the connection',
		(error) => {
			expect(codeOf(error)).toBeUndefined();
			expect(problemOf(error, '/account', { apiKey: API_KEY })).toBeUndefined();
		},
	);
});
