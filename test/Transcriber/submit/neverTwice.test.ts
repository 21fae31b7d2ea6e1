/** "Every request" in the contract: what the service has accepted is never submitted again. */
// Also covers submit.ts.

import { rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { Socket, type AddressInfo } from 'node:net';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import {
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type IRunExecutionData,
} from 'n8n-workflow';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { again, withDefaults } from '../../support/again';
import { callTool, runAgent } from '../../support/agent';
import { selfSignedCertificate } from '../../support/certificate';
import { runNode, storedBinary, type Outcome, type Run } from '../../support/engine';
import { shortenRetries } from '../../support/scale';
import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { BOT, FILE } from '../../support/parameters';
import { FAULTS_IN_SUCCESS } from '../../support/faultsInSuccess';
import { few, long } from '../../support/long';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'returnTask',
	url: '={{ $json.url ?? "https://files.example.com/talk.mp3" }}',
};
const ROTATE = { resource: 'apiKey', operation: 'rotate', confirm: true };
const REGENERATE = {
	resource: 'task',
	operation: 'regenerateSummary',
	taskId: byId('a'),
	path: '/tasks/{taskId}/summary',
};
const threeFiles = () => [1, 2, 3].map((number) => itemWithFile(`recording ${number}`));
const threeItems = () => itemsOf({}, {}, {});

/** How n8n saves and loads executions. */
const flatted = jest.requireActual<{
	parse: (text: string) => IRunExecutionData;
	stringify: (data: IRunExecutionData) => string;
}>('flatted');

/** n8n's own Retry On Fail. */
const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

interface Submission {
	name: string;
	parameters: INodeParameters;
	items: () => INodeExecutionData[];
}
const SUBMISSIONS: Submission[] = [
	{ name: 'transcribeFile', parameters: FILE, items: threeFiles },
	{ name: 'transcribeUrl', parameters: LINK, items: threeItems },
	{ name: 'sendBot', parameters: BOT, items: threeItems },
];
const UNKEYED = SUBMISSIONS.slice(1);

function fault(action: FaultRule['action'], more: Partial<FaultRule> = {}): void {
	service.running().fault({ match: { method: 'POST' }, action, ...more });
}

/** The ids of everything the service has accepted, oldest first. */
function accepted(): string[] {
	const { tasks, bots } = service.running();
	return [...tasks().reverse(), ...bots()].map(({ id }) => id);
}

function idsIn({ json }: Outcome): unknown[] {
	return json.map(({ task_id: taskId, bot_id: botId }) => taskId ?? botId);
}

/** Of the submits only: the last look of the test before may come late. */
function statuses(): Array<number | undefined> {
	const { requests } = service.running();
	return requests.filter(({ method }) => method === 'POST').map(({ status }) => status);
}

function keys(): unknown[] {
	return service.running().requests.map(({ headers }) => headers['idempotency-key']);
}

beforeEach(() => shortenRetries(500));

describe('the Idempotency-Key of a file', () => {
	const keyOf = async (more: Partial<Run> = {}, parameters: INodeParameters = {}) => {
		service.running().requests.length = 0;
		const items = [itemWithFile()];
		const execution = { executionId: '77', resumeToken: 'of execution 77' };
		await service.run({ ...FILE, ...parameters }, { ...execution, items, ...more });
		return keys()[0];
	};

	it('is there without being asked for, and the same when execution, node, run and item are', async () => {
		const key = await keyOf();
		expect(key).toMatch(/^n8n-[0-9a-f]{40}$/);
		expect(await keyOf()).toBe(key);
		expect(service.running().tasks()).toHaveLength(1);
	});

	it('is another one in another execution, node, run, and for another item', async () => {
		const first = await service.run(FILE, { executionId: '77', items: threeFiles() });
		const found = keys();
		await service.run(FILE, { executionId: '77', data: again(first, FILE, threeFiles()) });
		await service.run(FILE, { executionId: '78', items: threeFiles() });
		await service.run(FILE, {
			executionId: '77',
			items: threeFiles(),
			node: { id: 'another node' },
		});
		expect(found).toHaveLength(3);
		expect(new Set(keys()).size).toBe(12);
		expect(service.running().tasks()).toHaveLength(12);
	});

	it('is the given one where one is given', async () => {
		expect(await keyOf({}, { options: { idempotencyKey: 'mine' } })).toBe('mine');
	});
});

/** What n8n does for "Retry" in the list of executions: a new execution with the data of the failed one. */
function retried({ data }: Outcome): IRunExecutionData {
	return saved(data, data.resultData.lastNodeExecuted ?? '');
}

function saved(data: IRunExecutionData, lastNode: string): IRunExecutionData {
	const loaded = flatted.parse(flatted.stringify(data));
	delete loaded.resultData.error;
	const runs = loaded.resultData.runData[lastNode];
	if (runs?.at(-1)?.error) runs.pop();
	return loaded;
}

/** The same with the currently saved workflow, in which the user has changed the node. */
function changed(outcome: Outcome, parameters: INodeParameters): IRunExecutionData {
	const data = retried(outcome);
	const [entry] = data.executionData?.nodeExecutionStack ?? [];
	if (entry) entry.node.parameters = withDefaults(parameters);
	return data;
}

describe("n8n's Retry of a failed execution, which gets a new id,", () => {
	const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };

	few.it.each([{}, { options: { idempotencyKey: '={{ $execution.id }}' } }])(
		'sends a file whose answer was lost with the key that it was sent with before: %j',
		async (more) => {
			jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
			fault(LOST);
			const parameters = { ...FILE, ...more };
			const first = await service.run(parameters, { items: [itemWithFile()], executionId: '41' });
			expect(first.error).toBeDefined();
			const second = await service.run(parameters, { data: retried(first), executionId: '42' });
			expect(keys()).toHaveLength(2);
			expect(new Set(keys()).size).toBe(1);
			expect(idsIn(second)).toEqual(accepted());
		},
	);

	it('keeps that key also when the last of several attempts was refused for certain', async () => {
		fault(LOST);
		fault({ kind: 'respond', status: 422 });
		const first = await service.run(FILE, { items: [itemWithFile()], executionId: '41' });
		expect(first.error).toMatchObject({ httpCode: '422' });
		const second = await service.run(FILE, { data: retried(first), executionId: '42' });
		expect(accepted()).toHaveLength(1);
		expect(idsIn(second)).toEqual(accepted());
	});

	few.it.each(UNKEYED)(
		'does not send $name again, whose answer was lost',
		async ({ parameters }) => {
			fault(LOST);
			const first = await service.run(parameters, { items: itemsOf({}), executionId: '41' });
			const second = await service.run(parameters, { data: retried(first), executionId: '42' });
			expect(second.error?.message).toMatch(/^It is not known whether the service accepted/);
			expect(accepted()).toHaveLength(1);
		},
	);

	few.it.each(SUBMISSIONS)('takes up what was accepted of $name', async ({ parameters, items }) => {
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const first = await service.run(parameters, { items: items(), executionId: '41' });
		const second = await service.run(parameters, { data: retried(first), executionId: '42' });
		expect(statuses().sort()).toEqual([200, 200, 200, 422]);
		expect(idsIn(second).sort()).toEqual(accepted().sort());
	});
});

describe("n8n's Retry of the first execution again, after a Retry of it has failed too,", () => {
	const INVALID = { options: { numSpeakers: 9 } };

	few.it.each(SUBMISSIONS)(
		'takes up what that Retry had accepted of $name: n8n knows only the data of the first',
		async ({ parameters, items }) => {
			const first = await service.run(
				{ ...parameters, ...refusedAtOnce(parameters) },
				{ items: items(), executionId: '41' },
			);
			expect(first.error).toBeDefined();
			expect(service.lines()).toEqual([]);
			fault({ kind: 'respond', status: 422 }, { skip: 2, times: 1 });
			const second = await service.run(parameters, {
				data: changed(first, parameters),
				executionId: '42',
			});
			expect(second.error).toBeDefined();
			expect(accepted()).toHaveLength(2);
			const third = await service.run(parameters, {
				data: changed(first, parameters),
				executionId: '43',
			});
			expect(third.error).toBeUndefined();
			expect(accepted()).toHaveLength(3);
			expect(idsIn(third).sort()).toEqual(accepted().sort());
		},
	);

	function refusedAtOnce(parameters: INodeParameters): INodeParameters {
		return parameters === BOT ? { consentAcknowledged: false } : INVALID;
	}
});

describe("n8n's Retry with the currently saved workflow", () => {
	const failed = async (parameters: INodeParameters, items: INodeExecutionData[]) => {
		const waiting = { onCompletion: 'poll', waitOptions: { pollInterval: 0.01, timeout: 0.001 } };
		const outcome = await service.run({ ...parameters, ...waiting }, { items, executionId: '41' });
		expect(outcome.error?.message).toContain(accepted()[0]);
		return outcome;
	};
	const retry = async (outcome: Outcome, parameters: INodeParameters, more: Partial<Run> = {}) =>
		await service.run(parameters, {
			data: changed(outcome, parameters),
			executionId: '42',
			...more,
		});

	few.it.each<[string, INodeParameters, INodeParameters]>([
		['the link', LINK, { url: 'https://files.example.com/other.mp3' }],
		['the language', LINK, { language: 'en' }],
		['an option', LINK, { options: { prompt: 'OKR' } }],
		['the meeting', BOT, { meetingUrl: 'https://meet.example.com/other' }],
		['the start', BOT, { startAt: "={{ $now.plus(1, 'hour') }}" }],
		['the operation', LINK, BOT],
	])(
		'does not pass the earlier task off as that of a changed item: %s',
		async (_what, parameters, change) => {
			const first = await failed(parameters, itemsOf({}));
			const { error, json } = await retry(first, { ...parameters, ...change });
			expect(json).toEqual([]);
			expect(error?.message).toMatch(/^This item was changed after (task|bot) /);
			expect(error?.message).toContain(accepted()[0]);
			expect(error?.description).toMatch(/Wait Until Finished.*new execution/);
			expect(accepted()).toHaveLength(1);
		},
	);

	it('does not pass the task of a file whose answer was lost off as that of a changed item', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		fault({ kind: 'cut', when: 'afterProcessing' });
		const first = await service.run(FILE, { items: [itemWithFile()], executionId: '41' });
		const changedItem = await retry(first, { ...FILE, language: 'en' });
		expect(changedItem.json).toEqual([]);
		expect(changedItem.error?.message).toMatch(/^This item was changed after it had been sent/);
		const undone = await service.run(FILE, { data: retried(first), executionId: '43' });
		expect(idsIn(undone)).toEqual(accepted());
		expect(accepted()).toHaveLength(1);
	});

	it('says for a changed item that a new execution needs another key if the user gave one', async () => {
		const ANOTHER =
			"new execution. Change 'Idempotency Key' for that: with the same key, the service";
		const options = { idempotencyKey: 'file-17' };
		const first = await failed({ ...FILE, options }, [itemWithFile()]);
		const keyed = await retry(first, { ...FILE, options, language: 'en' });
		expect(keyed.error?.description).toContain(ANOTHER);
		const derived = await retry(first, { ...FILE, language: 'en' });
		expect(derived.error?.description).toContain('new execution.');
		expect(derived.error?.description).not.toContain(ANOTHER);
	});

	it('sends a file that was refused and then put right', async () => {
		fault({ kind: 'respond', status: 422 });
		const first = await service.run(FILE, { items: [itemWithFile()], executionId: '41' });
		expect(first.error).toMatchObject({ httpCode: '422' });
		const { error, json } = await retry(first, { ...FILE, language: 'en' });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(1);
		expect(accepted()).toHaveLength(1);
	});

	it('sends the key that the user has entered instead of one that the service refused', async () => {
		const body = { detail: { error_code: 'idempotency_key_reused', message: 'Used before' } };
		fault({ kind: 'respond', status: 409, body });
		const used = { ...FILE, options: { idempotencyKey: 'used' } };
		const first = await service.run(used, { items: [itemWithFile()], executionId: '41' });
		expect(first.error?.description).toMatch(
			/^If this 'Idempotency Key' was sent before, .*Get Many and Return All/,
		);
		expect(keys()).toEqual(['used']);
		const second = await retry(first, { ...FILE, options: { idempotencyKey: 'new' } });
		expect(second.error).toBeUndefined();
		expect(keys()).toEqual(['used', 'new']);
	});

	it('sends the earlier key after a 409 of a request in progress, whatever was refused then', async () => {
		fault({ kind: 'respond', status: 409 });
		fault({ kind: 'respond', status: 422 });
		const own = { ...FILE, options: { idempotencyKey: 'old' } };
		const first = await service.run(own, { items: [itemWithFile()], executionId: '41' });
		expect(first.error).toMatchObject({ httpCode: '422' });
		await retry(first, { ...FILE, options: { idempotencyKey: 'new' } });
		expect(keys()).toEqual(['old', 'old', 'old']);
	});

	it.each([
		['', {}],
		[', also with a key of the user', { options: { idempotencyKey: 'file-17' } }],
	])('does not pass the task of one file off as that of another%s', async (_what, more) => {
		const item = itemWithFile('recording 1', { property: 'one' });
		const two = itemWithFile('recording 2', { property: 'two' });
		const both = { ...item, binary: { ...item.binary, ...two.binary } };
		const first = await failed({ ...FILE, ...more, binaryPropertyName: 'one' }, [both]);
		const { error } = await retry(first, { ...FILE, ...more, binaryPropertyName: 'two' });
		expect(error?.message).toMatch(/^This item was changed after task /);
		expect(accepted()).toHaveLength(1);
	});

	few.it.each<[string, INodeParameters, INodeParameters]>([
		['what is done with the transcript', LINK, { onCompletion: 'returnTask' }],
		['an option that is nothing', LINK, { options: { prompt: '={{ "" }}' } }],
		['blanks', LINK, { url: ' https://files.example.com/talk.mp3 ' }],
		['the Idempotency Key', FILE, { options: { idempotencyKey: 'new' } }],
	])(
		'takes up what was accepted where only this was changed: %s',
		async (_, parameters, change) => {
			const first = await failed(parameters, parameters === FILE ? [itemWithFile()] : itemsOf({}));
			const outcome = await retry(first, { ...parameters, onCompletion: 'returnTask', ...change });
			expect(outcome.error).toBeUndefined();
			expect(idsIn(outcome)).toEqual(accepted());
		},
	);

	long.it('does not take the clock for a change', async () => {
		const parameters = { ...BOT, startAt: "={{ $now.plus(1, 'hour').toISO() }}" };
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const first = await service.run(parameters, { items: itemsOf({}, {}), executionId: '41' });
		expect(first.error).toBeDefined();
		const outcome = await retry(first, parameters);
		expect(outcome.error).toBeUndefined();
		expect(idsIn(outcome).sort()).toEqual(accepted().sort());
		expect(accepted()).toHaveLength(2);
	});

	few.it.each([
		'={{ Math.random() }}',
		'={{ Array.from({ length: 1000 }, (_, n) => n + "-" + Date.now()).randomItem() }}',
		'={{ new Date().toISOString() + " " + Math.random() }}',
		'={{ Date.now() }}',
		'={{ DateTime.now().toMillis() }}',
		'={{ DateTime.local().toMillis() }}',
		'={{ +new Date }}',
		'={{ $execution.id }}',
		'={{ $executionId }}',
		'={{ DateTime?.now().toMillis() }}',
		'={{ "2026-01-01".toDateTime().diffToNow("milliseconds") }}',
		'={{ JSON.stringify($input.item.json) + $now.toMillis() }}',
	])('does not take for a change what an expression gives each time: %s', async (prompt) => {
		const parameters = { ...LINK, options: { prompt } };
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const first = await service.run(parameters, { items: itemsOf({}, {}), executionId: '41' });
		expect(first.error).toBeDefined();
		expect((await retry(first, parameters)).error).toBeUndefined();
		expect(accepted()).toHaveLength(2);
	});

	it('sends nothing for the other items either, and names what is accepted for them', async () => {
		fault({ kind: 'respond', status: 422 }, { skip: 2, times: 1 });
		const links = itemsOf({ url: 'https://a.example.com/1' }, { url: 'https://a.example.com/2' });
		const items = [...links, ...itemsOf({ url: 'https://a.example.com/3' })];
		const first = await service.run(LINK, { items, executionId: '41' });
		const before = accepted();
		const url = '={{ $json.url.replace("/1", "/other") }}';
		const { error } = await retry(first, { ...LINK, url });
		expect(error?.context.itemIndex).toBe(0);
		for (const id of before) expect(`${error?.message} ${error?.description}`).toContain(id);
		expect(accepted()).toEqual(before);
	});

	few.it.each([
		['another address', { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' }],
		['no address', { onCompletion: 'returnTask' }],
	])(
		'says so where the service reports to %s than Call a URL now asks for',
		async (_what, completion) => {
			fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
			const first = await service.run(
				{ ...LINK, ...completion },
				{ items: itemsOf({}, {}), executionId: '41' },
			);
			const other = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/b?key=hush' };
			const { error } = await retry(first, { ...LINK, ...other });
			expect(error?.message).toMatch(/^The service reports task .* to .*'Webhook URL'/);
			expect(error?.message).toContain(accepted()[0]);
			expect(`${error?.message} ${error?.description}`).not.toContain('hush');
			expect(accepted()).toHaveLength(1);
		},
	);

	it('goes on with Call a URL where the address is the same', async () => {
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const call = { onCompletion: 'callUrl', webhookUrl: ' https://hooks.example.com/a ' };
		const first = await service.run({ ...LINK, ...call }, { items: itemsOf({}, {}) });
		const outcome = await retry(first, { ...LINK, ...call, webhookUrl: call.webhookUrl.trim() });
		expect(outcome.error).toBeUndefined();
		expect(accepted()).toHaveLength(2);
	});
});

few.describe.each(SUBMISSIONS)('$name, accepted without an id,', ({ parameters, items }) => {
	const one = () => items().slice(0, 1);

	few.it.each(['poll', 'returnTask', 'awaitWebhook'])(
		'is an error with onCompletion %s, and is not submitted again',
		async (onCompletion) => {
			fault({ kind: 'respond', status: 200, body: { status: 'pending' }, readBody: true });
			const asked = { ...parameters, onCompletion };
			const first = await service.run(asked, { items: one(), node: RETRY_ON_FAIL });
			expect(first.error?.message).toMatch(/accepted, but without an id \[item/);
			expect(first.error?.description).toMatch(/not submitted again/);
			const second = await service.run(asked, { data: retried(first), executionId: '42' });
			expect(second.error?.message).toMatch(/accepted, but without an id/);
			expect(service.lines()).toHaveLength(1);
		},
	);

	few.it.each(FAULTS_IN_SUCCESS)(
		'is submitted again by Retry On Fail where the answer says no only with its key: %j',
		async (body) => {
			fault({ kind: 'respond', status: 200, body, readBody: true }, { times: 3 });
			const { error } = await service.run(parameters, { items: one(), node: RETRY_ON_FAIL });
			const isKeyed = parameters.operation === 'transcribeFile';
			const sent = service
				.running()
				.requests.filter(({ method }) => method === 'POST')
				.map(({ headers }) => headers['idempotency-key']);
			expect([sent.length > 1, new Set(sent).size]).toEqual([isKeyed, 1]);
			expect(error?.message).toMatch(
				isKeyed ? /answered that this item is not accepted: / : /, but without an id, and says: /,
			);
			expect(error?.description).toMatch(
				isKeyed
					? /goes on with it and costs nothing more/
					: /not submitted again.*If it is not there/,
			);
		},
	);

	it('shows what the service answered, shortened and without secrets', async () => {
		const secret = { webhook_secret: 'hush', deep: { webhook_secret: 'hush' } };
		const body = { reference: 'REF-1', key: 'test-api-key', ...secret, more: 'x'.repeat(5000) };
		fault({ kind: 'respond', status: 200, body, readBody: true }, { times: 9 });
		for (const onCompletion of ['returnTask', 'callUrl']) {
			const webhookUrl = 'https://hooks.example.com/a';
			const asked = { ...parameters, onCompletion, webhookUrl };
			const { error } = await service.run(asked, { items: one() });
			expect(error?.description).toContain('REF-1');
			expect(error?.description?.length).toBeLessThan(1000);
			expect(JSON.stringify([error?.message, error?.description])).not.toMatch(/hush|test-api-key/);
		}
	});

	it('says with On Error = Continue, too, what the service answered and what to do', async () => {
		fault({ kind: 'respond', status: 200, body: { reference: 'REF-1' }, readBody: true });
		const node: Partial<INode> = { onError: 'continueRegularOutput' };
		const { json } = await service.run(parameters, { items: one(), node });
		const words = /without an id.*REF-1.*(Get Many|Wait Until Transcribed)/;
		expect(json).toEqual([{ error: expect.stringMatching(words) }]);
	});

	few.it.each([null, '', {}, [], true])('where the id is %j', async (id) => {
		const body = { task_id: id, bot_id: id, status: 'pending' };
		fault({ kind: 'respond', status: 200, body, readBody: true });
		const { error } = await service.run(parameters, { items: one() });
		expect(error?.message).toMatch(/accepted, but without an id/);
	});

	it('but an id that is a number is one', async () => {
		const body = { [parameters === BOT ? 'bot_id' : 'task_id']: 4711, status: 'pending' };
		fault({ kind: 'respond', status: 200, body, readBody: true });
		const outcome = await service.run(
			{ ...parameters, onCompletion: 'returnTask' },
			{ items: one() },
		);
		expect(outcome.json).toEqual([body]);
	});
});

few.describe.each(SUBMISSIONS)('$name takes the id', ({ name, parameters, items }) => {
	const field = name === 'sendBot' ? 'bot_id' : 'task_id';
	few.it.each([
		['that comes bare', '"abc-123"', { [field]: 'abc-123' }],
		['that is a bare number', '4711', { [field]: 4711 }],
		['under `data`', { data: { [field]: 'a', status: 'x' } }, { [field]: 'a', status: 'x' }],
		['under `task`', { ok: true, task: { [field]: 'a' } }, { ok: true, [field]: 'a' }],
		['under `result`', { result: 'abc-1' }, { [field]: 'abc-1' }],
	])('%s', async (_where, body, expected) => {
		fault({ kind: 'respond', status: 200, body, readBody: true });
		const more = { ...parameters, onCompletion: 'returnTask' };
		const { json, error } = await service.run(more, { items: items().slice(0, 1) });
		expect(error).toBeUndefined();
		expect(json).toEqual([expected]);
	});
});

describe('the error of an item', () => {
	it('says that a Retry costs nothing more also where no other item was accepted', async () => {
		const waiting = { onCompletion: 'poll', waitOptions: { pollInterval: 0.01, timeout: 0.001 } };
		const { error } = await service.run({ ...LINK, ...waiting }, { items: itemsOf({}) });
		expect(error?.message).toContain(accepted()[0]);
		expect(error?.description).toMatch(/Retry On Fail, and a Retry .* go on with that/);
	});

	it('comes at once where the node stops on errors, and names the tasks that go on and how to get them', async () => {
		const waiting = { onCompletion: 'poll', waitOptions: { pollInterval: 0.01 } };
		const run = service.run({ ...LINK, ...waiting }, { items: threeItems() });
		await until(() => accepted().length === 3);
		const [failed = '', ...others] = accepted();
		service.running().finish(failed, { status: 'failed', error: 'Noise' });
		// The others never end.
		const { error } = await run;
		expect(error?.message).toContain(`Task ${failed} failed: Noise`);
		for (const id of others) expect(error?.description).toContain(`task ${id}`);
		expect(error?.description).not.toContain(failed);
		expect(error?.description).toContain('Retry with currently saved workflow');
	});

	few.it.each([
		['task', 'taskId'],
		['meeting', 'botId'],
	])('of %s.wait comes at once where the node stops on errors', async (resource, name) => {
		const ids =
			resource === 'task' ? [await service.pendingTask(), await service.pendingTask()] : [];
		while (resource === 'meeting' && ids.length < 2) ids.push(await service.bot());
		const [first = '', second = ''] = ids;
		const parameters = {
			resource,
			operation: 'wait',
			[name]: resource === 'task' ? byId('={{ $json.id }}') : '={{ $json.id }}',
			waitOptions: { pollInterval: 0.01 },
		};
		const run = service.run(parameters, { items: itemsOf({ id: first }, { id: second }) });
		await until(() => service.lines().length > 2);
		if (resource === 'meeting') service.running().endMeeting(second);
		const task =
			service
				.running()
				.tasks()
				.at(resource === 'task' ? 0 : -1)?.id ?? '';
		service.running().finish(task, { status: 'failed', error: 'Noise' });
		const { error } = await run;
		expect(error?.message).toContain(`Task ${task} failed: Noise`);
		expect(error?.context.itemIndex).toBe(1);
	});
});

few.describe.each(SUBMISSIONS)('Retry On Fail of $name', ({ parameters, items }) => {
	it('submits what failed and not what was accepted', async () => {
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const outcome = await service.run(parameters, { items: items(), node: RETRY_ON_FAIL });
		expect(outcome.error).toBeUndefined();
		expect(statuses().sort()).toEqual([200, 200, 200, 422]);
		expect(accepted()).toHaveLength(3);
		expect(idsIn(outcome).sort()).toEqual(accepted().sort());
	});

	it('tries again what was refused for certain, as often as n8n is set to', async () => {
		fault({ kind: 'respond', status: 422 }, { times: 100 });
		const { error } = await service.run(parameters, { items: items(), node: RETRY_ON_FAIL });
		expect(error).toMatchObject({ httpCode: '422' });
		expect(statuses()).toEqual(Array(9).fill(422));
	});

	it('with On Error = Continue keeps each item’s own outcome, and submits nothing twice', async () => {
		fault({ kind: 'respond', status: 422 }, { times: 1 });
		const node: Partial<INode> = { ...RETRY_ON_FAIL, onError: 'continueRegularOutput' };
		const outcome = await service.run(parameters, { items: items(), node });
		expect(outcome.json).toHaveLength(3);
		expect(accepted().length).toBeLessThanOrEqual(3);
		expect(statuses().filter((status) => status === 200)).toHaveLength(accepted().length);
	});
});

few.describe.each(SUBMISSIONS)('$name', ({ parameters, items }) => {
	it('names what was accepted in the error of the item that failed', async () => {
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const { error } = await service.run(parameters, { items: items() });
		expect(accepted()).toHaveLength(2);
		for (const id of accepted()) expect(error?.description).toContain(id);
		expect(error?.description).toMatch(/Already accepted by the service: item \d: (task|bot) /);
	});

	it('remembers what was accepted also when n8n has saved and loaded the execution', async () => {
		fault({ kind: 'respond', status: 422 }, { skip: 1, times: 1 });
		const failed = await service.run(parameters, { items: items() });
		const data = again(failed, parameters, items(), { asFirstRun: true });
		const loaded = flatted.parse(flatted.stringify(data));
		const outcome = await service.run(parameters, { data: loaded });
		expect(outcome.error).toBeUndefined();
		expect(statuses().sort()).toEqual([200, 200, 200, 422]);
		expect(idsIn(outcome).sort()).toEqual(accepted().sort());
	});

	it('submits again in another run of a loop, and in another node of the execution', async () => {
		const first = await service.run(parameters, { items: items() });
		const second = await service.run(parameters, { data: again(first, parameters, items()) });
		expect(accepted()).toHaveLength(6);
		const node = { name: 'Another', id: 'another node' };
		await service.run(parameters, { node, data: again(second, parameters, items(), { node }) });
		expect(accepted()).toHaveLength(9);
	});

	long.it('submits again in another execution', async () => {
		await service.run(parameters, { items: items() });
		await service.run(parameters, { items: items() });
		expect(accepted()).toHaveLength(6);
	});

	it('takes up a task that it had waited for without success', async () => {
		const waiting = {
			...parameters,
			onCompletion: 'poll',
			waitOptions: { pollInterval: 0.01, timeout: 0.001 },
		};
		const { error } = await service.run(waiting, {
			items: [items()[0] ?? { json: {} }],
			node: RETRY_ON_FAIL,
		});
		// On a slow machine, the tries after the first have not even read the status by then.
		expect(error?.message).toContain('within 0.001 minutes');
		expect(accepted()).toHaveLength(1);
		expect(error?.message).toContain(accepted()[0]);
	});
});

const ENVOY = 'upstream connect error or disconnect/reset. reset reason: connection termination';
const HEROKU = '<!DOCTYPE html><html><head><title>Application error</title></head></html>';

/** 503 from what stands before the service, which may have passed the request on. */
function gateway503(type: string, body: string): FaultRule['action'] {
	return { kind: 'respond', status: 503, headers: { 'Content-Type': type }, body };
}

few.describe.each(UNKEYED)('$name that a loop brings back after a failure', ({ parameters }) => {
	const node = { onError: 'continueErrorOutput' } as const;
	const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };
	const ERROR = { error: 'The connection to the service broke' };
	const run = async (asks: INodeParameters, more: Partial<Run>) =>
		await service.run(asks, { items: itemsOf({}), node, ...more });
	/** The loop's next round. Its items have a field of n8n's error output if they have failed before. */
	const next = async (
		round: Outcome,
		asks = parameters,
		items = itemsOf(ERROR),
		more: Partial<Run> = {},
	) => await run(asks, { data: again(round, asks, items, { node }), ...more });
	const said = ({ outputs }: Outcome) => JSON.stringify(outputs);
	const UNKNOWN = 'It is not known whether the service accepted';

	it('is not sent again where its answer was lost, and says so', async () => {
		fault(LOST);
		const first = await run(parameters, {});
		expect(said(first)).toContain('"error":');
		const second = await next(first);
		expect(said(second)).toContain(UNKNOWN);
		expect(said(await next(second))).toContain(UNKNOWN);
		expect(accepted()).toHaveLength(1);
	});

	it('is not sent again where it was accepted without an id', async () => {
		fault({ kind: 'respond', status: 200, body: {} });
		expect(said(await next(await run(parameters, {})))).toContain('It is not submitted again');
		expect(accepted()).toHaveLength(0);
		expect(statuses()).toEqual([200]);
	});

	it('is not sent again where an expression gives another time, and the loop counts its rounds', async () => {
		const startAt = "={{ $now.plus(1, 'hour').toISO() }}";
		const options = { prompt: "=Meeting of {{ $now.toFormat('yyyy') }}" };
		const timed = { ...parameters, startAt, options };
		fault(LOST);
		const first = await run(timed, { items: itemsOf({ name: 'a' }) });
		await next(first, timed, itemsOf({ name: 'a', round: 1, ...ERROR }));
		expect(accepted()).toHaveLength(1);
	});

	it('is not sent again in a Retry with another webhook address', async () => {
		const waiting = { ...parameters, onCompletion: 'awaitWebhook' };
		fault(LOST);
		const first = await run(waiting, { executionId: '41' });
		await next(first, waiting, itemsOf(ERROR), { executionId: '42', mode: 'retry' });
		expect(accepted()).toHaveLength(1);
	});

	it('is not sent again in the second Retry of the same execution', async () => {
		const other = {
			url: 'https://files.example.com/other.mp3',
			meetingUrl: 'https://meet.example.com/other',
		};
		const first = await run({ ...parameters, ...other }, { executionId: '41' });
		const retry = async (executionId: string) => {
			const data = flatted.parse(flatted.stringify(first.data));
			const mode = { executionId, mode: 'retry' } as const;
			const round = await next({ ...first, data }, parameters, itemsOf({}), mode);
			return said(await next(round, parameters, itemsOf(ERROR), mode));
		};
		fault(LOST);
		expect(await retry('42')).toContain(UNKNOWN);
		expect(await retry('43')).toContain(UNKNOWN);
		expect(accepted()).toHaveLength(2);
	});

	it('is sent where it has not failed itself, but asks for the same as an item that has', async () => {
		fault(LOST);
		const second = await next(await run(parameters, {}), parameters, itemsOf({ row: 2 }));
		expect(said(second)).not.toContain(UNKNOWN);
		expect(accepted()).toHaveLength(2);
	});

	it('is sent where an expression gives something else in each round', async () => {
		const round = 'https://meet.example.com/{{ $runIndex }}';
		const other = { ...parameters, url: `=${round}.mp3`, meetingUrl: `=${round}` };
		fault(LOST);
		await next(await run(other, {}), other);
		expect(accepted()).toHaveLength(2);
	});

	it('is sent where it was refused for certain, or asks for something else', async () => {
		fault({ kind: 'respond', status: 422 });
		await next(await run(parameters, {}));
		expect(accepted()).toHaveLength(1);
		const url = 'https://example.com/another.mp3';
		const other = { ...parameters, url, meetingUrl: 'https://meet.example.com/another' };
		fault(LOST);
		await next(await run(parameters, {}), other);
		expect(accepted()).toHaveLength(3);
	});
});

few.describe.each(UNKEYED)('$name, whose answer got lost,', ({ parameters }) => {
	const one = itemsOf({});

	few.it.each<[string, FaultRule['action']]>([
		['the connection broke after it was accepted', { kind: 'cut', when: 'afterProcessing' }],
		['the connection broke before its body was read', { kind: 'cut', when: 'beforeBody' }],
		['a gateway answered in place of the service', { kind: 'respond', status: 502 }],
		['the service had an internal fault', { kind: 'respond', status: 500 }],
		['something answered that is not the service', { kind: 'respond', status: 200, body: '<p>' }],
		...[300, 301, 302, 303].map((status): [string, FaultRule['action']] => [
			`a redirect with ${status}, which may follow what was carried out`,
			{ kind: 'redirect', location: '/api/v1/tasks/abc', status },
		]),
		['a proxy gave up waiting', { kind: 'respond', status: 408 }],
		['a proxy counted the connection as closed', { kind: 'respond', status: 499 }],
		['Envoy lost its connection to the service', gateway503('text/plain', ENVOY)],
		['Heroku: the service took too long (H12)', gateway503('text/html', HEROKU)],
		['AWS API Gateway: the same', gateway503('application/json', '{"message":"Unavailable"}')],
	])('is not sent again by Retry On Fail: %s', async (_why, action) => {
		fault(action);
		const { error } = await service.run(parameters, { items: one, node: RETRY_ON_FAIL });
		// The last look of an earlier test may still be on its way.
		expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
		expect(error?.message).toMatch(/^It is not known whether the service accepted this item/);
		expect(error?.description).toMatch(/Look in your account at the service/);
	});

	it.each([307, 308])('is sent again after a redirect with %d', async (status) => {
		fault({ kind: 'redirect', location: '/elsewhere', status });
		const { error } = await service.run(parameters, { items: one, node: RETRY_ON_FAIL });
		expect(error).toBeUndefined();
		expect(accepted()).toHaveLength(1);
	});

	few.it.each([1, 2, 3, 4, 5, 6])(
		'is sent where the credential could not be read before, and now can: reading %d',
		async (fails) => {
			const { baseUrl, apiKey } = service.credentials();
			let reads = 0;
			const credentials = Object.defineProperty({ baseUrl, apiKey }, 'apiKey', {
				enumerable: true,
				get: () => {
					reads += 1;
					// A code that a broken connection to the service would have too.
					const failure = new Error('Connection terminated unexpectedly');
					if (reads === fails) throw Object.assign(failure, { code: 'ECONNRESET' });
					return apiKey;
				},
			});
			const node = RETRY_ON_FAIL;
			const { error } = await service.run(parameters, { credentials, items: one, node });
			expect(error).toBeUndefined();
			expect(accepted()).toHaveLength(1);
		},
	);

	it('says that the execution was cancelled, and to look, also with Retry On Fail', async () => {
		fault({ kind: 'stall', readBody: true });
		const cancelWhen = () => service.lines().length > 0;
		const { error } = await service.run(parameters, {
			items: one,
			node: RETRY_ON_FAIL,
			cancelWhen,
		});
		expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
		expect(error?.message).toMatch(/^The execution was cancelled/);
		expect(error?.description).toMatch(/Look in your account at the service/);
	});

	it('names a blank API key as what is wrong, also when it is tried again', async () => {
		const credentials = service.credentials({ apiKey: ' ' });
		const { error } = await service.run(parameters, {
			credentials,
			items: one,
			node: RETRY_ON_FAIL,
		});
		expect(error?.message).toMatch(/^The 'API Key' of the credential is empty/);
		expect(service.lines()).toEqual([]);
	});

	it.each(['EHOSTUNREACH', 'ENETUNREACH'])(
		'is not sent again where the way to the service went away with %s while the answer was awaited',
		async (code) => {
			const ends: Socket[] = [];
			const { connect } = Socket.prototype;
			const spy = jest.spyOn(Socket.prototype, 'connect').mockImplementation(function (
				this: Socket,
				...args: unknown[]
			) {
				ends.push(this);
				return (connect as (...given: unknown[]) => Socket).apply(this, args);
			} as never);
			fault({ kind: 'stall', readBody: true });
			const sent = service.run(parameters, { items: one, node: RETRY_ON_FAIL });
			await until(() => service.lines().length === 1);
			const lost = Object.assign(new Error(`read ${code}`), { code, syscall: 'read' });
			for (const socket of ends) socket.destroy(lost);
			const { error } = await sent;
			spy.mockRestore();
			expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
			expect(error?.message).toMatch(/^It is not known whether the service accepted this item/);
		},
	);

	it('is sent again after 503 of the service, also where that is empty', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100_000);
		fault({ kind: 'respond', status: 503 });
		fault({ kind: 'respond', status: 503, body: '' });
		fault({ kind: 'respond', status: 503, body: { detail: 'Bot service unavailable' } });
		const { error } = await service.run(parameters, { items: one });
		expect(error).toBeUndefined();
		expect(accepted()).toHaveLength(1);
	});

	it('shows the beginning of an answer that cannot be read, without its secret', async () => {
		const body = '{"task_id": "paid-1", "webhook_secret": "hush", "status"';
		fault({ kind: 'respond', status: 200, body });
		const { error } = await service.run(parameters, { items: one });
		expect(error?.description).toContain('paid-1');
		expect(JSON.stringify(error)).not.toContain('hush');
	});

	it('tells to look before running again, and keeps the words of the service', async () => {
		fault({ kind: 'respond', status: 500 });
		const { error } = await service.run(parameters, { items: one });
		expect(error?.message).toMatch(/^The service has an internal fault/);
		expect(error?.description).toMatch(
			/Look in your account at the service .*HTTP 500: “Simulated fault”/,
		);
	});

	it('is sent again where the certificate is not trusted: nothing was sent', async () => {
		const requests: string[] = [];
		const server = createServer(selfSignedCertificate(), ({ url }) => requests.push(String(url)));
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		const { error } = await runNode({
			parameters,
			credentials: { baseUrl: `https://127.0.0.1:${port}`, apiKey: 'any key' },
			node: RETRY_ON_FAIL,
		});
		server.close();
		// The second try would not be known for what it is, had the first one counted as sent.
		expect(error?.message).toMatch(/^No secure connection to the service can be made/);
		expect(requests).toEqual([]);
	});

	it('is not sent again where TLS broke off: that can come after the request', async () => {
		const { error } = await runNode({
			parameters,
			credentials: { baseUrl: service.running().url.replace('http:', 'https:'), apiKey: 'any key' },
			node: RETRY_ON_FAIL,
		});
		expect(error?.message).toMatch(/^It is not known whether the service accepted this item/);
	});

	it('is sent again where the request has never left', async () => {
		const { error } = await runNode({
			parameters,
			credentials: { baseUrl: 'http://127.0.0.1:1', apiKey: 'any key' },
			node: RETRY_ON_FAIL,
		});
		expect(error?.message).toMatch(/^The service cannot be reached/);
	});
});

long.it('what was cancelled while it waited for its turn is not taken for sent', async () => {
	jest.replaceProperty(LIMITS, 'windowMs', 5000);
	const items = itemsOf(...Array.from({ length: 12 }, () => ({})));
	// An answer that is still on its way when the execution ends would not be known.
	const cancelWhen = () =>
		service.running().requests.filter(({ status, at }) => status === 200 && Date.now() - at > 2000)
			.length === 10;
	const cancelled = await service.run(LINK, { items, cancelWhen });
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	expect(accepted()).toHaveLength(10);
	const outcome = await service.run(LINK, {
		data: again(cancelled, LINK, items, { asFirstRun: true }),
	});
	expect(outcome.error).toBeUndefined();
	expect(accepted()).toHaveLength(12);
	expect(idsIn(outcome).sort()).toEqual(accepted().sort());
});

/** A moment after the request has ended at the service: n8n has the answer, or knows that it is lost. */
function whileItWaits(): () => boolean {
	let endedAt: number | undefined;
	return () => {
		const hasEnded = service.running().requests.at(-1)?.status ?? accepted()[0];
		if (hasEnded !== undefined) endedAt ??= Date.now();
		return endedAt !== undefined && Date.now() - endedAt > 200;
	};
}

describe('a file that is changed after its execution was cancelled', () => {
	const retryChanged = async (first: Outcome) => {
		service.running().requests.length = 0;
		const parameters = { ...FILE, language: 'en' };
		return await service.run(parameters, { data: changed(first, parameters), executionId: '42' });
	};
	const cancelled = async (cancelWhen: () => boolean, more: Partial<Run> = {}) => {
		const items = [itemWithFile()];
		return await service.run(FILE, { items, executionId: '41', cancelWhen, ...more });
	};
	it('is sent if it waited after a certain refusal', async () => {
		fault({ kind: 'respond', status: 503, headers: { 'Retry-After': '60' } });
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100_000);
		const first = await cancelled(whileItWaits());
		expect((await retryChanged(first)).error).toBeUndefined();
		expect(accepted()).toHaveLength(1);
	});

	few.it.each<[string, FaultRule['action']]>([
		['a lost answer', { kind: 'cut', when: 'afterProcessing' }],
		['a 409', { kind: 'respond', status: 409, headers: { 'Retry-After': '60' } }],
	])('is not sent if it waited after %s: the service may have it', async (_what, action) => {
		fault(action);
		jest.replaceProperty(RETRY, 'patienceWhenFull', 100_000);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100_000);
		jest.replaceProperty(RETRY, 'base', 1e6);
		jest.replaceProperty(RETRY, 'cap', 1e6);
		const chance = jest.spyOn(Math, 'random').mockReturnValue(0.09);
		const first = await cancelled(whileItWaits());
		chance.mockRestore();
		expect(first.error?.message).toMatch(/^The execution was cancelled/);
		const { error } = await retryChanged(first);
		expect(error?.message).toMatch(/^This item was changed after it had been sent/);
		expect(service.lines()).toEqual([]);
	});
});

few.describe.each([
	{ name: 'apiKey.rotate', parameters: ROTATE },
	{ name: 'task.regenerateSummary', parameters: REGENERATE },
	{ name: 'transcribeUrl', parameters: LINK },
	{ name: 'sendBot', parameters: BOT },
])('a Retry after the execution was cancelled, $name', ({ parameters }) => {
	const WAITS = { 'Retry-After': '60' };
	const cancelledOnce = async (status: number) => {
		const items = itemsOf({});
		fault({ kind: 'respond', status, headers: WAITS, body: { detail: 'Not now' } });
		const first = await service.run(parameters, { items, cancelWhen: whileItWaits() });
		service.running().requests.length = 0;
		return again(first, parameters, items, { asFirstRun: true });
	};

	it.each([429, 503])('in the pause after %d is sent: nothing was under way', async (status) => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 100_000);
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 100_000);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100_000);
		const { error } = await service.run(parameters, { data: await cancelledOnce(status) });
		const posts = service.lines().filter((line) => line.startsWith('POST'));
		expect([error?.message ?? 'sent', posts.length]).toEqual([
			expect.not.stringMatching(/It is not known/),
			1,
		]);
	});

	it('while the request was under way is not sent', async () => {
		const items = itemsOf({});
		fault({ kind: 'stall' });
		const cancelWhen = () => service.lines().length > 0;
		const first = await service.run(parameters, { items, cancelWhen });
		service.running().requests.length = 0;
		const data = again(first, parameters, items, { asFirstRun: true });
		const { error } = await service.run(parameters, { data });
		expect(error?.message).toMatch(/^It is not known/);
		expect(service.lines()).toEqual([]);
	});
});

it('a new summary whose answer was lost is not asked for again, but one that asks for something else is', async () => {
	fault({ kind: 'cut', when: 'afterProcessing' });
	const first = await service.run(REGENERATE, { executionId: '41' });
	expect(first.error).toBeDefined();
	service.running().requests.length = 0;
	const same = await service.run(REGENERATE, { data: retried(first), executionId: '42' });
	expect(same.error?.message).toMatch(/^It is not known whether the service writes a new summary/);
	expect(service.lines()).toEqual([]);
	const other = { ...REGENERATE, summaryTemplate: 'lecture' };
	const second = await service.run(other, { data: changed(first, other), executionId: '43' });
	expect(second.error?.message ?? '').not.toMatch(/It is not known/);
	expect(service.lines()).toEqual(['POST /api/v1/tasks/a/summary']);
});

few.describe.each([
	{ name: 'transcribeUrl', parameters: LINK, limit: LIMITS.submit },
	{ name: 'sendBot', parameters: BOT, limit: LIMITS.meeting },
])('after a failure that stops the node, $name', ({ parameters, limit }) => {
	const many = () => itemsOf(...Array.from({ length: limit + 5 }, () => ({})));

	few.it.each(['returnTask', 'poll', 'awaitWebhook'])(
		'submits nothing that still waits for its turn, and the Retry does: %s',
		async (onCompletion) => {
			jest.replaceProperty(LIMITS, 'windowMs', 1000);
			fault({ kind: 'respond', status: 422, readBody: true }, { times: 1 });
			const asked = { ...parameters, onCompletion };
			const first = await service.run(asked, { items: many(), executionId: '41' });
			expect(first.error).toMatchObject({ httpCode: '422' });
			// Places of the test before may still be taken, so fewer may have left.
			expect(accepted().length).toBeLessThan(limit);
			for (const id of accepted()) expect(first.error?.description).toContain(id);
			const data = changed(first, { ...asked, onCompletion: 'returnTask' });
			const second = await service.run({ ...asked, onCompletion: 'returnTask' }, { data });
			expect(idsIn(second).sort()).toEqual(accepted().sort());
			expect(accepted()).toHaveLength(limit + 5);
		},
		20_000,
	);

	it('goes on with the others where the node continues on errors', async () => {
		jest.replaceProperty(LIMITS, 'windowMs', 300);
		fault({ kind: 'respond', status: 422, readBody: true }, { times: 1 });
		const node = { onError: 'continueRegularOutput' as const };
		await service.run(parameters, { items: many(), node });
		expect(accepted()).toHaveLength(limit + 4);
	});
});

few.it.each(['poll', 'awaitWebhook'])(
	'submits nothing more once the balance is too low, if that is to fail the node: %s',
	async (onCompletion) => {
		jest.replaceProperty(LIMITS, 'windowMs', 3000);
		service.running().configure({ balance: 0 });
		const items = itemsOf(...Array.from({ length: 15 }, () => ({})));
		const asked = { ...LINK, onCompletion, waitOptions: { onInsufficientBalance: 'fail' } };
		const { error } = await service.run(asked, { items });
		expect(error?.message).toContain('waits because the balance is too low');
		expect(accepted().length).toBeLessThan(15);
	},
);

it('after a failure that stops the node, what was refused for now is not sent again', async () => {
	fault({ kind: 'respond', status: 429, headers: { 'Retry-After': '1' }, readBody: true });
	fault({ kind: 'respond', status: 422, readBody: true });
	jest.replaceProperty(RETRY, 'patienceWhenFull', 5000);
	const { error } = await service.run(BOT, { items: itemsOf({}, {}) });
	expect(error).toMatchObject({ httpCode: '422' });
	expect(statuses()).toEqual([429, 422]);
});

it('with Execute Once the first item is submitted, and only that', async () => {
	const { json } = await service.run(LINK, { items: threeItems(), node: { executeOnce: true } });
	expect(json).toHaveLength(1);
	expect(accepted()).toHaveLength(1);
});

describe('as a tool of an AI agent', () => {
	const call = async (
		calls: Array<{ url: string }>,
		more: { node?: Partial<INode>; agentItems?: number } = {},
	) => {
		const { url: baseUrl, apiKey } = service.running();
		const parameters = { ...LINK, url: "={{ $fromAI('url', 'link', 'string') }}" };
		return await callTool({ credentials: { baseUrl, apiKey }, parameters, calls, ...more });
	};
	const talk = { url: 'https://files.example.com/talk.mp3' };
	const other = { url: 'https://files.example.com/other.mp3' };

	it('submits what each call asks for, also where the agent has several items', async () => {
		const answers = await call([talk, other], { agentItems: 3 });
		expect(accepted()).toHaveLength(2);
		accepted().forEach((id, index) => expect(answers[index]).toContain(id));
	});

	few.it.each(['', ' ', '\n'])(
		'gives a repeated call what the first one has (%j at its end)',
		async (end) => {
			const answers = await call([talk, { url: talk.url + end }]);
			expect(accepted()).toHaveLength(1);
			expect(answers[1]).toBe(answers[0]);
		},
	);

	few.it.each([
		['transcribeUrl', LINK, 'url', 0],
		['transcribeUrl', LINK, 'url', 3],
		['sendBot', BOT, 'meetingUrl', 0],
		['sendBot', BOT, 'meetingUrl', 3],
	])(
		'gives %s that is called twice at the same time one submission (%#)',
		async (_name, fixed, field, gap) => {
			const parameters = { ...fixed, [field]: "={{ $fromAI('url', 'link', 'string') }}" };
			const url = fixed === BOT ? BOT.meetingUrl : talk.url;
			const calls = [{ url }, { url }];
			const answers = await callTool({
				credentials: service.credentials(),
				parameters,
				calls,
				gap,
			});
			expect(accepted()).toHaveLength(1);
			for (const answer of answers) expect(answer).toContain(accepted()[0]);
		},
	);

	it('tells both of two calls at the same time why they are refused, and sends one', async () => {
		fault({ kind: 'respond', status: 422, body: { detail: 'Not a recording' } });
		const parameters = { ...LINK, url: "={{ $fromAI('url', 'link', 'string') }}" };
		const calls = [{ ...talk }, { ...talk }];
		const credentials = service.credentials();
		const answers = await callTool({ credentials, parameters, calls, gap: 0 });
		expect(service.lines()).toHaveLength(1);
		for (const answer of answers) expect(answer).toContain('Not a recording');
	});

	it('does not read the answer to another tool of the same agent', async () => {
		// Only of a submit the id may be one level down.
		service.running().configure({ dialect: 'underData' });
		fault({ kind: 'delay', ms: 80 });
		const answers = await callTool({
			credentials: service.credentials(),
			parameters: { ...LINK, url: "={{ $fromAI('url', 'link', 'string') }}" },
			other: { resource: 'task', operation: 'get', taskId: byId('other') },
			calls: [talk, talk],
			gap: 20,
		});
		expect(answers[0]).toContain(`"task_id":"${accepted()[0]}"`);
		expect(answers[0]).not.toContain('without an id');
	});

	/** As an agent calls it that may choose the meeting and, where it is asked to, the time. */
	const meetingTool = (startAt: string) => ({
		credentials: service.credentials(),
		parameters: {
			...BOT,
			meetingUrl: "={{ $fromAI('url', 'link', 'string') }}",
			startAt,
		},
	});
	const meeting = { url: 'https://meet.example.com/abc' };
	const STARTS = [
		"={{ $now.plus(1, 'hour').toISO() }}",
		"={{ $now.plus(1, 'hour') }}",
		'={{ new Date(Date.now() + 3600000).toISOString() }}',
		'={{ DateTime.now().plus({ hours: 1 }).plus(Math.random() * 1000).toISO() }}',
	];

	few.it.each(STARTS)(
		'knows a repeated call by what the model says, not by the clock: %s',
		async (startAt) => {
			const answers = await callTool({ ...meetingTool(startAt), calls: [meeting, meeting] });
			expect(accepted()).toHaveLength(1);
			expect(answers[1]).toBe(answers[0]);
		},
	);

	it('takes a time that the model says for another call, whatever the clock has to do with it', async () => {
		const startAt = "={{ $now.plus($fromAI('hours', 'hours from now', 'number'), 'hours') }}";
		const calls = [1, 2, 2].map((hours) => ({ ...meeting, hours }));
		await callTool({ ...meetingTool(startAt), calls });
		expect(accepted()).toHaveLength(2);
	});

	few.it.each(STARTS)('run by the engine of n8n 2, the same: %s', async (startAt) => {
		const node = { rewireOutputLogTo: 'ai_tool' } as Partial<INode>;
		const parameters = { ...BOT, startAt };
		const call = (toolCallId: string) => itemsOf({ ...meeting, toolCallId });
		const first = await service.run(parameters, { items: call('call_1'), node });
		const second = await service.run(parameters, {
			data: again(first, parameters, call('call_2'), { node }),
			node,
		});
		expect(accepted()).toHaveLength(1);
		const output = second.data.resultData.runData['Transcriber']?.at(-1)?.data;
		expect(JSON.stringify(output)).toContain(accepted()[0]);
	});

	it("knows in n8n's Retry of the execution what the calls before have made", async () => {
		const tool = { ...meetingTool(STARTS[0] ?? ''), calls: [meeting] };
		const first = await runAgent({ ...tool, fails: true });
		const { answers, data } = await runAgent({ ...tool, data: saved(first.data, 'Agent') });
		expect(data.resultData.error).toBeUndefined();
		expect(answers).toEqual(first.answers);
		expect(accepted()).toHaveLength(1);
	});

	it.each<[string, INodeParameters, Partial<INode>]>([
		['the description of the tool', { toolDescription: 'Transcribes one recording, once' }, {}],
		['its description, by an expression', { toolDescription: "={{ 'Transcribes' }}" }, {}],
		[
			"'Get the Transcript'",
			{ onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' },
			{},
		],
		['the name of the tool, which is what the model sees', {}, { name: 'Transcribe a Link' }],
	])(
		"submits nothing again in n8n's Retry with the currently saved workflow, if the user has changed %s",
		async (_, change, node) => {
			const parameters = { ...LINK, url: "={{ $fromAI('url', 'link', 'string') }}" };
			const tool = { credentials: service.credentials(), parameters, calls: [talk] };
			const first = await runAgent({ ...tool, fails: true });
			const data = saved(first.data, 'Agent');
			const changed = { ...parameters, ...change };
			const { answers } = await runAgent({ ...tool, parameters: changed, node, data });
			expect(answers[0]).toContain(accepted()[0]);
			expect(accepted()).toHaveLength(1);
		},
	);

	it("submits again in n8n's Retry what the user has changed", async () => {
		const parameters = { ...LINK, url: "={{ $fromAI('url', 'link', 'string') }}" };
		const tool = { credentials: service.credentials(), parameters, calls: [talk] };
		const first = await runAgent({ ...tool, fails: true });
		const data = saved(first.data, 'Agent');
		await runAgent({ ...tool, parameters: { ...parameters, language: 'de' }, data });
		expect(accepted()).toHaveLength(2);
	});

	it('is kept in the execution with its parameters in the clear, by which it is known again', async () => {
		const { data } = await runAgent({ ...meetingTool(''), calls: [meeting] });
		const contexts = Object.values(data.executionData?.contextData ?? {}) as IDataObject[];
		const places = contexts.flatMap(({ accepted }) => Object.keys(accepted ?? {}));
		expect(places).toEqual([expect.stringContaining(meeting.url)]);
	});

	it('run by the engine of n8n 2: a call is the same after n8n has renamed its file', async () => {
		const node = { rewireOutputLogTo: 'ai_tool' } as Partial<INode>;
		const parameters = { ...FILE, binaryPropertyName: '={{ $binary.data }}' };
		const file = await storedBinary(Buffer.from('sound'), 'talk.mp3', 'audio/mpeg', '');
		const first = await service.run(parameters, {
			items: [{ json: {}, binary: { data: file } }],
			node,
		});
		const renamed = { ...file, id: file.id?.replace('/temp/', '/17/') };
		const items = [{ json: {}, binary: { data: renamed } }];
		const second = await service.run(parameters, {
			data: again(first, parameters, items, { node }),
			node,
		});
		expect(accepted()).toHaveLength(1);
		const output = second.data.resultData.runData['Transcriber']?.at(-1)?.data;
		expect(JSON.stringify(output)).toContain(accepted()[0]);
	});

	it('run by the engine of n8n 2: the same call is not sent again while its answer is unknown', async () => {
		const node = { rewireOutputLogTo: 'ai_tool' } as Partial<INode>;
		const first = await service.run(LINK, { items: itemsOf(talk), node });
		const second = await service.run(LINK, {
			data: again(first, LINK, itemsOf(talk), { node }),
			node,
		});
		fault({ kind: 'cut', when: 'afterProcessing' });
		const third = await service.run(LINK, {
			data: again(second, LINK, itemsOf(other), { node }),
			node,
		});
		await service.run(LINK, { data: again(third, LINK, itemsOf(other), { node }), node });
		expect(accepted()).toHaveLength(2);
		expect(service.lines()).toHaveLength(2);
	});

	it('does not send again what may have been accepted', async () => {
		fault({ kind: 'cut', when: 'afterProcessing' });
		const [first, second] = await call([talk, talk]);
		expect(service.lines()).toHaveLength(1);
		expect(first).toMatch(/broke before it answered.*what_to_do.*could cost twice/);
		expect(second).toMatch(/It is not known whether the service accepted this item/);
	});
});

it('refuses one Idempotency Key for two items of a run whose settings differ beside the time', async () => {
	const options = { idempotencyKey: 'k1', prompt: '={{ $today.year }} {{ $json.name }}' };
	const keyed = { ...LINK, operation: 'transcribeFile', options };
	const [file] = [itemWithFile()];
	const items = ['Alice', 'Bob'].map((name) => ({ ...file, json: { name } }));
	const { error } = await service.run(keyed, { items });
	expect(error?.message).toContain('with settings that may differ');
});

it('says of one Idempotency Key for two rows no more than that an expression may differ', async () => {
	const options = { idempotencyKey: 'k1', prompt: '={{ $today.toISODate() }}' };
	const [file] = [itemWithFile()];
	const items = [1, 2].map((row) => ({ ...file, json: { row } }));
	const { error } = await service.run({ ...FILE, options }, { items });
	expect(error?.message).toContain('settings that may differ');
	expect(error?.description).toContain('An expression that changes by itself');
});

it('takes one Idempotency Key for other settings in another run only if nothing came of it', async () => {
	const keyed = { ...LINK, operation: 'transcribeFile', options: { idempotencyKey: 'k1' } };
	const item = () => [itemWithFile()];
	fault({ kind: 'respond', status: 422 }, { times: 1 });
	const first = await service.run({ ...keyed, language: 'xx' }, { items: item() });
	expect(first.error).toBeDefined();
	const corrected = { ...keyed, language: 'en' };
	const second = await service.run(corrected, { data: again(first, corrected, item()) });
	expect(second.error).toBeUndefined();
	const other = { ...keyed, language: 'de' };
	const third = await service.run(other, { data: again(second, other, item()) });
	expect(third.error?.message).toContain('with settings that may differ');
	expect(accepted()).toHaveLength(1);
});

it('takes one Idempotency Key for a file that a loop downloads again, and pays once', async () => {
	const keyed = { ...LINK, operation: 'transcribeFile', options: { idempotencyKey: 'k1' } };
	const copy = async (content = 'sound') => [
		{
			json: {},
			binary: { data: await storedBinary(Buffer.from(content), 'talk.mp3', 'audio/mpeg') },
		},
	];
	const downloaded = await copy();
	const first = await service.run(keyed, { items: downloaded });
	const second = await service.run(keyed, { data: again(first, keyed, await copy()) });
	expect(second.error).toBeUndefined();
	expect(second.json).toEqual(first.json);
	const other = await service.run(keyed, { data: again(second, keyed, await copy('noise')) });
	expect(other.error?.message).toContain('for two different files');
	// What cannot be compared any more counts as different.
	await rm(Container.get(BinaryDataService).getPath(downloaded[0]?.binary.data.id ?? ''));
	const last = await service.run(keyed, { data: again(other, keyed, await copy()) });
	expect(last.error?.message).toContain('for two different files');
	expect(accepted()).toHaveLength(1);
});

describe('a loop that brings a file again with its own Idempotency Key', () => {
	const KEYED = { ...FILE, options: { idempotencyKey: 'file-17' } };
	const node = { onError: 'continueRegularOutput' } as const;
	const fileWith = (json: INodeExecutionData['json']) => [{ ...itemWithFile(), json }];
	const FIELDS = { lang: 'en', date: '2030-01-01', uuid: 'u1', Date: 'd', random: 'r' };

	few.it.each([
		'={{ $json.lang }}',
		'={{ $input.item.json.lang }}',
		"={{ $input.first().json['lang'] }}",
		'={{ $input?.last()?.json?.lang }}',
		'={{ $json.date ? "en" : "ru" }}',
		"={{ $json['Date'] ? 'en' : 'ru' }}",
		'={{ $json.Date ? "en" : "ru" }}',
		'={{ $json.uuid.trim() ? "en" : "ru" }}',
		'={{ $json.random ? "en" : "ru" }}',
		'={{ $now.year > 2000 ? "en" : "ru" }}',
		'={{ $input.all().length ? "en" : "ru" }}',
	])('goes on with what is paid for, whatever else the item counts: %s', async (language) => {
		const waitOptions = { pollInterval: 0.05, timeout: 0.003 };
		const parameters = { ...KEYED, onCompletion: 'poll', language, waitOptions };
		const items = (attempt: number) => fileWith({ ...FIELDS, attempt });
		const first = await service.run(parameters, { items: items(1), node });
		expect(first.json[0]?.['error']).toContain('has not ended');
		for (const { id } of service.running().tasks()) service.running().finish(id);
		const patient = { ...parameters, waitOptions: { pollInterval: 0.05 } };
		const data = again(first, patient, items(2), { node });
		const second = await service.run(patient, { data, node });
		expect(second.json).toMatchObject([{ status: 'completed' }]);
		expect(accepted()).toHaveLength(1);
	});

	few.it.each([
		'={{ $input.item.json.lang }}',
		'={{ $json.random ? $json.lang : "" }}',
		'={{ $json.date ? $json.lang : "" }}',
		'={{ /* Date: random, uuid */ $json.lang }}',
	])('is refused if it asks for another language: %s', async (language) => {
		const parameters = { ...KEYED, language };
		const first = await service.run(parameters, { items: fileWith(FIELDS) });
		const data = again(first, parameters, fileWith({ ...FIELDS, lang: 'de' }));
		const { error } = await service.run(parameters, { data });
		expect(error?.message).toContain('with settings that may differ');
		expect(accepted()).toHaveLength(1);
	});
});

describe('an Idempotency Key goes to another recording', () => {
	const KEYED = { ...LINK, options: { idempotencyKey: 'k1' } };
	const at = (name: string) => ({ url: `https://files.example.com/${name}.mp3` });
	const LOOP = { asFirstRun: false, executionId: '41' };
	const RETRY_BUTTON = { asFirstRun: true, executionId: '42' };

	few.it.each([LOOP, RETRY_BUTTON])(
		'if the service has refused the first for certain: %j',
		async ({ asFirstRun, executionId }) => {
			fault({ kind: 'respond', status: 422 }, { times: 1 });
			const first = await service.run(KEYED, { items: itemsOf(at('typo')), executionId: '41' });
			expect(first.error).toBeDefined();
			const data = again(first, KEYED, itemsOf(at('talk')), { asFirstRun });
			const { error, json } = await service.run(KEYED, { data, executionId });
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ task_id: accepted()[0] }]);
		},
	);

	few.it.each([LOOP, RETRY_BUTTON])(
		'if the node has refused the first, here a link: %j',
		async ({ asFirstRun, executionId }) => {
			const wrong = { ...KEYED, onCompletion: 'callUrl', webhookUrl: 'http://x' };
			const first = await service.run(wrong, { items: itemsOf(at('typo')), executionId: '41' });
			expect(first.error).toBeDefined();
			const data = again(first, KEYED, itemsOf(at('talk')), { asFirstRun });
			expect((await service.run(KEYED, { data, executionId })).error).toBeUndefined();
			expect(accepted()).toHaveLength(1);
		},
	);

	it('if the node has refused the first, here a file that is no recording', async () => {
		const keyed = { ...FILE, options: { idempotencyKey: 'k1' } };
		const document = itemWithFile('pdf', { fileName: 'a.pdf', mimeType: 'application/pdf' });
		const first = await service.run(keyed, { items: [document], executionId: '41' });
		expect(first.error?.message).toContain('is not a recording');
		const data = again(first, keyed, [itemWithFile('sound')], { asFirstRun: true });
		expect((await service.run(keyed, { data, executionId: '42' })).error).toBeUndefined();
		expect(accepted()).toHaveLength(1);
	});

	few.it.each([LOOP, RETRY_BUTTON])(
		'but not if the answer about the first was lost: %j',
		async ({ asFirstRun, executionId }) => {
			fault({ kind: 'cut', when: 'afterProcessing' }, { times: 1 });
			const first = await service.run(KEYED, { items: itemsOf(at('one')), executionId: '41' });
			expect(first.error).toBeDefined();
			const node = { onError: 'continueRegularOutput' } as const;
			const items = itemsOf(at('one'), at('two'));
			const data = again(first, KEYED, items, { asFirstRun, node });
			const { json } = await service.run(KEYED, { data, executionId, node });
			expect(json[1]?.['error']).toContain('for two different links');
			expect(service.lines()).toHaveLength(asFirstRun ? 1 : 2);
		},
	);

	it('but not if the service has accepted the first for another item', async () => {
		fault({ kind: 'respond', status: 422 }, { times: 1 });
		const node = { onError: 'continueRegularOutput' } as const;
		const items = itemsOf(at('one'), at('one'));
		const first = await service.run(KEYED, { items, node });
		expect(first.json.map((json) => 'error' in json)).toEqual([true, false]);
		const second = await service.run(KEYED, { data: again(first, KEYED, itemsOf(at('two'))) });
		expect(second.error?.message).toContain('for two different links');
		expect(accepted()).toHaveLength(1);
	});

	it('but not if an earlier Retry of the same execution has submitted with it', async () => {
		fault({ kind: 'respond', status: 422 }, { times: 1 });
		const first = await service.run(KEYED, { items: itemsOf(at('typo')), executionId: '41' });
		const copy = () => ({ ...first, data: flatted.parse(flatted.stringify(first.data)) });
		const corrected = again(copy(), KEYED, itemsOf(at('one')), { asFirstRun: true });
		const second = await service.run(KEYED, { data: corrected, executionId: '42' });
		expect(second.error).toBeUndefined();
		const more = again(copy(), KEYED, itemsOf(at('one'), at('two')), { asFirstRun: true });
		const third = await service.run(KEYED, { data: more, executionId: '43' });
		expect(third.error?.message).toContain('for two different links');
		expect(service.lines()).toHaveLength(2);
	});
});
