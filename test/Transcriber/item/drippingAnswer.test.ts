/** "Every request" in the contract: all but an upload has 60 s, also if something of its answer arrives all the time. */
// Also covers sendOperation.ts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT, LINK } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

it.each([
	['Account: Get', ACCOUNT],
	['Transcribe URL', LINK],
])('%s', async (_name, parameters) => {
	giveUpSoon();
	expect(TIMEOUTS.request).toBe(60_000);
	const timeout = jest.replaceProperty(TIMEOUTS, 'request', 500);
	const server = createServer((_request, response) => {
		response.writeHead(200, { 'content-type': 'application/json' }).write('{');
		const drip = setInterval(() => response.write(' '), 20);
		response.on('close', () => clearInterval(drip));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	try {
		const credentials = service.credentials({ baseUrl });
		const { error } = await service.run(parameters, { credentials, items: itemsOf({}) });
		expect(error?.message).toBeDefined();
	} finally {
		timeout.restore();
		server.closeAllConnections();
		server.close();
	}
});
