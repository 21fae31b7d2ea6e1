// Also covers index.ts, get.ts.

import { itemsOf, serviceForTests } from '../../../support/service';
import { ACCOUNT } from '../../../support/parameters';

const service = serviceForTests();

describe('account.get', () => {
	it('sends GET /account without query or body, with the API key', async () => {
		await service.run(ACCOUNT);
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: '/api/v1/account',
			query: {},
			bodyBytes: 0,
		});
		expect(service.sent().headers['x-api-key']).toBe('test-api-key');
		expect(service.sent().headers).not.toHaveProperty('idempotency-key');
	});

	it('outputs the account as the service shows it, paired', async () => {
		const { items } = await service.run(ACCOUNT);
		const { body } = await service.ask('GET /account');
		expect(items).toEqual([{ json: body, pairedItem: { item: 0 } }]);
	});

	it('outputs fields of any name and type: the service document shows none', async () => {
		const body = { tariff: { name: 'team', seats: [1, 2] }, remaining: null };
		service.running().fault({
			match: { path: '/account$' },
			action: { kind: 'respond', status: 200, body },
		});
		expect((await service.run(ACCOUNT)).json).toEqual([body]);
	});

	it('asks once per item', async () => {
		await service.run(ACCOUNT, { items: itemsOf({}, {}) });
		expect(service.lines()).toEqual(['GET /api/v1/account', 'GET /api/v1/account']);
	});
});
