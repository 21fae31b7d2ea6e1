/** What the log and the error say if a trigger does not answer, or something else answers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { captureLogs } from '../../../support/logs';

import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://files.example.com/a.mp3',
	onCompletion: 'notifyTrigger',
};

it('an address where nobody listens: the log says why, in one line', async () => {
	const logs = captureLogs();
	const { error } = await service.run(
		{ ...LINK, triggerUrl: 'http://127.0.0.1:9/webhook/1/transcriber' },
		{ items: itemsOf({}) },
	);
	logs.release();
	expect(error?.message).toContain('n8n cannot reach its address');
	expect(service.lines()).toEqual([]);
	const lines = logs.lines.filter((line) => line.includes("the address in 'Trigger URL'"));
	expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')]);
});

it.each([
	[403, 'a firewall that knows no PUT'],
	[405, 'a proxy that takes only GET and POST'],
	[302, 'a login page in front of n8n'],
])('HTTP %i of %s: the error says that PUT may not get through', async (status) => {
	const proxy = createServer((request, response) => {
		request.resume().on('end', () => {
			response.writeHead(status, { 'content-type': 'text/html', location: '/login' });
			response.end('<html><body>nginx</body></html>');
		});
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	const { port } = proxy.address() as AddressInfo;
	const triggerUrl = `http://127.0.0.1:${port}/webhook/1/transcriber`;
	const { error } = await service.run({ ...LINK, triggerUrl }, { items: itemsOf({}) });
	proxy.close();
	expect(error?.message).toContain(`HTTP ${status}, but not as a Transcriber Trigger does`);
	expect(error?.description).toContain('a proxy or firewall in front of n8n may not let PUT');
	expect(service.lines()).toEqual([]);
});
