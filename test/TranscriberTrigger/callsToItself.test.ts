/** A process checks what it has stored by calls to its own address, whatever stands there. */
// Also covers repairStaticData.ts.
import { createServer as createHttp, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { IWebhookFunctions } from 'n8n-workflow';

import { watchSavedData } from '../../nodes/TranscriberTrigger/repairStaticData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { contextsWith } from '../shared/n8nInternals/contexts';
import { until } from '../simulator/testing-client';
import { selfSignedCertificate } from '../support/certificate';
import { long } from '../support/long';
import { additionalDataFor } from '../support/n8n';

const OFF = JSON.stringify({ message: 'The webhook is not registered' });
let server: Server;
afterEach(async () => {
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
});

async function watch(scheme: string): Promise<void> {
	jest.replaceProperty(STORE, 'safeAfterMs', 20);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const data = additionalDataFor({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' });
	const context = contextsWith(data).webhookCall as unknown as IWebhookFunctions;
	const { port } = server.address() as AddressInfo;
	watchSavedData(context, `${scheme}://127.0.0.1:${port}/webhook/a/transcriber`);
}

it('They reach an n8n that serves https itself: its certificate is not for its local address', async () => {
	let calls = 0;
	server = createHttps(selfSignedCertificate(), (_request, response) => {
		calls += 1;
		response.writeHead(404, { 'content-type': 'application/json' }).end(OFF);
	});
	await watch('https');
	await until(() => calls === 1);
});

long.it(
	'One that is never answered does not end them',
	async () => {
		let calls = 0;
		server = createHttp((_request, response) => {
			calls += 1;
			if (calls === 1) return;
			response.writeHead(404, { 'content-type': 'application/json' }).end(OFF);
		});
		await watch('http');
		await until(() => calls === 1);
		await new Promise((resolve) => setTimeout(resolve, 11_000));
		await until(() => calls === 2);
	},
	40_000,
);
