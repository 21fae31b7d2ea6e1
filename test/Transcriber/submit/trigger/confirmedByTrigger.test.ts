/** How long the node tries to reach a trigger, before anything is submitted and after it. */
import type { INodeParameters } from 'n8n-workflow';

import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import {
	HAND_OVER,
	checkTrigger,
	handOver,
} from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import type { RoutingRequest } from '../../../../nodes/shared/api/types';
import { NOT_OPENED } from '../../../../nodes/shared/webhook/handOverEnvelope';
import { answeringTrigger, STORED, type TriggerAnswer } from '../../../support/answeringTrigger';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { long } from '../../../support/long';
import { FILE, LINK } from '../../../support/parameters';

// A trigger that is tried for ever is a failure soon.

const API_KEY = 'test-api-key';
const LONG = 60_000;

/** The times in {@link HAND_OVER}, in ms. */
function take(times: Partial<typeof HAND_OVER>): void {
	const none = { patienceBefore: 0, patience: 0, patienceWhenNotActive: 0, patienceWhenRefused: 0 };
	for (const [name, ms] of Object.entries({ ...none, interval: 1, ...times })) {
		jest.replaceProperty(HAND_OVER, name as keyof typeof HAND_OVER, ms);
	}
}

let answers: TriggerAnswer[];
let trigger: Awaited<ReturnType<typeof answeringTrigger>>;
beforeEach(async () => {
	answers = [];
	trigger = await answeringTrigger(API_KEY, () => answers.shift() ?? STORED);
	take({});
});
afterEach(() => void trigger.close());

const answer = (status: number, body: object | string = {}) => ({
	status,
	body: typeof body === 'string' ? body : JSON.stringify(body),
});
const always = (one: TriggerAnswer) => answers.push(...Array<TriggerAnswer>(1_000).fill(one));

const hand = async (
	ids = { taskId: '7f3c' },
	secret: string | undefined = 's',
	place?: ItemPlace,
) => await handOver(itemContext(LINK, place), trigger.url, ids, secret);

const check = async (
	url = '/transcribe-url',
	place: ItemPlace = {},
	parameters: INodeParameters = LINK,
) => {
	const options = { baseURL: 'http://127.0.0.1:9/api/v1', url };
	await checkTrigger(
		itemContext(parameters, place),
		{ options } as unknown as RoutingRequest,
		trigger.url,
	);
};

describe('A secret', () => {
	it.each<[string, { taskId?: string; botId?: string }, object]>([
		['of a task', { taskId: '7f3c' }, { id: '7f3c', kind: 'task' }],
		['of a bot', { botId: 'b1' }, { id: 'b1', kind: 'bot' }],
		['of a bot whose task is known', { taskId: '7f3c', botId: 'b1' }, { id: '7f3c', kind: 'task' }],
	])('%s is handed over', async (_what, ids, expected) => {
		await handOver(itemContext(LINK), trigger.url, ids, 'secret');
		expect(trigger.calls).toEqual([[{ ...expected, secret: 'secret' }]]);
	});

	it.each(['.', 'x'.repeat(257)])(
		'for an id that no delivery can have is not: %#',
		async (taskId) => {
			await expect(hand({ taskId })).rejects.toThrow('it accepts no delivery for an id like this');
			expect(trigger.calls).toEqual([]);
		},
	);

	it.each<[string, TriggerAnswer]>([
		['it is not stored yet', answer(202, { stored: false })],
		['n8n is starting', answer(200, 'n8n is starting up')],
		['a proxy gave up waiting', answer(408)],
		['it is too early', answer(425)],
		['there are too many calls', answer(429)],
		['n8n has failed', answer(500)],
		['n8n is down', answer(502)],
	])('is handed over again when %s', async (_why, first) => {
		take({ patience: LONG });
		answers = [first, first];
		await hand();
		expect(trigger.calls).toHaveLength(3);
	});

	it.each([300, 302, 400, 403, 405, 413, 422])(
		'is not handed over again after HTTP %i',
		async (status) => {
			take({ patience: LONG, patienceWhenNotActive: LONG, patienceWhenRefused: LONG });
			answers = [answer(status)];
			await expect(hand()).rejects.toThrow(
				/^The Transcriber Trigger did not accept the hand-over of 7f3c: /,
			);
			expect(trigger.calls).toHaveLength(1);
		},
	);

	it.each([
		[404, 'patienceWhenNotActive', 'its workflow is not active'],
		[401, 'patienceWhenRefused', 'it has another API key'],
		[502, 'patience', 'HTTP 502, but not as a Transcriber Trigger does'],
	] as const)('has a time of its own for HTTP %i: %s', async (status, name, words) => {
		const refusal = answer(status, { message: NOT_OPENED });
		take({ [name]: LONG });
		answers = [refusal];
		await hand();
		expect(trigger.calls).toHaveLength(2);
		take({ patience: LONG, patienceWhenNotActive: LONG, patienceWhenRefused: LONG, [name]: 0 });
		answers = [refusal];
		await expect(hand()).rejects.toThrow(words);
		expect(trigger.calls).toHaveLength(3);
	});

	it.each<[string, TriggerAnswer[]]>([
		['is taken at once', []],
		['is stored only after a while', [answer(202, { stored: false })]],
	])('that %s came in time', async (_how, first) => {
		take({ patience: LONG });
		answers = first;
		expect(await hand()).toBe(false);
	});

	it.each<[string, TriggerAnswer[]]>([
		['cannot be taken at first', [answer(502)]],
		[
			'is refused at first, then stored after a while',
			[answer(404), answer(202, { stored: false })],
		],
	])('that %s may have come late', async (_how, first) => {
		take({ patience: LONG, patienceWhenNotActive: LONG });
		answers = first;
		expect(await hand()).toBe(true);
	});

	it('is given up when the time since the first refusal is over', async () => {
		take({ patience: 30 });
		always(answer(502));
		await expect(hand()).rejects.toThrow('HTTP 502');
		expect(trigger.calls.length).toBeGreaterThan(0);
	});

	it('has the whole time for one kind of answer after another kind', async () => {
		take({ patience: 20, patienceWhenNotActive: LONG });
		answers = [...Array<TriggerAnswer>(20).fill(answer(404)), answer(502)];
		await hand();
		expect(trigger.calls).toHaveLength(22);
	});

	it('is not tried again when less time is left than between two calls', async () => {
		take({ patience: 50, interval: 60 });
		answers = [answer(502)];
		await expect(hand()).rejects.toThrow('HTTP 502');
		expect(trigger.calls).toHaveLength(1);
	});

	it('is not waited for in a cancelled execution', async () => {
		take({ patience: 60_000, interval: 50_000 });
		const cancel = new AbortController();
		always(answer(502));
		const waiting = hand(undefined, 's', { cancel: cancel.signal });
		waiting.catch(() => {});
		while (trigger.calls.length === 0) await new Promise(setImmediate);
		cancel.abort(new Error('The execution was cancelled'));
		await expect(waiting).rejects.toThrow('The execution was cancelled');
	});

	it('that is there is refused for its API key only, whatever the version of the trigger', async () => {
		answers = [answer(401, { message: NOT_OPENED })];
		await expect(hand()).rejects.toThrow(/: it has another API key$/);
	});

	it('that is missing is what an old trigger refuses', async () => {
		answers = [answer(401, { message: NOT_OPENED })];
		const missing = handOver(itemContext(LINK), trigger.url, { taskId: '7f3c' });
		await expect(missing).rejects.toThrow('an older version of it needs a webhook_secret');
		answers = [answer(403)];
		const elsewhere = handOver(itemContext(LINK), trigger.url, { taskId: '7f3c' });
		await expect(elsewhere).rejects.toThrow('HTTP 403, but not as a Transcriber Trigger does');
	});
});

describe('Before anything is submitted, the trigger', () => {
	it.each([
		['/transcribe', 'task'],
		['/transcribe-url', 'task'],
		['/meeting', 'bot'],
	])(
		'is asked with an empty hand-over whether it takes what comes of %s: %s',
		async (url, kind) => {
			await check(url);
			expect(trigger.calls).toEqual([[]]);
			expect(trigger.checks).toEqual([kind]);
		},
	);

	it('is asked once for all items of a run, and again for the next run', async () => {
		await Promise.all([check(), check()]);
		expect(trigger.calls).toHaveLength(1);
		await check();
		expect(trigger.calls).toHaveLength(2);
	});

	it('is asked about tasks and about bots', async () => {
		await Promise.all([check(), check('/meeting')]);
		expect(trigger.checks.sort()).toEqual(['bot', 'task']);
	});

	it('has a moment to become reachable', async () => {
		take({ patienceBefore: LONG, patience: LONG });
		answers = [answer(502), answer(200, 'n8n is starting up')];
		await check();
		expect(trigger.calls).toHaveLength(3);
	});

	it.each([
		[{ patienceBefore: 30, patience: 60_000 }, 502],
		[{ patienceBefore: 60_000, patienceWhenNotActive: 30 }, 404],
	])('is given up when the shorter of two times is over: %j', async (times, status) => {
		take(times);
		always(answer(status));
		await expect(check()).rejects.toThrow(
			/^The Transcriber Trigger at 'Trigger URL' cannot be used, so nothing was submitted: /,
		);
		expect(trigger.calls.length).toBeGreaterThan(0);
	});

	it('is not asked again when it has refused', async () => {
		take({ patienceBefore: LONG, patience: LONG });
		answers = [answer(403)];
		await expect(check()).rejects.toThrow('so nothing was submitted');
		expect(trigger.calls).toHaveLength(1);
	});

	it('that cannot be used is no loss of an item that may be accepted', async () => {
		const saved = {};
		remember(itemContext(FILE, { saved }), { state: 'sent', key: 'derived' });
		answers = [answer(404)];
		const failure = await check('/transcribe', { saved }, FILE).catch((error: Error) => error);
		expect(failure).toMatchObject({
			message: expect.stringContaining('cannot be used, so this item was not sent again: its work'),
		});
	});

	it('is not waited for in a cancelled execution', async () => {
		const cancel = AbortSignal.abort(new Error('The execution was cancelled'));
		await expect(check('/meeting', { cancel })).rejects.toThrow('The execution was cancelled');
	});

	it('has to have an address that a trigger can have', async () => {
		trigger = { ...trigger, url: `${trigger.url}/other` };
		await expect(check()).rejects.toThrow('is not the address of a Transcriber Trigger');
		expect(trigger.calls).toEqual([]);
	});
});

it('A hand-over that is tried again after a rotation is sealed with the key of now', async () => {
	take({ patience: LONG, interval: 1_100 });
	const credentials = { baseUrl: 'http://127.0.0.1:9', apiKey: 'the old key' };
	answers.push(answer(502));
	const handing = handOver(
		itemContext(LINK, { credentials }),
		trigger.url,
		{ taskId: '7f3c' },
		's',
	);
	setTimeout(() => (credentials.apiKey = API_KEY), 300);
	await handing;
	expect(trigger.calls).toEqual([[], [{ id: '7f3c', kind: 'task', secret: 's' }]]);
});

long.it(
	'A hand-over goes on with the former key if the credential cannot be read once',
	async () => {
		take({ patience: LONG, interval: 1_100 });
		let readings = 0;
		const credentials = {
			baseUrl: 'http://127.0.0.1:9',
			get apiKey() {
				readings += 1;
				if (readings === 2) throw new Error('the database is locked');
				return API_KEY;
			},
		};
		answers.push(answer(502));
		await handOver(itemContext(LINK, { credentials }), trigger.url, { taskId: '7f3c' }, 's');
		expect(readings).toBeGreaterThan(1);
		expect(trigger.calls.at(-1)).toEqual([{ id: '7f3c', kind: 'task', secret: 's' }]);
	},
);
