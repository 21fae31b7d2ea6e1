/** A recording is submitted, and paid for, before something else fails: the error says what costs nothing more, and what does. */
// Also covers nodes/Transcriber/item/submittedItems.ts, nodes/Transcriber/item/itemFailure.ts.

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';

import type { FaultRule, Outcome } from '../../simulator/index';
import { callTool } from '../../support/agent';
import type { Run } from '../../support/engine';
import { FILE, LINK } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { until } from '../../simulator/testing-client';
import { byId, itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests({ queueSeconds: 0 });
beforeEach(giveUpSoon);

const respond = (status: number, body: object | string = {}): FaultRule['action'] => ({
	kind: 'respond',
	status,
	body,
});
const fault = (path: string, action: FaultRule['action']) =>
	service.running().fault({ match: { method: 'GET', path }, times: 1e6, action });

/** Ends each recording as soon as it is there. */
async function ending<T>(run: Promise<T>, outcome?: Outcome): Promise<T> {
	const timer = setInterval(() => {
		for (const { id, status } of service.running().tasks())
			if (!['completed', 'failed'].includes(status)) service.running().finish(id, outcome);
	}, 20);
	return await run.finally(() => clearInterval(timer));
}

async function waitFor(parameters: INodeParameters, more: Partial<Run> = {}) {
	const waiting = { ...parameters, onCompletion: 'poll' };
	return await ending(service.run(waiting, { items: [itemWithFile()], ...more }));
}

const CHARGED =
	/Already accepted by the service: item 0: task \S+ Retry On Fail, and a Retry of this execution, go on with that and cost nothing more, but a new execution is charged again\.$/;
const CHARGED_TOO = /A second submit is charged, too/;

const TROUBLES: Array<[string, FaultRule['action']]> = [
	['503 of the service', respond(503, { detail: { error_code: 'service_unavailable' } })],
	['502 of a proxy', respond(502, '<html>502 Bad Gateway</html>')],
	['429', respond(429)],
	['a broken connection', { kind: 'cut', when: 'beforeBody' }],
];

describe.each<[string, INodeParameters]>([
	['file', FILE],
	['link', LINK],
])('A result of a %s', (_what, parameters) => {
	it.each(TROUBLES)('that gets %s', async (_trouble, action) => {
		fault('/result$', action);
		const { error } = await waitFor(parameters);
		expect(error?.message).toMatch(/has finished, but its result cannot be fetched/);
		expect(error?.description).toMatch(CHARGED);
	});
});

it.each([503, 422, 404, 410])('A document that gets %i', async (status) => {
	fault('/export', respond(status, { detail: { error_code: 'no_segments', message: 'None' } }));
	const { error } = await waitFor({ ...FILE, waitOptions: { exportFormat: 'srt' } });
	expect(error?.description).toMatch(/set 'Export Format' to None/);
	expect(error?.description).toMatch(CHARGED);
});

describe('A document that n8n cannot store', () => {
	beforeEach(() => {
		const failure = Object.assign(new Error('no space'), { code: 'ENOSPC' });
		jest.spyOn(Container.get(BinaryDataService), 'store').mockRejectedValue(failure);
	});
	const parameters = { ...FILE, waitOptions: { exportFormat: 'srt' } };

	it('stops the node', async () => {
		const { error } = await waitFor(parameters);
		expect(error?.description).toMatch(/its disk is full|get it with Transcript: Export/);
		expect(error?.description).toMatch(CHARGED);
	});

	it('is the output of the item', async () => {
		const { json } = await waitFor(parameters, { node: { onError: 'continueRegularOutput' } });
		expect(json[0]?.error).toMatch(CHARGED_TOO);
	});
});

it('A tool call of an AI agent says it to the model', async () => {
	fault('/result$', respond(503));
	const parameters = { ...LINK, onCompletion: 'poll' };
	const credentials = service.credentials();
	const [answer = ''] = await ending(callTool({ credentials, parameters, calls: [{}] }));
	expect(answer).toContain(
		'Except for the same call in this execution, a second submit is charged, too',
	);
});

it('A task that failed is not charged, so the error does not say so', async () => {
	const parameters = { ...LINK, onCompletion: 'poll' };
	const { error } = await ending(service.run(parameters, { items: [itemWithFile()] }), {
		status: 'failed',
		error: 'Noise',
	});
	expect(error?.description).toMatch(/A failed task is not charged/);
	expect(error?.description).not.toMatch(/charged again|Already accepted/);
});

describe('A failure that no Retry can mend, beside other items', () => {
	const ITEMS = [itemWithFile('one'), itemWithFile('two'), itemWithFile('three')];

	it('of a recording that is accepted: a new execution would pay for this item, too', async () => {
		fault('/result$', respond(404, { detail: { message: 'Result not found' } }));
		const { error } = await waitFor(FILE, { items: ITEMS });
		expect(error?.description).toMatch(/would submit them again, and item 0, too\.$/);
	});

	it('of a recording that has failed: only what failed may be submitted again', async () => {
		const parameters = { ...FILE, onCompletion: 'poll' };
		const run = service.run(parameters, { items: ITEMS });
		await until(() => service.running().tasks().length === 3);
		const [first] = service.running().tasks();
		service.running().finish(String(first?.id), { status: 'failed', error: 'Noise' });
		const { error } = await run;
		expect(error?.description).toMatch(/would submit them again, so give it only what failed\.$/);
	});

	it('of a recording that may be accepted: a new execution would perhaps pay for this item, too', async () => {
		const parameters = { ...LINK, onCompletion: 'returnTask' };
		const nameless = respond(200, { status: 'pending' });
		service.running().fault({ match: { method: 'POST' }, times: 1, action: nameless });
		const { error } = await service.run(parameters, { items: ITEMS });
		expect(error?.description).toMatch(/would submit them again, and perhaps item \d, too\./);
	});
});

describe('The wait for a recording that another workflow has submitted, whose node goes on after errors', () => {
	const output = async (onInsufficientBalance: string, state: object) => {
		const taskId = await service.pendingTask();
		fault('/tasks/', respond(200, { status: 'pending', ...state }));
		const { json } = await service.run(
			{
				resource: 'task',
				operation: 'wait',
				taskId: byId(taskId),
				waitOptions: { onInsufficientBalance, timeout: 0.01, pollInterval: 0.02 },
			},
			{ node: { onError: 'continueRegularOutput' } },
		);
		return json[0]?.error;
	};

	it.each(['fail', 'keepWaiting'])('says to top up: %s', async (choice) => {
		const words = /Top up the balance, and fetch it with Transcript: Wait Until Finished/;
		expect(await output(choice, { awaiting_balance: true })).toMatch(words);
	});

	it('says where to fetch it later', async () => {
		expect(await output('fail', {})).toMatch(/Fetch it later with Transcript: Wait Until Finished/);
	});
});

describe('A recording that waits for a top-up until the Timeout', () => {
	it('says to top up, and not only that it goes on', async () => {
		const topUp = respond(200, { status: 'pending', awaiting_balance: true });
		fault('/tasks/', topUp);
		const waitOptions = { onInsufficientBalance: 'keepWaiting', timeout: 0.01, pollInterval: 0.02 };
		const parameters = { ...LINK, onCompletion: 'poll', waitOptions };
		const { error } = await service.run(parameters, { items: [itemWithFile()] });
		expect(error?.message).toContain('waits for a top-up');
		expect(error?.description).toMatch(/not lost: top up the balance/);
	});
});
