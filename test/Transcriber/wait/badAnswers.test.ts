/** "Waiting" in the contract: what polling does when the service does not answer as it should. */
// Also covers fetchPatiently.ts, nodes/shared/api/askForState.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeParameters } from 'n8n-workflow';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { queueFor } from '../../../nodes/shared/api/waitForTurn';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { startSimulator, type FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { runNode } from '../../support/engine';
import { giveUpSoon, shortenRetries } from '../../support/scale';
import { byId, itemsOf, serviceForTests } from '../../support/service';
import { few, long } from '../../support/long';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://files.example.com/talk.mp3',
	onCompletion: 'poll',
};
const LOOK = { method: 'GET', path: '/(tasks|meeting)/[^/]+$' };

function fault(action: FaultRule['action'], match: FaultRule['match'], times = 1e6): void {
	service.running().fault({ match, action, times });
}

const looks = () => service.lines().filter((line) => /^GET .*\/(tasks|meeting)\/[^/]+$/.test(line));

/** The ways to wait, with the id that a user knows of what is waited for. */
const WAYS = {
	'task.wait': async (waitOptions: INodeParameters) => {
		const id = await service.pendingTask();
		const wait = { resource: 'task', operation: 'wait', taskId: byId(id), waitOptions };
		return { id, run: service.run(wait) };
	},
	'meeting.wait': async (waitOptions: INodeParameters) => {
		const id = await service.bot();
		return {
			id,
			run: service.run({ resource: 'meeting', operation: 'wait', botId: id, waitOptions }),
		};
	},
	'transcribeUrl with poll': async (waitOptions: INodeParameters) => {
		const run = service.run({ ...LINK, waitOptions });
		await until(() => service.running().tasks().length === 1);
		return { id: service.running().tasks()[0]?.id ?? '', run };
	},
};
type Way = keyof typeof WAYS;
const EVERY_WAY = Object.keys(WAYS) as Way[];
const BY_ID: Way[] = ['task.wait', 'meeting.wait'];

/** Ends the meeting, if there is one, and finishes the task. */
function finishAll(): { taskId?: string; botId?: string } {
	const [bot] = service.running().bots();
	if (bot) service.running().endMeeting(bot.id);
	const [task] = service.running().tasks();
	service.running().finish(task?.id ?? '');
	return { taskId: task?.id, botId: bot?.id };
}

describe.each(EVERY_WAY)('%s', (way) => {
	// The looks are the same for each way. What is said of them differs where something was submitted.
	const rule = way === 'task.wait' ? it : long.it;
	const rows = way === 'task.wait' ? few.it : long.it;

	rows.each<[string, FaultRule['action']]>([
		['429', { kind: 'respond', status: 429 }],
		['500', { kind: 'respond', status: 500 }],
		['503', { kind: 'respond', status: 503 }],
		['a cut connection', { kind: 'cut', when: 'afterProcessing' }],
		['nothing at all', { kind: 'stall' }],
		['an answer without a status', { kind: 'respond', status: 200, body: {} }],
	])(
		'ends after its timeout when every look gets %s, and names what it waited for',
		async (what, action) => {
			fault(action, LOOK);
			const { id, run } = await WAYS[way]({ pollInterval: 0.2, timeout: 0.02 });
			const { error } = await run;
			expect(error?.message).toContain(id);
			// The answer to a submit has said a status, which counts until another answer comes.
			const isUnknown = BY_ID.includes(way) || what === 'an answer without a status';
			const words = isUnknown ? ': n8n could not read its status' : ' has not ended';
			expect(error?.message).toContain(`${id}${words} within 0.02 minutes`);
			expect(error?.description).toMatch(/raise 'Timeout' for the next one/);
			expect(error?.description).toContain('Wait Until Finished');
		},
	);

	rule('looks once per poll interval at a task that has no status', async () => {
		fault({ kind: 'respond', status: 200, body: {} }, LOOK);
		const { run } = await WAYS[way]({ pollInterval: 10, timeout: 0.02 });
		await run;
		expect(looks().length).toBeLessThanOrEqual(2);
	});

	rows.each([401, 404, 410])(
		'reports %i when it lasts, and says that nothing is lost',
		async (status) => {
			jest.replaceProperty(POLL, 'refused', 300);
			const { id, run } = await WAYS[way]({ pollInterval: 0.1, timeout: 1 });
			await until(() => looks().length > 0);
			fault({ kind: 'respond', status }, LOOK);
			const { error } = await run;
			expect(error?.message).toContain(id);
			expect(error?.httpCode).toBe(String(status));
			expect(error?.description).toContain('Wait Until Finished');
			expect(error?.description).toContain(`HTTP ${status}`);
			const start = status === 401 ? 'Correct the key, then' : 'If it is there later,';
			expect(error?.description).toContain(`${start} fetch it with`);
			// The service knew this id a moment ago.
			expect(error?.description).not.toMatch(/Check the '(Task|Bot ID)' parameter|Change what/);
		},
	);

	rows.each([404, 401])(
		'takes %i before and after another failure for no lasting one',
		async (status) => {
			jest.replaceProperty(POLL, 'refused', 300);
			const { run } = await WAYS[way]({ pollInterval: 0.1, timeout: 1 });
			await until(() => looks().length > 0);
			const from = looks().length;
			fault({ kind: 'respond', status }, LOOK, 1);
			fault({ kind: 'respond', status: 500 }, LOOK, 4);
			fault({ kind: 'respond', status }, LOOK, 1);
			await until(() => looks().length > from + 6);
			const { taskId } = finishAll();
			const { json, error } = await run;
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		},
	);

	it('goes on after a look that fails', async () => {
		const { run } = await WAYS[way]({ pollInterval: 0.05, timeout: 1 });
		await until(() => looks().length > 0);
		const from = looks().length;
		for (const status of [500, 401, 404, 422]) fault({ kind: 'respond', status }, LOOK, 1);
		await until(() => looks().length > from + 4);
		const { taskId, botId } = finishAll();
		const { json, error } = await run;
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		expect(json[0]?.['bot_id']).toBe(botId);
	});
});

it.each(BY_ID)('%s reports at once that its first look is refused', async (way) => {
	fault({ kind: 'respond', status: 403 }, LOOK, 1);
	const { run } = await WAYS[way]({ pollInterval: 10, timeout: 100 });
	expect((await run).error).toMatchObject({ httpCode: '403' });
	expect(looks()).toHaveLength(1);
});

it('meeting.wait goes on if the task of the bot is unknown for a moment', async () => {
	const id = await service.bot();
	service.running().endMeeting(id);
	const [task] = service.running().tasks();
	fault({ kind: 'respond', status: 404 }, { path: '/tasks/[^/]+$' }, 1);
	service.running().finish(task?.id ?? '');
	const waitOptions = { pollInterval: 0.05 };
	const run = service.run({ resource: 'meeting', operation: 'wait', botId: id, waitOptions });
	expect((await run).json).toMatchObject([{ task_id: task?.id, status: 'completed' }]);
});

it('a result that cannot be fetched at first is fetched, and paid for once', async () => {
	fault({ kind: 'respond', status: 500 }, { path: '/result$' }, 2);
	const run = service.run({ ...LINK, waitOptions: { pollInterval: 0.05 } });
	await until(() => service.running().tasks().length === 1);
	service.running().finish(service.running().tasks()[0]?.id ?? '');
	expect((await run).json).toMatchObject([{ status: 'completed', text: expect.any(String) }]);
	expect(service.running().tasks()).toHaveLength(1);
});

it('a result that a maintenance page hides for a moment, behind a redirect or not, is fetched then', async () => {
	const headers = { 'Content-Type': 'text/html' };
	fault({ kind: 'redirect', status: 302, location: '/maintenance' }, { path: '/result$' }, 1);
	fault({ kind: 'respond', status: 200, body: '<p>Soon</p>', headers }, { path: '/result$' }, 1);
	const run = service.run({ ...LINK, waitOptions: { pollInterval: 0.05 } });
	await until(() => service.running().tasks().length === 1);
	service.running().finish(service.running().tasks()[0]?.id ?? '');
	expect((await run).json).toMatchObject([{ status: 'completed', text: expect.any(String) }]);
});

describe('a result that cannot be fetched once is given patience by the kind of the failure', () => {
	const cut = { kind: 'cut', when: 'beforeBody' } as const;
	const refused = (status: number) => ({ kind: 'respond', status }) as const;

	few.it.each<
		[string, FaultRule['action'], 'patienceWhenBusy' | 'patienceWhenBroken' | 'patienceWhenRefused']
	>([
		['429', refused(429), 'patienceWhenBusy'],
		['500', refused(500), 'patienceWhenBroken'],
		['a connection that breaks', cut, 'patienceWhenBroken'],
		['401 of a key in rotation', refused(401), 'patienceWhenBroken'],
		['404', refused(404), 'patienceWhenBroken'],
		['408', refused(408), 'patienceWhenBroken'],
		['409', refused(409), 'patienceWhenBroken'],
		['425', refused(425), 'patienceWhenBroken'],
		['400', refused(400), 'patienceWhenRefused'],
		['422', refused(422), 'patienceWhenRefused'],
	])('%s', async (_name, action, patience) => {
		shortenRetries(100);
		const id = await service.completedTask();
		const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
		const others = ['patienceWhenBusy', 'patienceWhenBroken', 'patienceWhenRefused'] as const;
		for (const other of others) jest.replaceProperty(RETRY, other, other === patience ? 0 : 3_000);
		// The longest patience holds for all kinds together.
		if (patience !== 'patienceWhenBusy') jest.replaceProperty(RETRY, 'patienceWhenBusy', 3_000);
		fault(action, { path: '/result$' }, 1);
		expect((await service.run(wait)).json).toEqual([]);
		jest.replaceProperty(RETRY, patience, 3_000);
		fault(action, { path: '/result$' }, 1);
		expect((await service.run(wait)).json).toMatchObject([{ text: expect.any(String) }]);
	});
});

long.it('polling for one account does not slow that for another', async () => {
	const other = await startSimulator({
		clockRate: 1000,
		rateLimits: false,
		queueSeconds: 1e6,
		apiKey: 'other-account-key',
	});
	const ids = await Promise.all(
		Array.from({ length: 20 }, async () => await service.pendingTask()),
	);
	let stop = false;
	const wait = { resource: 'task', operation: 'wait', taskId: byId('={{ $json.id }}') };
	const busy = service.run(wait, {
		items: itemsOf(...ids.map((id) => ({ id }))),
		cancelWhen: () => stop,
	});
	const waitOptions = { pollInterval: 0.2, timeout: 0.3 };
	const credentials = { baseUrl: other.url, apiKey: other.apiKey };
	const single = runNode({ parameters: { ...LINK, waitOptions }, credentials });
	await until(() => other.tasks().length === 1);
	other.finish(other.tasks()[0]?.id ?? '');
	// Slowed like a task of the first account, it would not be looked at again before the timeout.
	expect((await single).json).toMatchObject([{ status: 'completed' }]);
	stop = true;
	await busy;
	await other.close();
});

const NOT_COMPLETED = {
	detail: { error_code: 'task_not_completed', message: 'The task is not completed' },
};

it('a result that cannot be fetched at all is an error that names the task and how to get it', async () => {
	giveUpSoon();
	fault({ kind: 'respond', status: 500 }, { path: '/result$' });
	const id = await service.completedTask();
	const { error } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
	expect(error?.message).toContain(`Task ${id} has finished, but its result cannot be fetched`);
	expect(error?.description).toContain('Transcript: Get Result');
});

it('a result that is not found does not make the user check the id of a task that has just finished', async () => {
	giveUpSoon();
	fault({ kind: 'respond', status: 404 }, { path: '/result$' });
	const id = await service.completedTask();
	const { error } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
	expect(error?.message).toContain(`Task ${id} has finished, but its result cannot be fetched`);
	expect(error?.description).toMatch(/^The service answered HTTP 404[^.]*\. Fetch it later/);
});

it.each([409, 425])(
	'a result that is never ready (%i) is no mistake of the user',
	async (status) => {
		giveUpSoon();
		fault({ kind: 'respond', status, body: { detail: 'Too early' } }, { path: '/result$' });
		const id = await service.completedTask();
		const { error } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
		expect(error?.message).toContain(
			`Task ${id} has finished, but its result cannot be fetched: The service has not prepared it yet`,
		);
		expect(error?.description).toMatch(/^The service answered HTTP 4\d\d: “Too early”.*Get Result/);
		expect(error?.description).not.toContain('Change what');
	},
);

few.it.each([400, 402, 403, 408, 410, 422, 423])(
	'a result that is refused with %i at first is still fetched: the task is known to have finished',
	async (status) => {
		shortenRetries(100);
		fault({ kind: 'respond', status, body: NOT_COMPLETED }, { path: '/result$' }, 1);
		const id = await service.completedTask();
		const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
		expect((await service.run(wait)).json).toMatchObject([{ text: expect.any(String) }]);
	},
);

/** Waits for a task that has finished. Returns when its result was asked for, in ms since 1970. */
async function resultRequestsOfWait(): Promise<number[]> {
	const id = await service.completedTask();
	const began = service.running().requests.length;
	await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
	return service
		.running()
		.requests.slice(began)
		.filter(({ path }) => path.endsWith('/result'))
		.map(({ at }) => at);
}

it('a result that is refused for good is asked for during ten seconds, not two minutes', async () => {
	shortenRetries(10);
	fault({ kind: 'respond', status: 422 }, { path: '/result$' });
	const times = await resultRequestsOfWait();
	expect(times.length).toBeGreaterThan(2);
	expect(Number(times.at(-1)) - Number(times[0])).toBeLessThan(RETRY.patienceWhenBroken / 2);
});

long.it('a result that is refused once after an outage is still fetched', async () => {
	shortenRetries(20);
	const outage = { kind: 'respond', status: 503, headers: { 'retry-after': '1' } } as const;
	fault(outage, { path: '/result$' }, 1);
	fault({ kind: 'respond', status: 422 }, { path: '/result$' }, 1);
	const id = await service.completedTask();
	const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
	expect((await service.run(wait)).json).toMatchObject([{ text: expect.any(String) }]);
});

it('all kinds of failure together have no more patience than the longest kind', async () => {
	shortenRetries(100);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 1_500);
	jest.replaceProperty(RETRY, 'patienceWhenBusy', 1_500);
	jest.replaceProperty(RETRY, 'patienceWhenRefused', 3_000);
	const outage = { kind: 'respond', status: 503, headers: { 'retry-after': '1' } } as const;
	fault(outage, { path: '/result$' }, 1);
	fault({ kind: 'respond', status: 422 }, { path: '/result$' });
	const times = await resultRequestsOfWait();
	expect(times.length).toBeGreaterThan(2);
	expect(Number(times.at(-1)) - Number(times[0])).toBeLessThan(2_500);
});

few.it.each([400, 422, 423])(
	'a result that is refused with %i again and again is nothing that the user can change',
	async (status) => {
		giveUpSoon();
		fault({ kind: 'respond', status, body: NOT_COMPLETED }, { path: '/result$' });
		const id = await service.completedTask();
		const { error } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
		expect(error?.message).toContain(`Task ${id} has finished, but its result cannot be fetched`);
		expect(error?.description).toMatch(
			/^The service answered HTTP 4\d\d.*“The task is not completed”.*not lost.*Get Result/,
		);
	},
);

it.each([
	[401, /does not accept the API key/, /^Check the 'API Key'.*not lost/],
	[402, /balance/, /top up.*not lost/i],
	[403, /not allowed to do this/, /^Use the key of an account that owns the task.*not lost/],
	[404, /no transcript under this ID/, /^The service answered HTTP 404.*later/],
	[410, /no transcript under this ID/, /^The service answered HTTP 410.*later/],
])('a result that is refused with %i again and again says why', async (status, why, next) => {
	giveUpSoon();
	fault({ kind: 'respond', status }, { path: '/result$' });
	const id = await service.completedTask();
	const { error } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
	expect(error?.message).toMatch(why);
	expect(error?.description).toMatch(next);
	// Whether it is, is not known of a task whose result is gone.
	if ([404, 410].includes(status)) expect(error?.description).not.toContain('not lost');
});

it.each([401, 404])(
	'one %i does not last because its look had waited in the queue',
	async (status) => {
		jest.replaceProperty(POLL, 'refused', 300);
		fault({ kind: 'respond', status }, { path: '/tasks/[^/]+$' }, 1);
		const queue = queueFor(service.running().apiKey, 'other');
		const places = Array.from(
			{ length: LIMITS.other - LIMITS.keptForUrgent },
			async () => await queue.take(),
		);
		const leaves = await Promise.all(places);
		const run = service.run({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://files.example.com/a.mp3',
			waitOptions: { pollInterval: 0.05 },
		});
		await until(() => service.running().tasks().length > 0);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		await sleep(2 * POLL.refused);
		for (const leave of leaves) leave();
		expect((await run).error).toBeUndefined();
	},
);

it('a look that is answered with a Retry-After of a day does not hide the end of the task', async () => {
	const headers = { 'retry-after': '86400' };
	fault({ kind: 'respond', status: 503, headers }, LOOK, 1);
	const run = service.run({ ...LINK, waitOptions: { pollInterval: 0.2, timeout: 0.06 } });
	await until(() => service.running().tasks().length === 1);
	service.running().finish(service.running().tasks()[0]?.id ?? '');
	expect((await run).json).toMatchObject([{ status: 'completed' }]);
});

it.each([
	['a state instead of a result', { status: 'processing' }],
	['a web page', '<html>Please wait</html>'],
])('a result that is answered with %s at first is asked for again', async (_, body) => {
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 60_000);
	fault({ kind: 'respond', status: 200, body }, { path: '/result$' }, 1);
	const id = await service.completedTask();
	const { json } = await service.run({ resource: 'task', operation: 'wait', taskId: byId(id) });
	expect(json).toMatchObject([{ task_id: id, text: expect.any(String) }]);
});

describe('a computer that sleeps while the node polls, until after the deadline', () => {
	/** What the node gives after a sleep of eight hours, during which `meanwhile` happens. */
	const afterSleep = async (meanwhile: (id: string) => void) => {
		const waitOptions = { pollInterval: 1, timeout: 180 };
		const outcome = service.run({ ...LINK, waitOptions });
		await until(() => looks().length > 0);
		await until(() => service.running().requests.every(({ status }) => status !== undefined));
		// The computer falls asleep in the pause after a look, not while it waits for the answer.
		await sleep(200);
		const [{ id } = { id: '' }] = service.running().tasks();
		meanwhile(id);
		const now = Date.now.bind(Date);
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 8 * 3_600_000);
		return { id, outcome: await outcome.finally(() => clock.mockRestore()) };
	};

	it('gives the transcript that has got ready meanwhile', async () => {
		const { id, outcome } = await afterSleep((task) => service.running().finish(task));
		expect(outcome.error).toBeUndefined();
		expect(outcome.json).toMatchObject([{ task_id: id, status: 'completed' }]);
	});

	it('looks only once at what has not ended', async () => {
		const { id, outcome } = await afterSleep(() => {});
		expect(outcome.error?.message).toContain(`Task ${id} has not ended within 180 minutes`);
		expect(looks()).toHaveLength(2);
	});

	long.it('does not wait long for the answer to that look', async () => {
		jest.replaceProperty(POLL, 'lateLook', 300);
		const { outcome } = await afterSleep(() => fault({ kind: 'stall' }, LOOK));
		expect(outcome.error?.message).toContain('has not ended within 180 minutes');
	});
});
