/**
 * Contract: "each (task, final status) is emitted once". Here the delivery, signed with the Webhook Secret of the credential,
 * comes before the hand-over of the same secret. The secret then stays in the store as that of a second submission.
 */
// Also covers verifyDelivery.ts.
import { setTimeout as sleep } from 'node:timers/promises';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { YOUNG } from '../../nodes/Transcriber/submit/suspension/lookBeforeSuspending';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { LINK } from '../support/parameters';
import { few } from '../support/long';
import { serviceForTests } from '../support/service';
import { deliver, post, putAll } from './client';
import { TriggerHost } from './host';

const service = serviceForTests();
const SECRET = 'whsec_of_the_account';
let host: TriggerHost;
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 50);
	jest.replaceProperty(LIMITS, 'other', 10_000);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await host.close();
});

async function open(webhookSecret = '') {
	const id = await service.completedTask();
	const credentials = { ...service.credentials(), webhookSecret };
	const parameters = { options: { includeResult: true } };
	host = await new TriggerHost({ parameters, credentials }).open();
	return { id, credentials };
}

async function handOver(id: string, key: string) {
	const handOvers = [{ id, kind: 'task' as const, secret: SECRET }];
	for (let tries = 0; tries < 20; tries++) {
		const { body } = await putAll(host.url, handOvers, key);
		if (body['stored'] === true) return;
		await sleep(100);
	}
	throw new Error('The trigger has not stored the secret');
}

/** Delivers once, and waits until n8n has saved the execution. */
async function end(id: string) {
	expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
	await sleep(200);
	expect(host.executions).toHaveLength(1);
}

async function rotate(credentials: { apiKey: string }) {
	const { body } = await service.ask('POST /api-key/generate');
	credentials.apiKey = String(body['api_key']);
	host.restart();
}

async function deliverForged(id: string) {
	const forged = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
	return await post(host.url, JSON.stringify({ task_id: id }), forged);
}

it('after a rotation of the API key, a call with a wrong signature does not start the workflow again', async () => {
	const { id, credentials } = await open(SECRET);
	await end(id);
	await handOver(id, credentials.apiKey);
	await rotate(credentials);
	const { status } = await deliverForged(id);
	expect({ status, executions: host.executions.length }).toEqual({ status: 401, executions: 1 });
});

it('a repeat with another body after the Webhook Secret was cleared does not start the workflow again', async () => {
	const { id, credentials } = await open(SECRET);
	await end(id);
	await handOver(id, credentials.apiKey);
	credentials.webhookSecret = '';
	host.restart();
	await deliver(host.url, { task_id: id, attempt: 2 }, SECRET);
	expect(host.executions).toHaveLength(1);
});

it('a secret that is handed over after the Webhook Secret was changed does not start the workflow again', async () => {
	const { id, credentials } = await open(SECRET);
	await end(id);
	credentials.webhookSecret = 'another secret';
	host.restart();
	await handOver(id, credentials.apiKey);
	await deliver(host.url, { task_id: id, attempt: 2 }, SECRET);
	expect(host.executions).toHaveLength(1);
});

describe('The same recording is submitted with the same key again, so its secret is handed over again', () => {
	async function expectNoSecondStart(): Promise<void> {
		await sleep(200);
		expect(host.executions).toHaveLength(1);
	}

	it('after a rotation: a repeat with another body does not start the workflow again', async () => {
		const { id, credentials } = await open();
		await handOver(id, credentials.apiKey);
		await end(id);
		await rotate(credentials);
		await handOver(id, credentials.apiKey);
		await deliver(host.url, { task_id: id, attempt: 2 }, SECRET);
		await expectNoSecondStart();
	});

	it('between two rotations: a call with a wrong signature does not start the workflow again', async () => {
		const { id, credentials } = await open();
		await handOver(id, credentials.apiKey);
		await end(id);
		await rotate(credentials);
		await handOver(id, credentials.apiKey);
		await rotate(credentials);
		await deliverForged(id);
		await expectNoSecondStart();
	});

	it('after an ending that only the service could confirm: a repeat does not start the workflow again', async () => {
		const { id, credentials } = await open();
		await handOver(id, credentials.apiKey);
		await rotate(credentials);
		await end(id);
		await handOver(id, credentials.apiKey);
		await deliver(host.url, { task_id: id, attempt: 2 }, SECRET);
		await expectNoSecondStart();
	});
});

describe('A task whose webhook the service has given up before the trigger knows the secret', () => {
	const answerLate = () =>
		service.running().fault({
			match: { path: '/transcribe-url$' },
			action: { kind: 'delay', ms: 1_000, processed: true },
		});
	const looks = { match: { method: 'GET' }, times: 9 };
	const delayLooks = (ms: number) =>
		service.running().fault({ ...looks, action: { kind: 'delay', ms } });
	const refuseLooks = () =>
		service.running().fault({ ...looks, action: { kind: 'respond', status: 500 } });
	const finish = () => service.running().finish(service.running().tasks().at(-1)?.id ?? '');
	const submitted = async () => {
		jest.replaceProperty(YOUNG, 'ms', 200);
		host = await new TriggerHost({ parameters: {}, credentials: service.credentials() }).open();
		service.running().configure({ webhookRetrySeconds: 1_000_000 });
		const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const running = service.run(notify);
		await until(() => service.running().tasks().length > 0);
		return running;
	};

	few.it.each<[string, () => unknown]>([
		['', () => undefined],
		[', and the service takes two seconds to say so', () => delayLooks(2_000)],
		[', and the service does not say so', () => refuseLooks()],
	])(
		'is an error that says so where it ended while the trigger could not be reached%s',
		async (_, meanwhile) => {
			const running = submitted();
			await until(() => service.running().tasks().length > 0);
			host.isActive = false;
			await sleep(500);
			finish();
			await meanwhile();
			await sleep(300);
			host.isActive = true;
			const { error } = await running;
			expect(error?.message).toMatch(
				/^It is not known whether task \S+ had ended before the Transcriber/,
			);
		},
	);

	it('is an error where the answer to its submit was late', async () => {
		answerLate();
		const running = submitted();
		await until(() => service.running().tasks().length > 0);
		await sleep(300);
		finish();
		const { error } = await running;
		expect(error?.message).toMatch(/only after its end/);
		expect(host.executions).toEqual([]);
	});
});
