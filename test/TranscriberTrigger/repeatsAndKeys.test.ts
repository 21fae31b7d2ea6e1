/** What is kept between the repeats of a delivery, and for each trigger by itself. */
// Also covers shareResultFetch.ts, askServiceWithoutSecret.ts, triggerMemory.ts,
// nodes/shared/webhook/hmacSignedBody.ts, nodes/shared/webhook/sealedSecret.ts.

import { createHmac } from 'node:crypto';

import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { isSignedWith } from '../../nodes/shared/webhook/hmacSignedBody';
import { secretIn } from '../../nodes/shared/webhook/sealedSecret';
import { ledgerKey } from '../../nodes/TranscriberTrigger/staticDataLedger';
import {
	STORE,
	broughtUpToDate,
	newMemory,
	note,
} from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, put, putAll } from './client';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
/** Another account. */
const other = serviceForTests();
const { open } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';

/** A trigger with Emit Duplicates and the secret of a completed task. */
async function openWithDuplicates() {
	const id = await service.completedTask();
	const host = await open({ options: { emitDuplicates: true } }, { mode: 'manual' });
	await put(host.url, id, SECRET, service.credentials().apiKey);
	return { host, body: { task_id: id, status: 'completed' } };
}

it('With Emit Duplicates, a repeat takes the result that came too late for the delivery before', async () => {
	const { host, body } = await openWithDuplicates();
	const soon = jest.replaceProperty(ANSWER, 'withinMs', 1_000);
	const slow = { kind: 'delay', ms: 2_500 } as const;
	service.running().fault({ match: { path: '/result$' }, action: slow });
	expect((await deliver(host.url, body, SECRET)).status).toBe(503);
	soon.restore();
	expect(service.lines().filter((line) => line.endsWith('/result'))).toHaveLength(1);
	await until(() => service.running().requests.every(({ status }) => status !== undefined));
	expect((await deliver(host.url, body, SECRET)).status).toBe(200);
	expect(host.executions).toHaveLength(1);
});

it('Two triggers of one workflow, with two accounts that have the same task id: each asks its own service', async () => {
	const outputs: unknown[] = [];
	for (const [index, { running, credentials }] of [service, other].entries()) {
		const body = { task_id: '17', status: 'failed', error: `Reason ${index}` };
		const action = { kind: 'respond', status: 200, body } as const;
		running().fault({ match: { path: '/tasks/17$' }, times: 9, action });
		const host = await open({ options: { includeResult: false } }, { credentials: credentials() });
		// Its secret cannot be read any more.
		await until(async () => {
			const { status } = await putAll(host.url, [{ id: '17', kind: 'task' }], credentials().apiKey);
			return status === 200;
		});
		expect((await deliver(host.url, { task_id: '17' }, 'made up')).status).toBe(200);
		outputs.push(host.executions.flat().map(({ json }) => json.error));
	}
	expect(outputs).toEqual([['Reason 0'], ['Reason 1']]);
});

it('An old spent secret that is missing in the saved data goes in before newer ones, and pushes out none of them', () => {
	const memory = newMemory();
	const [old, fresh] = [ledgerKey('old'), ledgerKey('new')];
	note(memory.spent, old, { value: 'sealed' }, STORE.spent);
	for (const entry of memory.spent.values()) entry.at -= STORE.newMs + 1;
	const saved = { secrets: '', endings: '', spent: `${fresh} sealed;` };
	expect(broughtUpToDate(saved, memory).spent).toBe(`${old} sealed;${fresh} sealed;`);
});

it('A secret with blanks at its ends counts with them', () => {
	const [secret, raw] = [' whsec_1\n', Buffer.from('{"task_id":"7f3c"}')];
	expect(secretIn(secret)).toBe(secret);
	const digest = createHmac('sha256', secret).update(raw).digest('hex');
	expect(isSignedWith(secret, { raw, signature: `sha256=${digest}` })).toBe(true);
});
