/** An address on this machine that answers everything, and tells what it was asked. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function listening(
	heard: (url: string, headers: string) => void,
): Promise<{ url: string; server: Server }> {
	const server = createServer((request, response) => {
		heard(request.url ?? '', JSON.stringify(request.headers));
		request.resume();
		response.end('{}');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
