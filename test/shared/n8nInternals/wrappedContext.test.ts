/** What n8n's HTTP helper calls on the context that it is called with, in the n8n-core of the lock file. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { IExecuteSingleFunctions } from 'n8n-workflow';

import { withCancelSignal } from '../../../nodes/shared/n8nInternals/wrappedContext';
import { additionalDataFor } from '../../support/n8n';
import { contextsWith } from './contexts';

/** Takes requests, and never answers. */
let silent: Server;
beforeAll(async () => {
	silent = createServer();
	await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
	silent.closeAllConnections();
	silent.close();
});

async function send(context: IExecuteSingleFunctions): Promise<void> {
	const { port } = silent.address() as AddressInfo;
	const url = `http://127.0.0.1:${port}`;
	await context.helpers.httpRequestWithAuthentication.call(context, 'transcriberApi', { url });
}

const item = (...given: Parameters<typeof additionalDataFor>) =>
	contextsWith(additionalDataFor(...given)).item as unknown as IExecuteSingleFunctions;
const CREDENTIALS = { baseUrl: 'https://service.example', apiKey: 'key' };

it('n8n aborts a request with the signal of the context that it is sent with', async () => {
	const stop = new AbortController();
	const sending = send(withCancelSignal(item(CREDENTIALS), stop.signal));
	setTimeout(() => stop.abort(), 100);
	await expect(sending).rejects.toThrow(/cancel|abort/i);
});
