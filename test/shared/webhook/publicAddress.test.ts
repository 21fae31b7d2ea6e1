/** Service document, "Meeting launch parameters": webhook_url has to be https and public. */

import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { resumeUrlOf } from '../../../nodes/shared/n8nInternals/resumeUrl';
import {
	checkOwnAddress,
	reasonAgainstWebhookUrl,
} from '../../../nodes/shared/webhook/publicAddress';

const SERVICE = 'https://service.example.com/api/v1';
const against = (address: string, baseUrl = SERVICE) => reasonAgainstWebhookUrl(address, baseUrl);

describe('A webhook address', () => {
	it.each([
		'https://n8n.example.com/webhook/1',
		'HTTPS://N8N.EXAMPLE.COM',
		'https://n8n.example.com./webhook',
		'https://n8n.example.com:8443/webhook?a=1',
		...['1.1.1.1', '9.255.1.1', '11.0.0.1', '126.1.1.1', '128.1.1.1', '169.253.1.1', '169.255.1.1'],
		...['172.15.1.1', '172.32.1.1', '192.167.1.1', '192.169.1.1', '100.63.1.1', '100.128.1.1'],
		...['110.1.1.1', '100.1.1.1', '210.1.1.1'],
		...['[2606:4700::1111]', '[fec0::1]', '[fe70::1]', 'homes.example.com', 'localhost.com'],
		...['10.example.com', '0.example.com', '127.example.com', '192.168.example.com'],
		...['10.20.30.40.example.com', '192.168.0.1.example.com'],
		...['n8n.local.example.com', 'a.home.example.com', 'internal.example.com'],
		...['n8n.arpa', 'corp.example.com', 'n8n.mycorp', 'n8n.latest'],
	])('%s can be called', (address) => {
		expect(against(address.includes('://') ? address : `https://${address}/webhook`)).toBe(
			undefined,
		);
	});

	it.each([
		...['0.0.0.0', '0.1.2.3', '10.0.0.1', '127.0.0.1', '127.255.0.1', '169.254.169.254'],
		...['172.16.0.1', '172.19.0.1', '172.20.0.1', '172.29.0.1', '172.30.0.1', '172.31.255.1'],
		...['192.168.0.1', '100.64.0.1', '100.69.0.1', '100.70.0.1', '100.99.0.1', '100.100.0.1'],
		...['100.119.0.1', '100.120.0.1', '100.127.0.1', '2130706433', '0x7f.1'],
		...['[::1]', '[::]', '[fc00::1]', '[fd12::1]', '[fe80::1]', '[fe90::1]', '[fea0::1]'],
		...['[febf::1]', '[::ffff:10.0.0.1]', '[FE80::1]'],
		...['localhost', 'LOCALHOST', 'localhost.', 'n8n', 'n8n.local', 'n8n.localhost'],
		...['n8n.internal', 'n8n.LAN', 'n8n.home', 'n8n.home.', 'n8n.home.arpa', 'n8n.home.arpa.'],
		...['n8n.localdomain', 'localhost.localdomain', 'n8n.intranet', 'n8n.private', 'n8n.corp'],
		'n8n.test',
	])('https://%s is local', (host) => {
		expect(against(`https://${host}:5678/webhook`)).toBe(
			'is a local address that the service cannot reach',
		);
	});

	it.each(['http://n8n.example.com', 'ftp://n8n.example.com', 'http://localhost:5678'])(
		'%s is not https',
		(address) => expect(against(address)).toBe('does not start with https://'),
	);

	it.each(['n8n.example.com', '', 'https://', 'https://[::1'])('%j is no address', (address) =>
		expect(against(address)).toBe('is not a web address'),
	);

	it.each([' https://n8n.example.com', 'https://n8n.example.com/a b', 'https://n8n.example.com\n'])(
		'%j has a blank in it',
		(address) => expect(against(address)).toBe('has a blank or a line break in it'),
	);
});

describe('If the service itself is on loopback', () => {
	it.each(['http://localhost:9', 'http://127.0.0.1:9', 'https://127.11.22.33', 'http://[::1]:9'])(
		'(%s), an address on loopback can be called',
		(baseUrl) => {
			expect(against('http://localhost:5678/webhook', baseUrl)).toBeUndefined();
			expect(against('http://127.0.0.1:5678/webhook', baseUrl)).toBeUndefined();
			expect(against('https://[::1]/webhook', baseUrl)).toBeUndefined();
			expect(against('http://localhost./webhook', baseUrl)).toBeUndefined();
		},
	);

	it.each([
		['http://192.168.0.1:5678', 'does not start with https://'],
		['https://192.168.0.1:5678', 'is a local address that the service cannot reach'],
		['http://localhost.example.com', 'does not start with https://'],
		['http://my-localhost', 'does not start with https://'],
	])('%s is refused as ever', (address, reason) => {
		expect(against(address, 'http://127.0.0.1:9')).toBe(reason);
	});

	it.each([
		...['http://127.example.com', 'http://localhost.example.com'],
		'http://my-localhost',
		'',
		'x y',
	])('which it is not at %s', (baseUrl) => {
		expect(against('http://localhost:5678', baseUrl)).toBe('does not start with https://');
	});
});

describe('A webhook address of n8n without https://', () => {
	/** What n8n gives if its public address was entered without a scheme. */
	const n8nWith = (resumeUrl: string) =>
		({
			getNode: () => ({ id: 'node-1', name: 'Transcriber' }),
			evaluateExpression: () => resumeUrl,
		}) as unknown as IExecutePaginationFunctions;

	it('is no web address: the error names the settings', () => {
		const context = n8nWith('n8n.example.com/webhook-waiting/1');
		expect(() => resumeUrlOf(context)).toThrow(
			'The webhook address of this n8n is not a web address',
		);
	});

	it('passes on loopback if the service is on loopback, too', () => {
		const context = n8nWith('http://localhost:5678/webhook-waiting/1');
		const check = (baseURL?: string) => {
			const request = { options: { baseURL } } as never;
			checkOwnAddress(context, request, resumeUrlOf(context), 'The address');
		};
		expect(() => check('http://127.0.0.1:9/api/v1')).not.toThrow();
		expect(() => check(SERVICE)).toThrow('The address does not start with https://');
	});

	it.each([
		['localhost:5678/webhook-waiting/1?signature=token', 'localhost:5678'],
		['user:password@n8n.example.com/webhook-waiting/1', 'n8n.example.com'],
		['http://n8n.example.com/webhook-waiting/1?signature=token', 'http://n8n.example.com'],
	])('is shown without its token: %s', (address, shown) => {
		const context = n8nWith(address);
		const request = { options: { baseURL: SERVICE } } as never;
		expect(() => checkOwnAddress(context, request, resumeUrlOf(context), 'The address')).toThrow(
			`The address does not start with https://: '${shown}'`,
		);
	});
});
