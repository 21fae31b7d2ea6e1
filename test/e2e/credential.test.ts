/** The credential as n8n uses it: its test button, and the HTTP Request node. */
import { Bench } from './harness';

describe('the credential in a real n8n', () => {
	let bench: Bench;

	beforeAll(async () => {
		bench = await Bench.open();
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	it.each(['', '/', '/api/v1', '/api/v1/'])(
		'is tested with its base URL ending in "%s"',
		async (end) => {
			const { url, apiKey } = bench.simulator;
			const data = { baseUrl: `${url}${end}`, apiKey };
			expect(await bench.rest.testCredential('transcriberApi', data)).toMatchObject({
				status: 'OK',
			});
			expect(bench.asked()).toEqual(['GET /account']);
		},
	);

	it('its test tells a wrong key from a right one', async () => {
		const data = { baseUrl: bench.simulator.url, apiKey: 'wrong' };
		expect(await bench.rest.testCredential('transcriberApi', data)).toMatchObject({
			status: 'Error',
		});
	});

	it('its test is no success for a web page that answers 200', async () => {
		bench.simulator.fault({
			match: { path: '/account$' },
			action: { kind: 'respond', status: 200, body: '<!DOCTYPE html><html>Welcome</html>' },
		});
		const { url, apiKey } = bench.simulator;
		expect(
			await bench.rest.testCredential('transcriberApi', { baseUrl: url, apiKey }),
		).toMatchObject({
			status: 'Error',
			message: expect.stringContaining('Something other than the service answered'),
		});
	});

	it('is tested without what was pasted along with the key and the address', async () => {
		const { url, apiKey } = bench.simulator;
		const data = { baseUrl: ` ${url}/\u200b`, apiKey: `\ufeff${apiKey}\r\n` };
		expect(await bench.rest.testCredential('transcriberApi', data)).toMatchObject({ status: 'OK' });
	});

	it('serves the HTTP Request node as a predefined credential', async () => {
		const { items, error } = await bench.runNode(
			{
				url: `${bench.simulator.url}/api/v1/account`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'transcriberApi',
				options: {},
			},
			{ type: { type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2 } },
		);
		expect(error).toBeUndefined();
		expect(items[0]?.json).toMatchObject({ balance: 1000 });
		expect(bench.simulator.requests[0]).toMatchObject({
			headers: { 'x-api-key': bench.simulator.apiKey },
			status: 200,
		});
	});
});
