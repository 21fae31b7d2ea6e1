import { AUDIO, simulatorForTests, until } from './testing-client';
import { Billing } from './billing';

const { running, ask, submit } = simulatorForTests();

describe('Billing', () => {
	it.each([
		['first 10 000', 0, 0.5],
		['10 000 to 50 000', 10_000, 0.44],
		['50 000 to 200 000', 50_000, 0.4],
		['over 200 000', 200_000, 0.36],
	])('%s minutes in the month', (_tier, minutesUsed, price) => {
		const billing = new Billing(1000, Date.now);
		billing.addUsage(minutesUsed * 60);
		expect(billing.cost(60)).toBeCloseTo(price, 10);
	});

	it('a recording across two tiers has the price of both', () => {
		const billing = new Billing(1000, Date.now);
		billing.addUsage(9_999 * 60);
		expect(billing.cost(120)).toBeCloseTo(0.5 + 0.44, 10);
	});

	it('charging is per second', () => {
		expect(new Billing(1000, Date.now).cost(1)).toBeCloseTo(0.5 / 60, 10);
		expect(new Billing(1000, Date.now).cost(0.4)).toBeCloseTo(0.5 / 60, 10);
	});

	it('the minutes of a month do not count in the next', () => {
		let now = Date.UTC(2030, 0, 31);
		const billing = new Billing(1000, () => now);
		billing.addUsage(20_000 * 60);
		expect(billing.cost(60)).toBeCloseTo(0.44, 10);
		now = Date.UTC(2030, 1, 1);
		expect(billing.cost(60)).toBeCloseTo(0.5, 10);
	});

	it('a completed task is charged', async () => {
		running().finish(await submit());
		expect((await ask('GET /account')).body).toMatchObject({ balance: 999.5, minutes_used: 1 });
	});

	it('a task that ends in failed is not charged', async () => {
		running().finish(await submit(), { status: 'failed', error: 'Broken' });
		expect((await ask('GET /account')).body).toMatchObject({ balance: 1000, minutes_used: 0 });
	});

	it('the minimum top-up is 500 rubles', () => {
		expect(() => running().topUp(499)).toThrow('500');
		running().topUp(500);
		expect(running().balance).toBe(1500);
	});
});

describe('Insufficient balance', () => {
	it('stores the task with awaiting_balance and no error, and starts it after a top-up', async () => {
		running().configure({ balance: 0.1, queueSeconds: 1 });
		const { status, body } = await ask('POST /transcribe', { file: AUDIO });
		expect([status, body['status']]).toEqual([200, 'awaiting_balance']);
		const taskId = String(body['task_id']);
		expect((await ask(`GET /tasks/${taskId}`)).body).toEqual({
			task_id: taskId,
			status: 'pending',
			progress: 0,
			queue_state: 'awaiting_balance',
			awaiting_balance: true,
		});
		running().topUp(500);
		await until(() => running().task(taskId).status === 'completed');
	});

	it('the answer to the submit may say pending as well', async () => {
		running().configure({ balance: 0, shapes: { submitStatusAwaitingBalance: 'pending' } });
		expect((await ask('POST /transcribe', { file: AUDIO })).body['status']).toBe('pending');
	});

	it('what the tasks in progress will cost is not spent twice', async () => {
		running().configure({ balance: 0.75 });
		const [first, second] = [await submit(), await submit()];
		expect(running().task(first).awaitingBalance).toBe(false);
		expect(running().task(second).awaitingBalance).toBe(true);
	});

	it('a waiting task can be cancelled and stays so', async () => {
		running().configure({ balance: 0, queueSeconds: 1 });
		const taskId = await submit();
		expect((await ask(`POST /tasks/${taskId}/cancel`)).body['status']).toBe('cancelled');
		running().topUp(500);
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(running().task(taskId).status).toBe('cancelled');
	});
});

describe('The API key', () => {
	it('401 without error_code when it is missing or invalid', async () => {
		for (const key of [null, 'wrong', '']) {
			const { status, body } = await ask('GET /account', { key });
			expect([status, body]).toEqual([401, { detail: { message: expect.any(String) } }]);
		}
	});

	it('401 when the API is not enabled in the cabinet', async () => {
		running().configure({ apiEnabled: false });
		expect((await ask('GET /account')).status).toBe(401);
	});

	it('POST /api-key/generate replaces it, and the old one stops working', async () => {
		const old = running().apiKey;
		const { body } = await ask('POST /api-key/generate');
		expect(body).toEqual({ api_key: running().apiKey });
		expect((await ask('GET /account', { key: old })).status).toBe(401);
		expect((await ask('GET /account')).status).toBe(200);
	});

	it('the new key comes in the field that the shape names', async () => {
		running().configure({ shapes: { apiKeyField: 'key' } });
		expect((await ask('POST /api-key/generate')).body).toEqual({ key: running().apiKey });
	});
});
