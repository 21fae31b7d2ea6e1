/** Contract, "Trigger node": what another writer has overwritten is restored, as long as the process lives. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { handOverTo } from './client';
import { NO_RESULT, hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open, secretsIn } = hostsForTests(service);

it.each([
	['n8n while its database is away', 503, { code: 503, message: 'Database is not ready!' }],
	['a proxy that has no route', 404, '<html></html>'],
])('also after many calls in a row that %s has answered', async (_, status, body) => {
	jest.replaceProperty(STORE, 'safeAfterMs', 20);
	jest.replaceProperty(STORE, 'recheckMs', 40);
	const host = await open(NO_RESULT);
	await handOverTo(host.url, '7f3c', 'secret', 'test-api-key');
	const inner = host as unknown as { serve: (_: IncomingMessage, to: ServerResponse) => unknown };
	const serve = inner.serve.bind(host);
	let refused = 0;
	inner.serve = async (request, response): Promise<unknown> => {
		if (refused >= 6) return await serve(request, response);
		refused += 1;
		const type = typeof body === 'string' ? 'text/html' : 'application/json';
		response.writeHead(status, { 'content-type': type });
		return response.end(typeof body === 'string' ? body : JSON.stringify(body));
	};
	await until(() => refused >= 6);
	host.saved = '{}';
	await until(() => secretsIn(host) === 1);
	expect(secretsIn(host)).toBe(1);
});
