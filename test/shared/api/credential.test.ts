/** "Every request" in the contract, for what each costs n8n: a reading of the credential is a query of its database. */
import type { INode } from 'n8n-workflow';

import { credentialOf, keyHash } from '../../../nodes/shared/api/credential';
import { callService } from '../../../nodes/shared/api/callService';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { queueFor } from '../../../nodes/shared/api/waitForTurn';
import { MAY_BE_ACCEPTED } from '../../faults/invariants';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { answeringTrigger, STORED } from '../../support/answeringTrigger';
import { runNode, type Run } from '../../support/engine';
import { itemContext } from '../../support/itemContext';
import { credentialsHelper } from '../../support/n8n';
import { ACCOUNT, LINK } from '../../support/parameters';
import { findIn } from '../../support/search';
import { byId, serviceForTests } from '../../support/service';
import { long } from '../../support/long';

const { completedTask, credentials, pendingTask, run, running } = serviceForTests();

const ROTATED = 'the-key-after-the-rotation';
const GET = { resource: 'task', operation: 'get', taskId: byId('={{ $json.task_id }}') };

it('reads the credential once for an item and its request, beside what n8n reads for the node', async () => {
	const items = [
		{ json: { task_id: await completedTask() } },
		{ json: { task_id: await completedTask() } },
	];
	const one = await run(GET, { items: items.slice(0, 1) });
	const two = await run(GET, { items });
	expect([one.json, two.json].map((json) => json.length)).toEqual([1, 2]);
	expect([one.credentialReadings, two.credentialReadings]).toEqual([2, 3]);
});

/** Runs an operation. The first attempt gets 503, and in the pause after it the key is rotated. */
async function rotatedInThePause(parameters: Run['parameters'], answer?: FaultRule['action']) {
	const current: Run['credentials'] = credentials();
	const headers = { 'Retry-After': '1.1' };
	running().fault({ match: {}, times: 1, action: { kind: 'respond', status: 503, headers } });
	const getting = runNode({ credentials: current, parameters });
	await until(() => running().requests.some(({ status }) => status === 503));
	running().configure({ apiKey: ROTATED });
	current.apiKey = ROTATED;
	if (answer) running().fault({ match: {}, times: 1, action: answer });
	return await getting;
}

describe('if the key was rotated in the pause between two attempts', () => {
	it('sends the next attempt with the key of now', async () => {
		const taskId = await completedTask();
		const { error, json } = await rotatedInThePause({ ...GET, taskId: byId(taskId) });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ status: 'completed' }]);
	});

	it('sends nothing more if the Base URL was changed too, because the new key is none of the old service, and takes nothing for submitted', async () => {
		const current: Run['credentials'] = credentials();
		const headers = { 'Retry-After': '1.1' };
		running().fault({ match: {}, times: 1, action: { kind: 'respond', status: 503, headers } });
		const getting = runNode({ credentials: current, parameters: LINK });
		await until(() => running().requests.some(({ status }) => status === 503));
		Object.assign(current, { baseUrl: 'http://127.0.0.1:9', apiKey: ROTATED });
		const { error } = await getting;
		expect(error?.message).toContain("The 'Base URL' of the credential was changed");
		expect(running().requests).toHaveLength(1);
		// The refusal says that nothing was accepted, and nothing was sent after it.
		expect(error?.description).not.toMatch(MAY_BE_ACCEPTED);
	});

	long.it('sends nothing if both were changed before the first attempt', async () => {
		const current: Run['credentials'] = credentials();
		let asked = 0;
		const trigger = await answeringTrigger(current.apiKey, () => {
			asked += 1;
			if (asked > 1) return STORED;
			Object.assign(current, { baseUrl: 'http://127.0.0.1:9', apiKey: ROTATED });
			return { status: 502, body: '' };
		});
		const completion = { onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const { error } = await runNode({
			credentials: current,
			parameters: { ...LINK, ...completion },
		});
		trigger.close();
		expect(error).toBeDefined();
		expect(running().requests).toEqual([]);
	});

	it('ends at once when the execution is cancelled while n8n reads the credential', async () => {
		let readings = 0;
		const helper = credentialsHelper(credentials(), async () => {
			if (++readings > 1) await new Promise(() => {});
		});
		const headers = { 'Retry-After': '1.1' };
		running().fault({ match: {}, times: 1, action: { kind: 'respond', status: 503, headers } });
		const cancel = new AbortController();
		const place = { credentials: helper, cancel: cancel.signal };
		const asking = callService(itemContext(ACCOUNT, place), { method: 'GET', url: '/account' });
		await until(() => readings > 1);
		cancel.abort(new Error('The execution was cancelled'));
		await expect(asking).rejects.toThrow('cancelled');
	});

	long.it('masks the key of now in the output', async () => {
		const body = { plan: 'pro', owner: `the owner of ${ROTATED}` };
		const answer = { kind: 'respond', status: 200, body } as const;
		const account = { resource: 'account', operation: 'get' };
		const { json } = await rotatedInThePause(account, answer);
		expect(json).toEqual([{ plan: 'pro', owner: 'the owner of ***' }]);
	});

	it('masks the key of now in the error', async () => {
		const body = { detail: { message: `The key ${ROTATED} is not valid` } };
		const answer = { kind: 'respond', status: 401, body } as const;
		const { error } = await rotatedInThePause({ ...GET, taskId: byId('7f3c') }, answer);
		expect(findIn(error, ['is not valid'])).not.toEqual([]);
		expect(findIn(error, [ROTATED])).toEqual([]);
	});
});

it('if the key was rotated while the first attempt waited for its turn, sends it with the key of now', async () => {
	const current: Run['credentials'] = credentials();
	const turns = queueFor(current.apiKey, 'other');
	const taken = await Promise.all(
		Array.from({ length: LIMITS.other }, async () => await turns.take(undefined, 'urgent')),
	);
	let readings = 0;
	const helper = credentialsHelper(current, () => void readings++);
	const context = itemContext(ACCOUNT, { credentials: helper });
	const asking = callService(context, { method: 'GET', url: '/account' });
	await until(() => readings > 0);
	running().configure({ apiKey: ROTATED });
	current.apiKey = ROTATED;
	// A reading serves for a second.
	const now = Date.now() + 1_000;
	const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
	for (const leave of taken) leave(false);
	const answer = await asking.finally(() => clock.mockRestore());
	expect(answer).toHaveProperty('plan');
	expect(running().requests.map(({ status }) => status)).toEqual([200]);
});

long.it('masks the key of now in a wait during which the key was rotated', async () => {
	const current: Run['credentials'] = credentials();
	const taskId = await pendingTask();
	const waiting = runNode({
		credentials: current,
		parameters: {
			resource: 'task',
			operation: 'wait',
			taskId: byId(taskId),
			waitOptions: { pollInterval: 1.1 },
		},
	});
	await until(() => running().requests.length > 0);
	running().configure({ apiKey: ROTATED });
	current.apiKey = ROTATED;
	const body = { task_id: taskId, status: 'failed', error: `No recording for ${ROTATED}` };
	running().fault({ match: {}, action: { kind: 'respond', status: 200, body } });
	const { error } = await waiting;
	expect(error?.message).toContain('No recording for');
	expect(findIn(error, [ROTATED])).toEqual([]);
});

describe('the cleaned credential', () => {
	const of = async (given: object) =>
		await credentialOf({
			getNode: () => ({}) as INode,
			getCredentials: async () => given as never,
		});

	it.each([
		['whsec_1', 'whsec_1'],
		[' whsec_1\n', 'whsec_1'],
		['', undefined],
		[' \t', undefined],
		[undefined, undefined],
	])('has the Webhook Secret %j as %j', async (webhookSecret, cleaned) => {
		const given = { baseUrl: 'https://x.example', apiKey: 'k', webhookSecret };
		expect((await of(given)).webhookSecret).toBe(cleaned);
	});

	it('is read again at every poll of a trigger, whose context n8n keeps', async () => {
		const given = { baseUrl: 'https://x.example', apiKey: 'before' };
		const reader = { getNode: () => ({}) as INode, getCredentials: async () => given as never };
		await credentialOf(reader);
		given.apiKey = 'after';
		expect((await credentialOf(reader)).apiKey).toBe('after');
	});
});

it('stands for an API key by its SHA-256', () => {
	// printf k | sha256sum
	const hash = '8254c329a92850f6d539dd376f4816ee2764517da5e0235514af433164480d7a';
	expect(keyHash('k')).toBe(hash);
});
