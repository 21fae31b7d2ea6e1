import { failureOf, itemsOf, serviceForTests } from '../support/service';

const service = serviceForTests();

const ROTATE = { resource: 'apiKey', operation: 'rotate', confirm: true };

describe('apiKey.rotate', () => {
	it('sends POST /api-key/generate without fields, with the old key', async () => {
		await service.run(ROTATE);
		const request = service.sent();
		expect(request).toMatchObject({
			method: 'POST',
			path: '/api/v1/api-key/generate',
			query: {},
			bodyBytes: 0,
		});
		expect(request.headers['x-api-key']).toBe('test-api-key');
		expect(request.headers).not.toHaveProperty('idempotency-key');
	});

	it('outputs the new key, which is the point of it, paired', async () => {
		const { items } = await service.run(ROTATE);
		expect(items).toEqual([
			{ json: { api_key: service.running().apiKey }, pairedItem: { item: 0 } },
		]);
		expect(service.running().apiKey).not.toBe('test-api-key');
	});

	it('outputs the new key under whatever name the service gives it', async () => {
		service.running().configure({ shapes: { apiKeyField: 'new_key' } });
		const { json } = await service.run(ROTATE);
		expect(json).toEqual([{ new_key: service.running().apiKey }]);
	});

	it('the old key stops working at once', async () => {
		const credentials = service.credentials();
		await service.run(ROTATE, { credentials });
		const { error } = await service.run({ resource: 'account', operation: 'get' }, { credentials });
		expect(error).toMatchObject(failureOf(0, 'The service does not accept the API key'));
	});

	it.each([
		['by default', {}],
		['when off', { confirm: false }],
		['when not exactly true', { confirm: '={{ "no" }}' }],
	])('does nothing unless confirm is true: %s', async (_case, confirm) => {
		const { error } = await service.run({ resource: 'apiKey', operation: 'rotate', ...confirm });
		expect(error).toMatchObject(failureOf(0, "'Confirm' is off, so the API key was not rotated"));
		expect(service.lines()).toEqual([]);
	});

	it.each([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'rotates at most once: several items are refused (onError: %s)',
		async (onError) => {
			const items = itemsOf({}, {});
			await service.run(ROTATE, { items, node: { onError } });
			expect(service.lines()).toEqual([]);
		},
	);
});
