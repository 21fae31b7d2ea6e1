/** The service may have accepted a recording, and its answer was lost: what the error says, and what a Retry or waking does. */
// Also covers submit.ts.

import type { INodeParameters } from 'n8n-workflow';

import { WAIT_DEFAULTS } from '../../../nodes/Transcriber/wait/waitOptions';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { giveUpSoon, shortenRetries } from '../../support/scale';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { workflowWith, type Ended } from '../../support/suspended';
import { BOT, FILE, LINK } from '../../support/parameters';
import { few, long } from '../../support/long';
import { sign } from '../../TranscriberTrigger/client';

const service = serviceForTests();

type Asleep = Ended & { executionId: string };

const idsIn = (ended?: Ended) => ended?.json?.map(({ task_id: id }) => id).sort();

beforeEach(giveUpSoon);

const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };

/** The service takes the first request, and nobody hears of that; from then on, `then`. */
function loseAnswers(then: FaultRule['action'] = LOST): void {
	const match = { method: 'POST' };
	service.running().fault({ match, times: 1, action: LOST });
	service.running().fault({ match, times: 999, action: then });
}

describe('the error for a file that the service may have accepted', () => {
	few.it.each<[string, FaultRule['action']]>([
		['if every answer is lost', LOST],
		['after 504 of a gateway', { kind: 'respond', status: 504, readBody: true }],
		['after 500', { kind: 'respond', status: 500, readBody: true, body: 'Internal Server Error' }],
		[
			'after 409, which says that the first request still runs',
			{ kind: 'respond', status: 409, readBody: true, body: { detail: 'running' } },
		],
		['after a refusal of the repeat', { kind: 'respond', status: 401, readBody: true }],
	])('says that a Retry is not paid twice, and a new execution is: %s', async (_when, then) => {
		loseAnswers(then);
		const { error } = await service.run(FILE, { items: [itemWithFile()] });
		expect(service.running().tasks()).toHaveLength(1);
		expect(error?.description).toContain(
			'If the service has accepted it, a Retry of this execution goes on with it and costs nothing more, but a new execution is charged again.',
		);
	});

	it('names the execution of a sub-workflow, because a Retry of its caller is charged again', async () => {
		loseAnswers();
		const sub = { mode: 'integrated', executionId: '17' } as const;
		const { error } = await service.run(FILE, { items: [itemWithFile()], ...sub });
		expect(error?.description).toContain(
			'a Retry of execution 17 (the sub-workflow, whose caller then does not get the output) goes on with it and costs nothing more, but a new execution, a Retry of the caller or Retry On Fail of the node that calls it is charged again.',
		);
	});

	it('keeps the advice of the last refusal', async () => {
		loseAnswers({ kind: 'respond', status: 401, readBody: true });
		const { error } = await service.run(FILE, { items: [itemWithFile()] });
		expect(error?.message).toContain('does not accept the API key');
		expect(error?.description).toContain("Check the 'API Key'");
	});

	it.each<[string, number, string, RegExp]>([
		['too long for the balance', 413, 'audio_too_long_api_balance', /Split it/],
		[
			'to an address that is not public',
			400,
			'invalid_webhook_url',
			/public webhook URL of your n8n/,
		],
	])('keeps the advice of a refusal of the recording: %s', async (_what, status, code, advice) => {
		const detail = { error_code: code, message: 'Words of the service' };
		loseAnswers({ kind: 'respond', status, readBody: true, body: { detail } });
		const { error } = await service.run(FILE, { items: [itemWithFile()] });
		expect(error?.description).toMatch(advice);
	});

	it('says that the same key of the user is not paid twice, also after a refusal of an option', async () => {
		loseAnswers({
			kind: 'respond',
			status: 422,
			readBody: true,
			body: { detail: 'No such option' },
		});
		const options = { idempotencyKey: 'my-key' };
		const { error } = await service.run({ ...FILE, options }, { items: [itemWithFile()] });
		expect(error?.description).toContain("With the same 'Idempotency Key' it is not paid twice.");
	});

	it('says that the same Idempotency Key is not paid twice, if the user gave one', async () => {
		loseAnswers();
		const options = { idempotencyKey: 'my-key' };
		const { error } = await service.run({ ...FILE, options }, { items: [itemWithFile()] });
		expect(error?.description).toContain(
			"The service may have accepted it. With the same 'Idempotency Key' it is not paid twice.",
		);
	});

	it('says where to look if the node goes on after errors, because then n8n offers no Retry', async () => {
		loseAnswers();
		const { items } = await service.run(FILE, {
			items: [itemWithFile()],
			node: { onError: 'continueRegularOutput' },
		});
		const [{ error } = {}] = items;
		expect(String(error?.description)).toMatch(/^The service may have accepted it.*Get Many/);
	});

	it('says where to look after the stop button, because then n8n offers no Retry', async () => {
		shortenRetries(10);
		loseAnswers();
		const { error } = await service.run(FILE, {
			items: [itemWithFile()],
			cancelWhen: () => service.running().tasks().length > 0,
		});
		expect(error?.message).toContain('The execution was cancelled');
		expect(error?.description).toMatch(/^The service may have accepted it.*Get Many/);
		expect(error?.description).not.toContain('a Retry of this execution');
	});

	it('says nothing of it if the service has refused every attempt for certain', async () => {
		const match = { method: 'POST' };
		service.running().fault({ match, times: 999, action: { kind: 'respond', status: 429 } });
		const { error } = await service.run(FILE, { items: [itemWithFile()] });
		expect(error?.description).not.toContain('may have accepted');
	});

	it.each([
		['a file', FILE, 422, 'Idempotency-Key уже использован с другим запросом'],
		['a file', FILE, 400, 'Idempotency-Key must be a valid UUID'],
		['a file', FILE, 422, 'This Idempotency-Key has expired. Please contact support.'],
		['a link', LINK, 422, 'Idempotency-Key уже использован с другим запросом'],
		['a link', LINK, 400, 'Unknown header: Idempotency-Key'],
	])(
		'says what to look for before another key is entered, whatever the service says of the key of %s: %#',
		async (_what, parameters, status, detail) => {
			const match = { method: 'POST' };
			const action = { kind: 'respond', status, readBody: true, body: { detail } } as const;
			service.running().fault({ match, times: 1, action });
			const keyed = { ...parameters, options: { idempotencyKey: 'my-key' } };
			const { error } = await service.run(keyed, { items: [itemWithFile()] });
			expect(error?.description).toMatch(
				/^If this 'Idempotency Key' was sent before, .*pay again\. .*Get Many and Return All/,
			);
			expect(error?.description).toContain(detail);
		},
	);

	it.each([
		['a file', FILE],
		['a link', LINK],
	])(
		'says that waiting does not help if a 409 for %s means other content',
		async (_what, parameters) => {
			const body = { detail: 'Idempotency-Key was already used with a different request' };
			const action = { kind: 'respond', status: 409, readBody: true, body } as const;
			service.running().fault({ match: { method: 'POST' }, times: 999, action });
			const keyed = { ...parameters, options: { idempotencyKey: 'my-key' } };
			const words =
				/If the answer says .* other content, .*Get Many and Return All .*with another key you would pay again\. .*different request/;
			const { error } = await service.run(keyed, { items: [itemWithFile()] });
			expect(error?.description).toMatch(words);
			service.running().fault({ match: { method: 'POST' }, times: 999, action });
			const node = { onError: 'continueRegularOutput' } as const;
			const { items } = await service.run(keyed, { items: [itemWithFile()], node });
			expect(items[0]?.json['error']).toMatch(words);
		},
	);

	it('is not there if a repeat is answered that the first request is in progress, whatever the service advises', async () => {
		shortenRetries(10);
		const detail =
			'A request with this Idempotency-Key is being handled. Retry, or use a different key.';
		service.running().fault({ match: { method: 'POST' }, times: 1, action: LOST });
		const action = { kind: 'respond', status: 409, readBody: true, body: { detail } } as const;
		service.running().fault({ match: { method: 'POST' }, times: 2, action });
		const { json, error } = await service.run(FILE, { items: [itemWithFile()] });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: service.running().tasks()[0]?.id }]);
	});
});

few.describe.each(['continueErrorOutput', 'continueRegularOutput'] as const)(
	'with On Error %s, the output itself says that the service may have accepted the item, and where to look',
	(onError) => {
		const submits = [
			['a file', FILE],
			['a link', LINK],
			['a bot', BOT],
		] as const;
		const troubles: Array<[string, FaultRule['action']]> = [
			['if every answer is lost', LOST],
			[
				'after 500',
				{ kind: 'respond', status: 500, readBody: true, body: 'Internal Server Error' },
			],
		];
		const outputOf = async (parameters: INodeParameters, action: FaultRule['action']) => {
			service.running().fault({ match: { method: 'POST' }, times: 999, action });
			const { outputs } = await service.run(parameters, {
				items: [itemWithFile()],
				node: { onError },
			});
			return outputs.flat().map(({ json }) => String(json['error']));
		};

		it.each(
			submits.flatMap(([what, parameters]) =>
				troubles.map(([when, action]) => [what, when, parameters, action] as const),
			),
		)('%s, %s', async (_what, _when, parameters, action) => {
			expect(await outputOf(parameters, action)).toEqual([
				expect.stringMatching(
					/\w\. The service may have accepted it, .*cost.*Get Many.* alone in a new execution, .*\. \[item 0\]$/,
				),
			]);
		});

		it('says also in the second try of Retry On Fail what the service answered to the first', async () => {
			const body = { detail: { error_code: 'internal', message: 'The queue is down' } };
			const action: FaultRule['action'] = { kind: 'respond', status: 500, readBody: true, body };
			service.running().fault({ match: { method: 'POST' }, times: 1, action });
			const node = { onError, retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
			const { outputs } = await service.run(LINK, { items: [itemWithFile()], node });
			const [words] = outputs.flat().map(({ json }) => json['error']);
			expect(words).toMatch(/is not sent again.*To the first request: .*The queue is down/);
			expect(service.running().tasks()).toEqual([]);
		});

		it('says that the same Idempotency Key is not paid twice, if the user gave one', async () => {
			const given = { ...FILE, options: { idempotencyKey: 'my-key' } };
			expect(await outputOf(given, LOST)).toEqual([
				expect.stringMatching(/The service may have accepted it\. With the same 'Idempotency Key'/),
			]);
		});

		it('says nothing of it after a refusal', async () => {
			const words = await outputOf(LINK, { kind: 'respond', status: 401, readBody: true });
			expect(words).toEqual([
				expect.stringMatching(/^The service does not accept the API key\. The service answered /),
			]);
			expect(words[0]).not.toContain('may have accepted');
		});

		it.each([
			['a link', LINK],
			['a bot', BOT],
		] as const)(
			'keeps the advice to check the Base URL, where %s was redirected',
			async (_what, parameters) => {
				const location = 'https://elsewhere.example.com/';
				const action = { kind: 'redirect', status: 301, location } as const;
				const [words] = await outputOf(parameters, action);
				expect(words).toMatch(/may have accepted it.* Check the 'Base URL' in the credential/);
			},
		);
	},
);

describe('beside items that sleep, with On Error = Continue, an item whose answer was lost', () => {
	const workflowOf = (parameters: object) =>
		workflowWith({ ...parameters, onCompletion: 'awaitWebhook' }, service.credentials(), {
			onError: 'continueRegularOutput',
		});
	const twoFiles = () => [itemWithFile('one'), itemWithFile('two', { fileName: 'two.mp3' })];

	/** The first item is accepted; the service accepts the second, too, but each answer is lost. */
	const loseTheSecond = (times: number) =>
		service.running().fault({ match: { method: 'POST' }, skip: 1, times, action: LOST });

	/** The service reports every task; the execution believes only what it has the secret of. */
	const wake = async (workflow: ReturnType<typeof workflowOf>, asleep: Asleep) => {
		for (const { id, webhookSecret } of service.running().tasks()) {
			const raw = JSON.stringify({ task_id: id, status: 'completed' });
			const { woken } = await workflow.deliver(asleep, raw, sign(raw, webhookSecret ?? ''));
			if (woken) return woken;
		}
		return undefined;
	};

	it('is sent again with the same key when the execution wakes, and its transcript is there', async () => {
		const workflow = workflowOf(FILE);
		loseTheSecond(2);
		const asleep = await workflow.start(twoFiles());
		const tasks = service.running().tasks();
		expect({ isSuspended: asleep.isSuspended, tasks: tasks.length }).toEqual({
			isSuspended: true,
			tasks: 2,
		});
		for (const { id } of tasks) service.running().finish(id);
		const woken = await wake(workflow, asleep);
		expect(woken?.json?.map(({ text }) => typeof text)).toEqual(['string', 'string']);
		expect(idsIn(woken)).toEqual(tasks.map(({ id }) => id).sort());
		expect(service.running().tasks()).toHaveLength(2);
	});

	long.it('is waited for if it has not ended by then', async () => {
		const workflow = workflowOf(FILE);
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.05);
		loseTheSecond(2);
		const asleep = await workflow.start(twoFiles());
		const tasks = service.running().tasks();
		const [lost] = tasks.filter(({ id }) => !asleep.saved.includes(id));
		for (const { id } of tasks) if (id !== lost?.id) service.running().finish(id);
		const looks = () => service.lines().filter((line) => line.endsWith(`/tasks/${lost?.id}`));
		const woken = wake(workflow, asleep);
		await until(() => looks().length > 1);
		service.running().finish(lost?.id ?? '');
		expect(idsIn(await woken)).toContain(lost?.id);
	});

	long.it('says where to look if the answer is lost again', async () => {
		const workflow = workflowOf(FILE);
		loseTheSecond(999);
		const asleep = await workflow.start(twoFiles());
		for (const { id } of service.running().tasks()) service.running().finish(id);
		const woken = await wake(workflow, asleep);
		expect(String(woken?.items[1]?.error?.description)).toMatch(/may have accepted.*Get Many/);
		expect(String(woken?.items[1]?.json['error'])).toMatch(/may have accepted.*Get Many/);
		expect(service.running().tasks()).toHaveLength(2);
	});

	it('is not sent again when the time of the execution is up, and says where to look', async () => {
		const workflow = workflowOf(FILE);
		const action = { kind: 'respond', status: 504, readBody: true } as const;
		service.running().fault({ match: { method: 'POST' }, skip: 1, times: 999, action });
		const asleep = await workflow.start(twoFiles());
		const uploads = () => service.lines().filter((line) => line.startsWith('POST')).length;
		const before = uploads();
		const late = await workflow.timeIsUp(asleep);
		expect(uploads()).toBe(before);
		expect(String(late.items[1]?.error?.description)).toMatch(/may have accepted.*Get Many/);
		expect(String(late.items[1]?.json['error'])).toMatch(/may have accepted.*Get Many/);
	});

	it('is not sent again if no key makes that safe, and says where to look', async () => {
		const workflow = workflowOf(LINK);
		loseTheSecond(1);
		const asleep = await workflow.start(itemsOf({}, {}));
		for (const { id } of service.running().tasks()) service.running().finish(id);
		const woken = await wake(workflow, asleep);
		expect(String(woken?.items[1]?.error?.description)).toMatch(/may have accepted.*Get Many/);
		expect(String(woken?.items[1]?.json['error'])).toMatch(/may have accepted.*Get Many/);
		expect(service.running().tasks()).toHaveLength(2);
	});
});

describe('another item of the run fails while a file that got 409 waits for its next attempt', () => {
	it('the file is sent to its end, and the error names its task', async () => {
		const match = { method: 'POST', path: '/transcribe' };
		const answer = (status: number) =>
			service.running().fault({
				match,
				times: 1,
				action: { kind: 'respond', status, readBody: true },
			});
		answer(409);
		answer(400);
		const items = [itemWithFile('one'), itemWithFile('two')];
		const { error } = await service.run(FILE, { items });
		const statuses = service.running().requests.map(({ status }) => status);
		expect(statuses).toEqual([409, 400, 200]);
		expect(error?.description).toContain('Already accepted by the service: item 0: task');
	});
});

it.each([
	['returnTask', {}],
	['callUrl', { webhookUrl: 'https://hooks.example.com/now' }],
])(
	'the error for a link says how to get it if the service has it, because nothing else reports it: %s',
	async (onCompletion, more) => {
		loseAnswers();
		const { error } = await service.run({ ...LINK, onCompletion, ...more }, { items: itemsOf({}) });
		expect(error?.description).toMatch(
			/whether it is there\. If it is, fetch it with Transcript: Wait Until Finished \(a bot with/,
		);
	},
);
