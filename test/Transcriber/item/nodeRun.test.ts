/**
 * The advice in an error after the service has accepted other items of the run: continue these, and
 * pay only once.
 */
// Also covers submittedItems.ts, inputItems.ts.

import { forgetEverything } from '../../support/ownMemory';

import type { INode, INodeParameters, IRunExecutionData } from 'n8n-workflow';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { SubmittedItems } from '../../../nodes/Transcriber/item/submittedItems';
import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { until } from '../../simulator/testing-client';
import type { Outcome, Run } from '../../support/engine';
import { captureLogs } from '../../support/logs';
import { ACCOUNT } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { byId, itemsOf, serviceForTests } from '../../support/service';
import { few, long } from '../../support/long';

const service = serviceForTests();

function refuseSecond(status: number): void {
	const match = { method: 'POST' };
	service.running().fault({ match, skip: 1, times: 1, action: { kind: 'respond', status } });
}

const flatted = jest.requireActual<{
	parse: (text: string) => IRunExecutionData;
	stringify: (data: IRunExecutionData) => string;
}>('flatted');

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://files.example.com/talk.mp3',
	onCompletion: 'poll',
	waitOptions: { pollInterval: 0.01 },
};
const threeItems = () => itemsOf({ n: 0 }, { n: 1 }, { n: 2 });
const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const ADVICE = /set 'On Error' of this node to Continue.*'Retry with currently saved workflow'/;

/** n8n's "Retry with currently saved workflow", in which the user may have changed the node. */
async function retry({ data }: Outcome, parameters: INodeParameters, node: Partial<INode> = {}) {
	const loaded = flatted.parse(flatted.stringify(data));
	delete loaded.resultData.error;
	const runs = loaded.resultData.runData.Transcriber;
	if (runs?.at(-1)?.error) runs.pop();
	const [entry] = loaded.executionData?.nodeExecutionStack ?? [];
	if (entry) {
		const { parameters: before } = entry.node;
		Object.assign(entry.node, { ...node, parameters: { ...before, ...parameters } });
	}
	const run: Partial<Run> = { data: loaded, executionId: '42', node };
	return await service.run(parameters, run);
}

const tasks = () => service.running().tasks();
const others = (failed: string) => tasks().filter(({ id }) => id !== failed);

/** Waits for the tasks and ends all of them, one as failed: its id. */
async function failOne(count: number): Promise<string> {
	await until(() => tasks().length === count);
	const id = tasks()[0]?.id ?? '';
	service.running().finish(id, { status: 'failed', error: 'no audio track' });
	return id;
}

beforeEach(() => {
	// The polls of a test before.
	forgetEverything();
	shortenRetries(500);
	jest.replaceProperty(POLL, 'perTask', 50);
});

it('one of several recordings fails: the advice brings the other transcripts, and nothing is paid twice', async () => {
	const running = service.run(LINK, { items: threeItems(), executionId: '41' });
	const failed = await failOne(3);
	const first = await running;
	for (const { id } of others(failed)) {
		expect(first.error?.description).toContain(`task ${id}`);
		service.running().finish(id);
	}
	expect(first.error?.message).toContain(`Task ${failed} failed: no audio track`);
	expect(first.error?.description).toMatch(ADVICE);
	expect(first.error?.description).not.toContain('Retry On Fail');
	const { json } = await retry(first, LINK, CONTINUE);
	expect(json.map(({ status }) => status).filter(Boolean)).toEqual(['completed', 'completed']);
	expect(json.filter(({ error }) => error)).toHaveLength(1);
	expect(tasks()).toHaveLength(3);
});

it.each([
	['stops on errors: nothing is sent', {}, 0],
	['continues on errors: each valid item is sent', CONTINUE, 2],
])('one of several items is invalid, and the node %s', async (_, node, sent) => {
	const urls = ['https://files.example.com/a.mp3', 'not a link', 'https://files.example.com/b.mp3'];
	const items = itemsOf(...urls.map((url) => ({ url })));
	const parameters = { ...LINK, url: '={{ $json.url }}', onCompletion: 'returnTask' };
	await service.run(parameters, { items, node });
	expect(tasks()).toHaveLength(sent);
});

it('one of several items has an expression that n8n cannot evaluate: nothing is sent', async () => {
	const url = `={{ $json.n === 1 ? $('Nowhere').first().json.url : 'https://files.example.com/a.mp3' }}`;
	const parameters = { ...LINK, url, onCompletion: 'returnTask' };
	const { error } = await service.run(parameters, { items: threeItems() });
	expect(error?.message).toBe("Referenced node doesn't exist");
	// n8n does not wait for what the items before it have begun.
	for (let runs = 0; runs < 3; runs++) await service.run(ACCOUNT);
	expect(service.lines().filter((line) => line.startsWith('POST'))).toEqual([]);
});

it('one of several items is invalid: nothing is cancelled', async () => {
	const ids = [await service.pendingTask(), '..', await service.pendingTask()];
	const cancel = { resource: 'task', operation: 'cancel', taskId: byId('={{ $json.id }}') };
	const { error } = await service.run(cancel, { items: itemsOf(...ids.map((id) => ({ id }))) });
	expect(error?.message).toContain("The parameter 'Task' is not an id");
	expect(service.lines()).toEqual([]);
});

it("one of several items fails: n8n's log says nothing of a stop", async () => {
	refuseSecond(422);
	const { lines, release } = captureLogs();
	const { error } = await service.run(LINK, { items: threeItems() });
	release();
	expect(error).toBeDefined();
	expect(lines.filter((line) => line.includes('was stopped'))).toEqual([]);
});

it('one of several tasks of one item fails: the advice names the others', async () => {
	const ids = [await service.pendingTask(), await service.pendingTask()];
	service.running().fault({
		match: { method: 'POST' },
		action: {
			kind: 'respond',
			status: 200,
			body: ids.map((id) => ({ task_id: id, status: 'pending' })),
			readBody: true,
		},
	});
	const running = service.run(LINK, { items: itemsOf({}), executionId: '41' });
	const failed = await failOne(2);
	const first = await running;
	expect(first.error?.description).toMatch(ADVICE);
	expect(first.error?.description).toContain(`item 0: task ${others(failed)[0]?.id}`);
});

it.each<[string, () => void]>([
	[
		'nobody knows whether the service accepted one',
		() =>
			service.running().fault({
				match: { method: 'POST' },
				skip: 1,
				times: 1,
				action: { kind: 'cut', when: 'afterProcessing' },
			}),
	],
	[
		'one is accepted without an id',
		() =>
			service.running().fault({
				match: { method: 'POST' },
				skip: 1,
				times: 1,
				action: { kind: 'respond', status: 200, body: { ok: true }, readBody: true },
			}),
	],
])('%s: the same advice, in every try, and it helps', async (_what, prepare) => {
	prepare();
	const first = await service.run(LINK, { items: threeItems(), executionId: '41' });
	expect(first.error?.description).toMatch(ADVICE);
	const again = await retry(first, LINK);
	expect(again.error?.description).toMatch(ADVICE);
	for (const { id } of tasks()) service.running().finish(id);
	const { length: submitted } = service.lines().filter((line) => line.startsWith('POST'));
	const { json } = await retry(first, LINK, CONTINUE);
	expect(json.filter(({ status }) => status === 'completed')).toHaveLength(2);
	expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(submitted);
});

it('an item that was changed after its submit: the same advice', async () => {
	const url = '={{ "https://files.example.com/" + ("talk.mp3") }}';
	const short = { ...LINK, url, waitOptions: { pollInterval: 0.01, timeout: 0.001 } };
	const first = await service.run(short, { items: threeItems(), executionId: '41' });
	const parameters = { ...short, url: url.replace('("', '($json.n === 1 ? "other.mp3" : "') };
	const { error } = await retry(first, parameters);
	expect(error?.message).toMatch(/^This item was changed after task /);
	expect(error?.description).toMatch(ADVICE);
});

it.each([413, 422])(
	'a link that the service refuses for good with %s: the same advice, and none to run it all again',
	async (status) => {
		refuseSecond(status);
		const { error } = await service.run(LINK, { items: threeItems() });
		expect(error?.description).toMatch(ADVICE);
		expect(error?.description).not.toMatch(/run the (node|workflow) again/i);
	},
);

it('what a retry may mend says that a retry pays for nothing twice, and a new execution does', async () => {
	refuseSecond(402);
	const { error } = await service.run(LINK, { items: threeItems() });
	expect(error?.description).toMatch(
		/Retry On Fail, and a Retry .* go on with that and cost nothing more/,
	);
	expect(error?.description).toContain('a new execution is charged again');
	expect(error?.description).not.toMatch(ADVICE);
});

it.each([402, 422])(
	'in a sub-workflow, the advice after %s names its own execution',
	async (status) => {
		refuseSecond(status);
		const sub = { mode: 'integrated', executionId: '17' } as const;
		const { error } = await service.run(LINK, { items: threeItems(), ...sub });
		expect(error?.description).toContain(
			'execution 17 (the sub-workflow, whose caller then does not get the output)',
		);
		expect(error?.description).toContain(
			status === 402
				? 'a new execution, a Retry of the caller or Retry On Fail of the node that calls it is charged again'
				: 'A new execution, a Retry of the caller or Retry On Fail of the node that calls it would submit them again',
		);
		expect(error?.description).not.toContain('this execution');
	},
);

describe('an item fails for good, and nobody knows whether the service accepted another one', () => {
	const urls = (...names: string[]) =>
		itemsOf(...names.map((name) => ({ url: `https://files.example.com/${name}.mp3` })));
	const parameters = { ...LINK, url: '={{ $json.url }}', onCompletion: 'returnTask' };
	const MAY_BE_ACCEPTED = 'The service may also have accepted';
	const SUB_WORKFLOW = { mode: 'integrated', executionId: '17' } as const;

	const refuseFirst = () =>
		service.running().fault({
			match: { method: 'POST' },
			times: 1,
			action: { kind: 'respond', status: 422, readBody: true },
		});
	const loseAnswers = (times: number) =>
		service.running().fault({
			match: { method: 'POST' },
			times,
			action: { kind: 'cut', when: 'afterProcessing' },
		});

	it('the error names the other one, because a new execution would pay for it again', async () => {
		refuseFirst();
		loseAnswers(1);
		const { error } = await service.run(parameters, { items: urls('bad', 'one') });
		expect(tasks()).toHaveLength(1);
		expect(error?.description).toContain(`${MAY_BE_ACCEPTED} item 1, `);
		expect(error?.description).not.toContain('item 0');
	});

	it('Retry On Fail does not forget it', async () => {
		refuseFirst();
		loseAnswers(1);
		refuseFirst();
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const { error } = await service.run(parameters, { items: urls('bad', 'one'), node });
		expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(3);
		expect(error?.description).toContain(`${MAY_BE_ACCEPTED} item 1, `);
	});

	it('in a sub-workflow, it says what else would pay for it again', async () => {
		refuseFirst();
		loseAnswers(1);
		const { error } = await service.run(parameters, { items: urls('bad', 'one'), ...SUB_WORKFLOW });
		expect(error?.description).toMatch(/item 1, and a new execution, a Retry of the caller or/);
	});

	it('several lost answers: all of these items are named', async () => {
		loseAnswers(3);
		const { error } = await service.run(parameters, { items: urls('zero', 'one', 'two') });
		expect(tasks()).toHaveLength(3);
		expect(error?.description).toContain(`${MAY_BE_ACCEPTED} item 1, item 2, `);
	});

	it('one that is accepted without an id is named, too', async () => {
		refuseFirst();
		const body = { reference: 'job-1' };
		service.running().fault({
			match: { method: 'POST' },
			times: 1,
			action: { kind: 'respond', status: 200, body, readBody: true },
		});
		const { error } = await service.run(parameters, { items: urls('bad', 'one') });
		expect(error?.description).toContain(`${MAY_BE_ACCEPTED} item 1, `);
	});

	it('what the service has certainly refused is not named', async () => {
		service.running().fault({
			match: { method: 'POST' },
			times: 2,
			action: { kind: 'respond', status: 422, readBody: true },
		});
		const { error } = await service.run(parameters, { items: urls('bad', 'worse') });
		expect(error?.description).not.toContain(MAY_BE_ACCEPTED);
	});
});

it('a single recording that fails has none of this advice', async () => {
	const running = service.run(LINK, { items: itemsOf({}) });
	await failOne(1);
	const { error } = await running;
	expect(error?.description).toBe(
		'A failed task is not charged. Correct the recording or the link, then submit this recording alone in a new execution.',
	);
});

few.it.each([
	['task', 'get'],
	['task', 'getResult'],
	['task', 'export'],
	['meeting', 'get'],
])(
	'a failure ends the wait of all other items for their turn: %s, %s',
	async (resource, operation) => {
		jest.replaceProperty(LIMITS, 'windowMs', 5_000);
		jest.replaceProperty(LIMITS, 'other', 5);
		const match = { path: '/(tasks|meeting)/' };
		// After 401 the node does not look at the task, for which it would have to wait behind the other items.
		service.running().fault({ match, times: 99, action: { kind: 'respond', status: 401 } });
		const items = itemsOf(...Array.from({ length: 30 }, (_, number) => ({ id: `task ${number}` })));
		const id = { taskId: byId('={{ $json.id }}'), botId: '={{ $json.id }}' };
		const { error } = await service.run({ resource, operation, ...id }, { items });
		expect(error?.message).toBeDefined();
		expect(service.lines().length).toBeLessThan(15);
	},
);

describe('after the stop button or the time limit of the workflow, of which n8n offers no Retry', () => {
	const stoppedRun = async (count: number) =>
		await service.run(
			{ ...LINK, waitOptions: { pollInterval: 0.05 } },
			{
				items: itemsOf(...Array.from({ length: count }, () => ({}))),
				cancelWhen: () => service.lines().filter((line) => line.startsWith('GET')).length > 1,
			},
		);

	it("n8n's log names what was accepted, because n8n 2 drops the error", async () => {
		const { lines, release } = captureLogs();
		await stoppedRun(2);
		release();
		for (const { id } of service.running().tasks()) {
			expect(lines.filter((line) => line.includes('may charge') && line.includes(id))).toHaveLength(
				1,
			);
		}
	});

	it("n8n's log also names what the service accepts after the stop", () => {
		const lines: string[] = [];
		const words = { ofExecution: 'this execution', newExecution: 'new execution' };
		const submitted = new SubmittedItems(words, (line) => lines.push(line));
		submitted.accept(0, ['task early']);
		submitted.noteStopped(0);
		submitted.accept(1, ['task late']);
		expect(lines).toEqual([
			expect.stringMatching(/may charge: item 0: task early\. /),
			expect.stringMatching(/may charge: item 1: task late\. /),
		]);
	});

	long.it("n8n's log names it once, although Retry On Fail runs the node again", async () => {
		service.running().fault({
			match: { method: 'POST' },
			times: 1,
			action: { kind: 'delay', ms: 500, processed: true },
		});
		const { lines, release } = captureLogs();
		const isThere = () => service.running().tasks().length === 1;
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		await service.run(LINK, { items: itemsOf({}), cancelWhen: isThere, node });
		release();
		expect(lines.filter((line) => line.includes('may have accepted it'))).toHaveLength(1);
	});

	it("n8n's log names an item that may have been accepted, because its request was under way", async () => {
		service.running().fault({
			match: { method: 'POST' },
			times: 1,
			action: { kind: 'delay', ms: 500, processed: true },
		});
		const { lines, release } = captureLogs();
		const isThere = () => service.running().tasks().length === 1;
		await service.run(LINK, { items: itemsOf({}), cancelWhen: isThere });
		release();
		expect(lines.filter((line) => line.includes('may have accepted it'))).toEqual([
			expect.stringMatching(/item 0 .*may charge.*Transcript: Get Many/),
		]);
	});

	long.it(
		'what was accepted is listed for the one error that n8n shows, however many items there are',
		async () => {
			const sort = jest.spyOn(Array.prototype, 'sort');
			const { error } = await stoppedRun(20);
			const lists = sort.mock.contexts.filter((list: Array<[number, string[]]>) =>
				String(list[0]?.[1]).startsWith('task '),
			);
			sort.mockRestore();
			expect(error?.description).toContain('item 19: task ');
			expect(lists.length).toBeLessThan(10);
		},
	);

	few.it.each([1, 2])('the error of %i items says how to get what was accepted', async (count) => {
		const { error } = await stoppedRun(count);
		const tasks = service.running().tasks();
		expect(tasks).toHaveLength(count);
		for (const { id } of tasks) expect(error?.description).toContain(`task ${id}`);
		expect(error?.description).toMatch(/Fetch these with Transcript: Wait Until Finished/);
		expect(error?.description).toContain('Do not run the workflow again for these');
		expect(error?.description).not.toMatch(/Retry On Fail|So does a Retry/);
	});
});
