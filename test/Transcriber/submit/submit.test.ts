/** What becomes of an item that the service has accepted: what 'Get the Transcript' says, for each of its tasks. */

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { Abandoned, NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { goesOnAfterErrors } from '../../../nodes/Transcriber/item/itemFailure';
import { submit } from '../../../nodes/Transcriber/submit/submit';
import { YOUNG } from '../../../nodes/Transcriber/submit/suspension/lookBeforeSuspending';
import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { POLL as LOOKS } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { WAIT_DEFAULTS } from '../../../nodes/Transcriber/wait/waitOptions';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import type { RoutingRequest } from '../../../nodes/shared/api/types';
import { isLasting, refuse } from '../../../nodes/shared/parameters/refuse';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { answeringTrigger, STORED, type TriggerAnswer } from '../../support/answeringTrigger';
import { itemContext, type ItemPlace } from '../../support/itemContext';
import { long } from '../../support/long';
import { BOT, FILE, LINK } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { itemsOf, itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const POLL = { onCompletion: 'poll' };
const SUSPEND = { onCompletion: 'awaitWebhook' };
const FAILS_WITHOUT_BALANCE = { ...POLL, waitOptions: { onInsufficientBalance: 'fail' } };
const GOES_ON: ItemPlace = { node: { onError: 'continueRegularOutput' } };

beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	jest.replaceProperty(LOOKS, 'perTask', 5);
	jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.005);
	jest.replaceProperty(WAIT_DEFAULTS, 'timeout', 60);
});

const fault = (action: FaultRule['action'], match: FaultRule['match'], times = 1) =>
	service.running().fault({ match, times, action });
/** Lets the service answer the next submit with this. */
const answer = (body: unknown) =>
	fault({ kind: 'respond', status: 200, body, readBody: true }, { method: 'POST' });
/** Lets the service say this of a task or a bot. */
const state = (path: string, body: object, times = 99) =>
	fault({ kind: 'respond', status: 200, body }, { method: 'GET', path: `${path}$` }, times);

const posts = () => service.lines().filter((line) => line.startsWith('POST'));
const looks = () => service.lines().filter((line) => line.startsWith('GET'));

interface Run extends ItemPlace {
	/** The request has a body with these fields. */
	body?: object;
	/** The request has this Idempotency-Key. */
	key?: string;
	/** How many items the run has. All of them are the same. */
	count?: number;
	/** Another item of the run has failed before. */
	isFailed?: boolean;
}

interface Outcome {
	json?: IDataObject[];
	failure?: ReturnType<typeof refuse>;
	/** How many requests of the run were answered when the item failed. */
	answered?: number;
}

/** Submits items, and returns the outcome of the first, and what the run then knows of it. */
async function run(parameters: INodeParameters, options: Run = {}) {
	const { body = {}, key, count = 1, isFailed = false, ...place } = options;
	const saved = place.saved ?? {};
	const items = place.items ?? itemsOf(...Array.from({ length: count }, () => ({})));
	const contexts = items.map((_, itemIndex) => {
		const credentials = service.credentials();
		return itemContext(parameters, { credentials, ...place, items, itemIndex, saved });
	});
	const [first] = contexts;
	if (!first) throw new Error('No item');
	const nodeRun = NodeRun.of(first);
	contexts.forEach((_, itemIndex) => nodeRun.register(itemIndex));
	const stopping = { stopsNode: false, isStopped: false };
	if (isFailed) nodeRun.fail(count, refuse(first, 'Another item has failed', ''), stopping);
	const ended = jest.spyOn(nodeRun.submitted, 'endWithoutTranscript');
	const uncertain = jest.spyOn(nodeRun.submitted, 'mayBeAccepted');
	const url = { transcribeFile: '/transcribe', transcribeUrl: '/transcribe-url' };
	const request = () => ({
		options: {
			method: 'POST',
			baseURL: `${service.running().url}/api/v1`,
			url: url[parameters['operation'] as keyof typeof url] ?? '/meeting',
			headers: key === undefined ? {} : { 'Idempotency-Key': key },
			body: { url: LINK.url, ...body },
		},
	});
	const policy = { limit: 'submit', repeatable: key !== undefined } as const;
	const outcomes = await Promise.all(
		contexts.map(async (context, itemIndex): Promise<Outcome> => {
			try {
				const output = await submit(context, request() as RoutingRequest, policy, nodeRun);
				return { json: output.map(({ json }) => json) };
			} catch (thrown) {
				const failure = thrown as ReturnType<typeof refuse>;
				const answered = service.running().requests.filter(({ status }) => status).length;
				if (!(thrown instanceof Abandoned)) {
					const stopsNode = !goesOnAfterErrors(context);
					nodeRun.fail(itemIndex, failure, { ...stopping, stopsNode });
				}
				return { failure, answered };
			} finally {
				nodeRun.leave(itemIndex);
			}
		}),
	);
	const [outcome = {}] = outcomes;
	return {
		outcomes,
		...outcome,
		saved,
		accepted: nodeRun.submitted.acceptedFor(0),
		ended: ended.mock.calls.flat(),
		uncertain: uncertain.mock.calls.flat(),
	};
}

describe('An item that is only submitted', () => {
	it('outputs the answer, and the run knows what was accepted', async () => {
		const { json, accepted, uncertain, ended } = await run(LINK);
		const [task] = service.running().tasks();
		expect(json).toEqual([{ task_id: task?.id, status: 'pending' }]);
		expect([accepted, uncertain, ended]).toEqual([[`task ${task?.id}`], [], []]);
		expect(service.lines()).toEqual(['POST /api/v1/transcribe-url']);
	});

	it('is named after its bot if it has no task yet', async () => {
		answer({ bot_id: 'b', status: 'joining' });
		const { json, accepted } = await run(BOT);
		expect(json).toEqual([{ bot_id: 'b', status: 'joining' }]);
		expect(accepted).toEqual(['bot b']);
	});

	it('outputs each of several tasks', async () => {
		answer([{ task_id: 'a' }, { task_id: 'b' }]);
		const { json, accepted } = await run(LINK);
		expect(json).toEqual([{ task_id: 'a' }, { task_id: 'b' }]);
		expect(accepted).toEqual(['task a', 'task b']);
	});

	it('outputs the same in a second try, and submits nothing', async () => {
		const { json, saved } = await run(LINK);
		expect((await run(LINK, { saved })).json).toEqual(json);
		expect(posts()).toHaveLength(1);
	});

	it('is refused in a Retry if it asks for something else now, and the run knows what was accepted', async () => {
		answer({ task_id: 'a' });
		const { saved } = await run(LINK);
		const changed = { ...LINK, url: 'https://files.example.com/another.mp3' };
		const { failure, accepted } = await run(changed, { saved, executionId: '42' });
		expect(failure?.message).toContain('was changed after task a had been accepted');
		expect(accepted).toEqual(['task a']);
	});
});

describe('An answer without an id', () => {
	const secret = { webhook_secret: 'secret-of-a-task' };

	it.each<[string, string, object]>([
		[
			'that says that the item is accepted',
			'The service answered that this item is accepted, but without an id',
			{ status: 'accepted', ...secret },
		],
		[
			'that sounds like a refusal, of a single recording',
			'The service answered with a success, but without an id, and says: Not yet',
			{ detail: 'Not yet', ...secret },
		],
	])('%s is an error: it may cost, and cannot be found again', async (_what, message, body) => {
		answer(body);
		const { failure, accepted, ended, uncertain } = await run(LINK);
		expect(failure?.message).toBe(message);
		expect(failure?.description).toContain('The service answered: {"');
		expect(failure?.description).not.toContain('secret-of-a-task');
		expect(failure && isLasting(failure)).toBe(true);
		const nameless = ['something without an id'];
		expect([accepted, ended, uncertain]).toEqual([nameless, nameless, [0]]);
	});

	it('is shown only as far as its beginning', async () => {
		answer({ status: 'a'.repeat(1000) });
		const { failure } = await run(LINK);
		expect(failure?.description).toContain('a'.repeat(289));
		expect(failure?.description).not.toContain('a'.repeat(290));
	});

	it('is the error of the item, with the advice, also if the node goes on', async () => {
		answer({ status: 'accepted' });
		const { failure } = await run(LINK, GOES_ON);
		expect(failure?.message).toMatch(
			/^The service answered that this item is accepted, but without an id\. It is not submitted again/,
		);
	});

	it('of one of several is the error of the item, unless the node goes on', async () => {
		const one = { task_id: 'a' };
		answer([one, { status: 'pending' }]);
		const { failure, uncertain } = await run(LINK);
		expect(failure?.message).toContain('but without an id');
		expect(uncertain).toEqual([0]);
		answer([one, { status: 'pending' }]);
		const goesOn = await run(LINK, GOES_ON);
		const error = expect.stringContaining('but without an id');
		expect(goesOn.json).toEqual([one, { error }]);
		expect(goesOn.uncertain).toEqual([0]);
	});
});

describe('A recording that is refused as one of several', () => {
	const REFUSED = { error: 'It is private' };

	it('is an error with its reason, and says how to fetch the others', async () => {
		answer([{ task_id: 'a' }, REFUSED]);
		const { failure, uncertain, ended } = await run(LINK);
		expect(failure?.message).toBe('The service refused one of the recordings: It is private');
		expect(failure?.description).toContain('{"error":"It is private"}');
		expect(failure?.description).toContain('Fetch the accepted ones');
		expect(failure && isLasting(failure)).toBe(true);
		expect(ended).toEqual(['something without an id']);
		// The service has said no, so a new execution pays for nothing again.
		expect(uncertain).toEqual([]);
	});

	it('is one output among others if the node goes on', async () => {
		answer([REFUSED, { task_id: 'b' }]);
		const { json } = await run(LINK, GOES_ON);
		expect(json).toEqual([{ task_id: 'b' }, { error: expect.stringContaining('It is private') }]);
	});

	it('is the error of the item if all the others are refused as well', async () => {
		answer([REFUSED, { error: 'It is gone' }]);
		const { failure } = await run(LINK, GOES_ON);
		expect(failure?.message).toContain('It is private');
		expect(failure?.description).toContain('It accepted none of them');
	});

	it('is an error that says so if the service gives no reason', async () => {
		answer([{ task_id: 'a' }, { error: { status: 7 } }]);
		const { failure } = await run(LINK);
		expect(failure?.message).toBe('The service refused one of the recordings: without a reason');
	});
});

describe('An item that is polled', () => {
	const LINK_POLLED = { ...LINK, ...POLL };

	it('outputs the transcript', async () => {
		const id = await service.completedTask();
		answer({ task_id: id, status: 'pending' });
		expect((await run(LINK_POLLED)).json).toMatchObject([
			{ task_id: id, status: 'completed', text: expect.any(String) },
		]);
	});

	it('has an output for each of its tasks, also for one that has failed, if the node goes on', async () => {
		const id = await service.completedTask();
		answer([{ task_id: id }, { task_id: 'gone' }]);
		state('/tasks/gone', { status: 'failed', error: 'No speech' });
		const { json } = await run(LINK_POLLED, GOES_ON);
		expect(json).toMatchObject([
			{ task_id: id, status: 'completed' },
			{ error: expect.stringContaining('Task gone failed: No speech') },
		]);
	});

	it('fails for want of balance, if the user wants that, at once and not after the other items', async () => {
		answer({ task_id: 'a', status: 'awaiting_balance' });
		fault({ kind: 'delay', ms: 150 }, { method: 'POST' });
		const { failure, answered } = await run({ ...LINK, ...FAILS_WITHOUT_BALANCE }, { count: 2 });
		expect(failure?.message).toContain('Task a waits because the balance is too low');
		// The other item is still being submitted.
		expect([posts().length, answered]).toEqual([2, 1]);
		expect(looks()).toEqual([]);
	});

	it('has an output for each of its tasks, also for one without balance, if the node goes on', async () => {
		const id = await service.completedTask();
		answer([{ task_id: 'a', status: 'awaiting_balance' }, { task_id: id }]);
		const { json } = await run({ ...LINK, ...FAILS_WITHOUT_BALANCE }, GOES_ON);
		expect(json).toMatchObject([
			{ error: expect.stringContaining('Task a waits because the balance is too low') },
			{ task_id: id, status: 'completed' },
		]);
	});

	it('is looked at in a second try, whatever the answer to the first has said', async () => {
		const id = await service.completedTask();
		answer({ task_id: id, status: 'awaiting_balance' });
		const parameters = { ...LINK, ...FAILS_WITHOUT_BALANCE };
		const { saved, failure } = await run(parameters);
		expect(failure?.message).toContain('the balance is too low');
		const { json } = await run(parameters, { saved });
		expect(json).toMatchObject([{ task_id: id, status: 'completed' }]);
		expect(posts()).toHaveLength(1);
	});

	it('is not waited for if another item has failed, which stops the node', async () => {
		answer({ task_id: 'a', status: 'pending' });
		const { json } = await run(LINK_POLLED, { isFailed: true });
		expect(json).toEqual([{ task_id: 'a', status: 'pending' }]);
		expect(looks()).toEqual([]);
	});

	it('is waited for whatever has become of another item, if the node goes on', async () => {
		const id = await service.completedTask();
		answer({ task_id: id });
		const { json } = await run(LINK_POLLED, { ...GOES_ON, isFailed: true });
		expect(json).toMatchObject([{ task_id: id, status: 'completed' }]);
	});

	it('is looked at only when all items of the run are submitted', async () => {
		const id = await service.completedTask();
		answer({ task_id: id });
		fault({ kind: 'delay', ms: 150 }, { method: 'POST' });
		const running = run(LINK_POLLED, { count: 2 });
		await until(() => service.running().tasks().length === 2);
		const [last] = service.running().tasks();
		service.running().finish(last?.id ?? '');
		const { outcomes } = await running;
		const lines = service.lines();
		const [firstLook = ''] = looks();
		const lastSubmit = lines.map((line) => line.startsWith('POST')).lastIndexOf(true);
		expect(lines.indexOf(firstLook)).toBeGreaterThan(lastSubmit);
		expect(outcomes.map(({ json }) => json?.[0]?.['status'])).toEqual(['completed', 'completed']);
	});
});

describe('A bot', () => {
	const at = (ms: number) => new Date(Date.now() + ms).toISOString();
	const suspendedUntil = (saved: IDataObject) =>
		(saved['suspension'] as { until: number } | undefined)?.until;

	/** Until when the execution of a bot is suspended, without its 'Timeout' of an hour. */
	async function waitsFrom(body: object, answered: object) {
		answer({ bot_id: 'b', ...answered });
		const { saved } = await run({ ...BOT, ...SUSPEND }, { body });
		return (suspendedUntil(saved) ?? 0) - HOUR;
	}

	const [sooner, later] = [at(HOUR), at(2 * HOUR)];
	it.each<[string, object, object, string]>([
		['it was sent for', { start_at: sooner }, {}, sooner],
		['the service has answered', {}, { scheduled_start_at: sooner }, sooner],
		[
			'it was sent for, if the service has answered a sooner one',
			{ start_at: later },
			{ scheduled_start_at: sooner },
			later,
		],
		[
			'the service has answered, if it was sent for a sooner one',
			{ start_at: sooner },
			{ scheduled_start_at: later },
			later,
		],
	])('is waited for from the start on that %s', async (_what, body, answered, expected) => {
		const from = await waitsFrom(body, answered);
		expect(new Date(from).toISOString()).toBe(expected);
	});

	it('without a start is waited for from now on', async () => {
		const before = Date.now();
		const from = await waitsFrom({}, {});
		expect(from).toBeGreaterThanOrEqual(before);
		expect(from).toBeLessThanOrEqual(Date.now());
	});

	it('whose start is years away, as the service answers, is waited for from 31 days from now on', async () => {
		const from = await waitsFrom({}, { scheduled_start_at: at(10_000 * HOUR) });
		const days = (from - Date.now()) / (24 * HOUR);
		expect(days).toBeCloseTo(31, 2);
	});

	it('is waited for from a start in UTC on if the service has answered one without a time zone', async () => {
		const zone = process.env['TZ'];
		process.env['TZ'] = 'America/New_York';
		try {
			const from = await waitsFrom({}, { scheduled_start_at: sooner.replace('Z', '') });
			expect(new Date(from).toISOString()).toBe(sooner);
		} finally {
			if (zone === undefined) delete process.env['TZ'];
			else process.env['TZ'] = zone;
		}
	});

	it('is waited for from its start on in a second try, too', async () => {
		const saved = {};
		const parameters = { ...BOT, ...SUSPEND };
		// The address of the execution has to be the same.
		const execution = { saved, resumeToken: 'token' };
		answer({ bot_id: 'b', scheduled_start_at: sooner });
		await run(parameters, { ...execution, body: { start_at: later }, isFailed: true });
		expect(suspendedUntil(saved)).toBeUndefined();
		await run(parameters, execution);
		expect(suspendedUntil(saved)).toBe(Date.parse(later) + HOUR);
		expect(posts()).toHaveLength(1);
	});

	it('is polled for longer than its timeout if it starts later', async () => {
		const id = await service.completedTask();
		const waitOptions = { pollInterval: 0.03, timeout: 0.001 };
		answer({ bot_id: 'b' });
		state('/meeting/b', { status: 'scheduled' }, 4);
		state('/meeting/b', { task_id: id });
		const { json } = await run({ ...BOT, ...POLL, waitOptions }, { body: { start_at: sooner } });
		expect(json).toMatchObject([{ bot_id: 'b', task_id: id, status: 'completed' }]);
	});
});

it('The transcript of a file that the item no longer has comes with its document', async () => {
	const id = await service.completedTask();
	answer({ task_id: id, status: 'pending' });
	const waitOptions = { exportFormat: 'srt', exportAs: 'text' };
	const { json } = await run({ ...FILE, ...POLL, waitOptions }, { items: itemsOf({}) });
	expect(json).toMatchObject([
		{ task_id: id, text: expect.any(String), export: expect.stringContaining('-->') },
	]);
});

describe('An item that suspends the execution', () => {
	it('does so with its task, and does not show the secret of that', async () => {
		answer({ task_id: 'a', status: 'pending', webhook_secret: 'secret-of-a-task' });
		const { json, saved } = await run({ ...LINK, ...SUSPEND });
		expect(json).toEqual([{ task_id: 'a', status: 'pending' }]);
		expect(saved).toMatchObject({ suspension: { asleep: true, items: { 0: { taskId: 'a' } } } });
		expect(JSON.stringify(saved)).not.toContain('secret-of-a-task');
	});
});

describe('Of an item that is reported to the address of the user', () => {
	const CALL = { ...LINK, onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
	const secret = { webhook_secret: 'secret-of-a-task' };

	it('the secret is output, which the receiver needs, if there is one', async () => {
		answer([{ task_id: 'a', ...secret }, { task_id: 'b' }]);
		const { json } = await run(CALL);
		expect(json).toStrictEqual([{ task_id: 'a', ...secret }, { task_id: 'b' }]);
	});

	it('the secret is not output any more if a Retry reports it to nobody', async () => {
		answer({ task_id: 'a', ...secret });
		const { saved } = await run(CALL);
		const { json } = await run(LINK, { saved, executionId: '42' });
		expect(json).toStrictEqual([{ task_id: 'a' }]);
	});

	it('a task is refused that had ended before, because nothing reports it', async () => {
		answer({ task_id: 'a', status: 'completed' });
		const { failure } = await run({ ...CALL, options: { idempotencyKey: 'talk-17' } });
		expect(failure?.message).toContain('returned task a, which had already ended');
	});
});

describe('An item that is handed over to the trigger', () => {
	let trigger: Awaited<ReturnType<typeof answeringTrigger>>;
	let reply: TriggerAnswer;
	beforeEach(async () => {
		reply = STORED;
		trigger = await answeringTrigger(service.running().apiKey, () => reply);
		for (const name of ['patience', 'patienceWhenNotActive', 'patienceWhenRefused'] as const) {
			jest.replaceProperty(HAND_OVER, name, 0);
		}
	});
	afterEach(() => trigger.close());

	const notify = (more: INodeParameters = {}) => ({
		...LINK,
		onCompletion: 'notifyTrigger',
		triggerUrl: trigger.url,
		...more,
	});
	const pending = { status: 'pending', webhook_secret: 'secret-of-a-task' };
	const handedOver = () => trigger.calls.flat().map(({ id, secret }) => [id, secret]);
	const UNHEARD = 'only after its end';

	it('outputs the answer without the secret, which the trigger has', async () => {
		answer([
			{ task_id: 'a', ...pending },
			{ task_id: 'b', ...pending, webhook_secret: 'secret-of-b' },
		]);
		const { json } = await run(notify());
		expect(json).toEqual([
			{ task_id: 'a', status: 'pending' },
			{ task_id: 'b', status: 'pending' },
		]);
		expect(handedOver().sort()).toEqual([
			['a', 'secret-of-a-task'],
			['b', 'secret-of-b'],
		]);
		expect(looks()).toEqual([]);
	});

	it('may have ended already if it is new: the service repeats its webhook', async () => {
		answer({ task_id: 'a', ...pending, status: 'completed' });
		const { json } = await run(notify());
		expect(json).toEqual([{ task_id: 'a', status: 'completed' }]);
	});

	it('is an error if it has ended and its answer took long, unless it has failed and so may be new', async () => {
		jest.replaceProperty(YOUNG, 'ms', -1);
		answer({ task_id: 'a', ...pending, status: 'completed' });
		expect((await run(notify())).failure?.message).toContain(UNHEARD);
		answer({ task_id: 'b', ...pending, status: 'failed' });
		expect((await run(notify())).failure).toBeUndefined();
		expect(handedOver().map(([id]) => id)).toEqual(['a', 'b']);
	});

	it('is an error if it has ended, also without success, and its request was repeated', async () => {
		fault({ kind: 'cut', when: 'afterBody' }, { method: 'POST' });
		answer({ task_id: 'a', ...pending, status: 'failed' });
		const items = [itemWithFile()];
		const file = notify({ operation: FILE.operation });
		const { failure } = await run(file, { items, key: 'talk-17' });
		expect(failure?.message).toContain(UNHEARD);
		expect(posts()).toHaveLength(2);
	});

	it('is an error if it has ended, also without success, before a second try hands it over', async () => {
		answer({ task_id: 'a', ...pending, status: 'failed' });
		reply = { status: 400, body: '{}' };
		const { saved, failure } = await run(notify());
		expect(failure?.message).toContain('did not accept the hand-over of a');
		reply = STORED;
		expect((await run(notify(), { saved })).failure?.message).toContain(UNHEARD);
		expect(posts()).toHaveLength(1);
	});

	long.it(
		'is an error in a second try also if the service says only slowly that it has ended',
		async () => {
			const id = await service.completedTask();
			answer({ task_id: id, ...pending });
			reply = { status: 400, body: '{}' };
			const { saved } = await run(notify());
			reply = STORED;
			// Longer than a new submission is asked for.
			fault({ kind: 'delay', ms: 1_700 }, { method: 'GET' });
			expect((await run(notify(), { saved })).failure?.message).toContain(UNHEARD);
		},
	);

	it('goes to the trigger although it is refused, because its webhook may come after all', async () => {
		answer({ task_id: 'a', ...pending, status: 'failed', error: 'No speech' });
		const { failure } = await run(notify({ options: { idempotencyKey: 'talk-17' } }));
		expect(failure?.message).toBe('Task a failed: No speech');
		expect(handedOver()).toEqual([['a', 'secret-of-a-task']]);
	});

	it('goes to no trigger if it is reported to another address, whatever stands in Trigger URL', async () => {
		answer({ task_id: 'a', ...pending, status: 'completed' });
		const call = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
		const { failure } = await run(notify({ ...call, options: { idempotencyKey: 'talk-17' } }));
		expect(failure?.message).toContain('returned task a, which had already ended');
		expect(trigger.calls).toEqual([]);
	});

	it('goes to the trigger although another recording of the item is refused', async () => {
		answer([{ task_id: 'a', ...pending }, { error: 'It is private' }]);
		const { failure } = await run(notify());
		expect(failure?.message).toContain('It is private');
		expect(handedOver()).toEqual([['a', 'secret-of-a-task']]);
		expect(looks()).toEqual([]);
	});

	it('is refused for that reason, too, if the trigger does not take it', async () => {
		reply = { status: 400, body: '{}' };
		answer([{ task_id: 'a', ...pending }, { error: 'It is private' }]);
		const { failure } = await run(notify());
		expect(failure?.message).toContain('It is private');
		expect(handedOver()).toHaveLength(1);
	});

	it('has its secret in the output if a Retry reports it to the same address, but to no trigger', async () => {
		answer([{ error: 'It is private' }, { task_id: 'b', ...pending }]);
		reply = { status: 400, body: '{}' };
		const { saved } = await run(notify(), GOES_ON);
		const call = { ...LINK, onCompletion: 'callUrl', webhookUrl: trigger.url };
		const { json } = await run(call, { ...GOES_ON, saved, executionId: '42' });
		expect(json).toEqual([
			{ task_id: 'b', ...pending },
			{ error: expect.stringContaining('It is private') },
		]);
	});

	it('does not show the secret if another execution has output it', async () => {
		answer({ task_id: 'a', ...pending });
		const { saved } = await run({ ...LINK, onCompletion: 'callUrl', webhookUrl: trigger.url });
		fault({ kind: 'respond', status: 200, body: { task_id: 'a', ...pending } }, { method: 'GET' });
		const { json } = await run(notify(), { saved, executionId: '42' });
		expect(json).toStrictEqual([{ task_id: 'a', status: 'pending' }]);
		expect(handedOver()).toEqual([['a', 'secret-of-a-task']]);
	});
});
