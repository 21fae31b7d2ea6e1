/** 'Wait for the Transcript (Webhook)': what happens to a suspended execution, whoever calls it and whenever. */
// Also covers knownEndings.ts, lookBeforeSuspending.ts, resultsAfterWaking.ts, wakeOnDelivery.ts,
// nodes/shared/n8nInternals/resumeUrl.ts, nodes/Transcriber/wait/waitErrors.ts, nodes/shared/n8nInternals/executionSaved.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import type { INode } from 'n8n-workflow';

import { CALLED_OFF } from '../../../../nodes/shared/api/calledOffBot';
import { RESUME } from '../../../../nodes/Transcriber/submit/suspension/knownEndings';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { AFTER_WAKING } from '../../../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { YOUNG } from '../../../../nodes/Transcriber/submit/suspension/lookBeforeSuspending';
import { resumeWebhooks } from '../../../../nodes/shared/n8nInternals/resumeUrl';
import { WAIT_DEFAULTS } from '../../../../nodes/Transcriber/wait/waitOptions';
import type { FaultRule, Outcome as TaskOutcome } from '../../../simulator/index';
import { until } from '../../../simulator/testing-client';
import { credentialsHelper } from '../../../support/n8n';
import { itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith, type Ended } from '../../../support/suspended';
import { few, long } from '../../../support/long';
import { sign } from '../../../TranscriberTrigger/client';

const service = serviceForTests();

const AWAIT = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'awaitWebhook',
};
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: '={{ $json.url }}',
	consentAcknowledged: true,
	onCompletion: 'awaitWebhook',
};
type Workflow = ReturnType<typeof workflowWith>;

const links = (...names: string[]) =>
	itemsOf(...names.map((name) => ({ url: `https://files.example.com/${name}.mp3` })));
const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const WRONG = `sha256=${'0'.repeat(64)}`;

/** Suspends an execution over these links. */
async function suspended(
	names: string[],
	{ parameters = {}, node = {} }: { parameters?: object; node?: Partial<INode> } = {},
) {
	const credentials = service.credentials();
	const workflow = workflowWith({ ...AWAIT, ...parameters }, credentials, node);
	const asleep = await workflow.start(links(...names));
	expect({ isSuspended: asleep.isSuspended, error: asleep.error }).toEqual({ isSuspended: true });
	const taskOf = (name: string) => {
		const task = service
			.running()
			.tasks()
			.find((each) => each.name.endsWith(`${name}.mp3`));
		if (!task) throw new Error(`No task of ${name}`);
		return { id: task.id, secret: task.webhookSecret ?? '' };
	};
	service.running().requests.splice(0);
	return {
		credentials,
		asleep,
		workflow,
		taskOf,
		finish: (name: string) => service.running().finish(taskOf(name).id),
		/** The delivery of the service, as it signs it. */
		deliver: async (name: string, { signature }: { signature?: string } = {}) => {
			const { id, secret } = taskOf(name);
			const raw = JSON.stringify({ task_id: id });
			return await workflow.deliver(asleep, raw, signature ?? sign(raw, secret));
		},
		rotateKey: async () => {
			const { body } = await service.ask('POST /api-key/generate');
			credentials.apiKey = String(body['api_key']);
		},
	};
}

function fault(action: FaultRule['action'], match: FaultRule['match'], times = 1e6): void {
	service.running().fault({ match, action, times });
}

const LOOK = { method: 'GET', path: '/(tasks|meeting)/[^/]+$' };
const looksAt = (what: 'tasks' | 'meeting') =>
	service.lines().filter((line) => line.startsWith(`GET /api/v1/${what}/`));

describe('a suspended execution', () => {
	it('wakes on a genuine delivery, and asks the service for the result only after that', async () => {
		const { deliver, finish, taskOf } = await suspended(['a']);
		finish('a');
		const asked = service.lines().length;
		const { status, woken } = await deliver('a');
		expect(status).toBe(200);
		expect(asked).toBe(0);
		expect(woken?.next).toEqual([
			expect.objectContaining({ task_id: taskOf('a').id, text: expect.any(String) }),
		]);
		// The state of the task and its result, nothing before the execution was woken.
		expect(service.lines()).toEqual([
			`GET /api/v1/tasks/${taskOf('a').id}`,
			`GET /api/v1/tasks/${taskOf('a').id}/result`,
		]);
	});

	long.it(
		'asks nothing about the one item whose genuine delivery has come while another is open',
		async () => {
			const { deliver, finish, taskOf } = await suspended(['a', 'b']);
			finish('a');
			expect((await deliver('a')).status).toBe(200);
			expect(service.lines()).toEqual([`GET /api/v1/tasks/${taskOf('b').id}`]);
			finish('b');
			service.running().requests.splice(0);
			const { woken } = await deliver('b');
			expect(woken?.next).toHaveLength(2);
			expect(service.lines()[0]).not.toBe(`GET /api/v1/tasks/${taskOf('a').id}/result`);
		},
	);

	few.it.each(['first', 'second'])(
		'wakes on a delivery that is signed with the %s secret of a task that two items have got',
		async (which) => {
			const answer = (body: object) => ({ kind: 'respond', status: 200, body }) as const;
			const simulator = service.running();
			for (const secret of ['first', 'second']) {
				const submitted = { task_id: 'one', status: 'pending', webhook_secret: secret };
				simulator.fault({
					match: { path: '/transcribe-url$' },
					times: 1,
					action: answer(submitted),
				});
			}
			const { workflow, asleep } = await suspended(['a', 'a']);
			const raw = JSON.stringify({ task_id: 'one', status: 'completed' });
			const done = { task_id: 'one', status: 'completed' };
			simulator.fault({ match: { path: '/tasks/one$' }, times: 9, action: answer(done) });
			simulator.fault({
				match: { path: '/one/result$' },
				times: 9,
				action: answer({ text: 'hello' }),
			});
			const { status, woken } = await workflow.deliver(asleep, raw, sign(raw, which));
			expect(status).toBe(200);
			expect(woken?.json).toMatchObject([{ text: 'hello' }, { text: 'hello' }]);
		},
	);

	it('takes a task id that is a number, in the answer to the submit and in the delivery', async () => {
		const secret = 'a secret of the service';
		const body = { task_id: 4711, status: 'pending', webhook_secret: secret };
		fault({ kind: 'respond', status: 200, body }, { method: 'POST' }, 1);
		const workflow = workflowWith(AWAIT, service.credentials());
		const asleep = await workflow.start(links('a'));
		expect(asleep.isSuspended).toBe(true);
		const done = { task_id: 4711, status: 'completed' };
		fault({ kind: 'respond', status: 200, body: done }, LOOK);
		fault(
			{ kind: 'respond', status: 200, body: { text: 'Hello' } },
			{ path: '/tasks/4711/result' },
		);
		const raw = JSON.stringify({ task_id: 4711 });
		const { woken } = await workflow.deliver(asleep, raw, sign(raw, secret));
		expect(woken?.next).toEqual([expect.objectContaining({ task_id: '4711', text: 'Hello' })]);
	});

	few.it.each([500, 404, 401, 429, 503])(
		'sleeps on when the service answers %i for another item, and wakes when it is well again',
		async (status) => {
			jest.replaceProperty(RESUME, 'askAgain', 0);
			const { deliver, finish } = await suspended(['a', 'b']);
			finish('a');
			fault({ kind: 'respond', status }, LOOK, 1);
			expect(await deliver('a')).toEqual({ status: 503 });
			expect((await deliver('a')).status).toBe(200);
			finish('b');
			const { woken } = await deliver('b');
			expect(woken?.next).toHaveLength(2);
		},
	);

	describe('with a task that was deleted at the service', () => {
		beforeEach(() => void jest.replaceProperty(RESUME, 'askAgain', 0));

		/** Three tasks, the first of which the service does not know any more. */
		async function withoutTheFirst() {
			jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.05);
			const three = await suspended(['a', 'b', 'c']);
			fault({ kind: 'respond', status: 404 }, { path: `/tasks/${three.taskOf('a').id}$` });
			return three;
		}

		it('waits for the others, and wakes for them once it has been unknown for two minutes', async () => {
			const { deliver, finish, taskOf } = await withoutTheFirst();
			finish('b');
			expect(await deliver('b')).toEqual({ status: 200 });
			finish('c');
			expect(await deliver('c')).toEqual({ status: 503 });
			// They are over.
			jest.replaceProperty(POLL, 'refused', 20);
			await sleep(40);
			const { woken } = await deliver('c');
			expect(woken?.error).toContain(taskOf('a').id);
			expect(woken?.error).not.toContain('within');
		});

		long.it('sleeps on while it has been unknown for less than two minutes', async () => {
			const { deliver, finish } = await withoutTheFirst();
			finish('b');
			finish('c');
			for (let count = 0; count < 3; count++) {
				expect(await deliver('b')).toEqual({ status: 503 });
				expect(await deliver('c')).toEqual({ status: 503 });
			}
		});

		few.it.each<[string, FaultRule['action']]>([
			['refuses the key', { kind: 'respond', status: 401 }],
			['is behind a gateway without a route', { kind: 'respond', status: 404, body: 'not found' }],
		])('takes no task for deleted while the service %s', async (_, action) => {
			jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.05);
			jest.replaceProperty(POLL, 'refused', 100);
			const { deliver, finish } = await suspended(['a', 'b']);
			finish('b');
			fault(action, { method: 'GET' });
			for (let count = 0; count < 3; count++) {
				expect(await deliver('b')).toEqual({ status: 503 });
				await sleep(120);
			}
		});

		it('counts the two minutes again after a look with another answer', async () => {
			jest.replaceProperty(POLL, 'refused', 300);
			const { deliver, finish, taskOf } = await suspended(['a', 'b']);
			const path = `/tasks/${taskOf('a').id}$`;
			finish('b');
			for (const status of [404, 500, 404]) fault({ kind: 'respond', status }, { path }, 1);
			for (let count = 0; count < 3; count++) {
				expect(await deliver('b')).toEqual({ status: 503 });
				await sleep(200);
			}
		});

		it('takes it for no proof that an unsigned call is genuine', async () => {
			jest.replaceProperty(POLL, 'refused', 0);
			const { deliver, finish, rotateKey } = await withoutTheFirst();
			finish('b');
			finish('c');
			await rotateKey();
			for (let count = 0; count < 3; count++) {
				expect(await deliver('a', { signature: WRONG })).toEqual({ status: 503 });
			}
		});
	});

	describe('after the clock was set back by half an hour', () => {
		let clock: jest.SpyInstance | undefined;
		function setClockBack(): void {
			const now = Date.now.bind(Date);
			clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 1_800_000);
		}
		afterEach(() => clock?.mockRestore());

		it('asks again about a task that had not ended before', async () => {
			const { finish, deliver } = await suspended(['a', 'b', 'c']);
			finish('a');
			expect(await deliver('a')).toEqual({ status: 200 });
			setClockBack();
			// Its delivery is lost.
			finish('b');
			finish('c');
			const { woken } = await deliver('c');
			expect(woken?.next).toHaveLength(3);
		});

		it('asks again for a delivery whose secret can no longer be read', async () => {
			const { finish, deliver, rotateKey } = await suspended(['a']);
			await rotateKey();
			expect(await deliver('a')).toEqual({ status: 401 });
			setClockBack();
			finish('a');
			const { woken } = await deliver('a');
			expect(woken?.next).toHaveLength(1);
		});

		long.it('counts the two minutes of a deleted task anew', async () => {
			const refused = jest.replaceProperty(POLL, 'refused', 100);
			jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.05);
			jest.replaceProperty(RESUME, 'askAgain', 0);
			const { finish, deliver, taskOf } = await suspended(['a', 'b']);
			fault({ kind: 'respond', status: 404 }, { path: `/tasks/${taskOf('a').id}$` });
			finish('b');
			expect(await deliver('b')).toEqual({ status: 503 });
			setClockBack();
			expect(await deliver('b')).toEqual({ status: 503 });
			await sleep(120);
			const { woken } = await deliver('b');
			refused.restore();
			expect(woken?.error).toContain(taskOf('a').id);
		});
	});

	it('sleeps on when its credential cannot be read for a moment', async () => {
		const { credentials, deliver, finish } = await suspended(['a']);
		finish('a');
		const { apiKey } = credentials;
		let reads = 0;
		Object.defineProperty(credentials, 'apiKey', {
			enumerable: true,
			get: () => {
				reads += 1;
				if (reads === 1) throw new Error('database is locked');
				return apiKey;
			},
		});
		expect(await deliver('a')).toEqual({ status: 503 });
		expect((await deliver('a')).woken?.next).toHaveLength(1);
	});

	it('answers within its time when the service does not', async () => {
		jest.replaceProperty(RESUME, 'answer', 300);
		const { deliver, finish } = await suspended(['a', 'b']);
		finish('a');
		fault({ kind: 'stall' }, LOOK, 1);
		expect(await deliver('a')).toEqual({ status: 503 });
	});

	it('asks nothing for a delivery whose time was up before its turn', async () => {
		const { deliver, finish } = await suspended(['a', 'b', 'c']);
		finish('a');
		finish('c');
		fault({ kind: 'delay', ms: 300 }, LOOK, 1);
		const first = deliver('a');
		await until(() => service.lines().length === 1);
		const second = deliver('c');
		const { now } = Date;
		const isAnswered = () => service.running().requests[0]?.status !== undefined;
		const clock = jest
			.spyOn(Date, 'now')
			.mockImplementation(() => now() + (isAnswered() ? RESUME.answer : 0));
		const answers = await Promise.all([first, second]).finally(() => clock.mockRestore());
		expect(answers).toEqual([{ status: 200 }, { status: 503 }]);
		expect(service.lines()).toHaveLength(1);
	});

	it('refuses a body of more than 1 MB with 413, and what has no signature before it is read', async () => {
		const { workflow, asleep, taskOf } = await suspended(['a']);
		const raw = JSON.stringify({ task_id: taskOf('a').id, more: 'x'.repeat(1024 * 1024) });
		const signed = sign(raw, taskOf('a').secret);
		expect((await workflow.deliver(asleep, raw, signed)).status).toBe(413);
		expect((await workflow.deliver(asleep, raw)).status).toBe(401);
		const length = { 'content-length': String(2 * 1024 * 1024) };
		expect((await workflow.deliver(asleep, '{}', signed, length)).status).toBe(413);
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		['no signature', undefined],
		['a wrong signature', WRONG],
		['no hexadecimal digest', 'sha256=abc'],
		['another algorithm', `sha1=${'0'.repeat(40)}`],
	])('refuses %s with 401 and asks nobody', async (_what, signature) => {
		const { asleep, finish, taskOf, workflow } = await suspended(['a']);
		finish('a');
		const raw = JSON.stringify({ task_id: taskOf('a').id });
		expect(await workflow.deliver(asleep, raw, signature)).toEqual({ status: 401 });
		expect(service.lines()).toEqual([]);
	});

	few.it.each(['pending', 'processing', 'awaiting_balance', 'joining', 'recording'])(
		'sleeps on when a genuine delivery says %s, and wakes when one says the end',
		async (status) => {
			const { asleep, deliver, finish, taskOf, workflow } = await suspended(['a']);
			const { id, secret } = taskOf('a');
			const raw = JSON.stringify({ task_id: id, status });
			expect(await workflow.deliver(asleep, raw, sign(raw, secret))).toEqual({ status: 400 });
			expect(service.lines()).toEqual([]);
			finish('a');
			expect((await deliver('a')).woken?.next).toHaveLength(1);
			expect((await workflow.deliver(asleep, raw, sign(raw, 'another'))).status).not.toBe(400);
		},
	);

	it('wakes once, and asks once, when its time is up and n8n has not woken it yet', async () => {
		const { deliver, finish } = await suspended(['a', 'b'], {
			parameters: { waitOptions: { timeout: 0.0005 } },
		});
		await sleep(50);
		finish('a');
		const open = await Promise.all(Array.from({ length: 5 }, async () => await deliver('a')));
		expect(open.filter(({ woken }) => woken)).toEqual([]);
		expect(service.lines()).toHaveLength(1);
		finish('b');
		const all = await Promise.all(Array.from({ length: 5 }, async () => await deliver('b')));
		expect(all.filter(({ woken }) => woken)).toHaveLength(1);
	});

	it("waits until 'Timeout' for a task that its delivery ended too early", async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 0);
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 1);
		const { deliver, finish } = await suspended(['a']);
		const woken = deliver('a');
		await until(() => service.lines().length > 0);
		await sleep(500);
		finish('a');
		expect((await woken).woken?.next).toEqual([
			expect.objectContaining({ text: expect.any(String) }),
		]);
	});

	it("keeps to 'Poll Interval' also after the look on waking", async () => {
		// The interval is 10 seconds, so the next look is the last one, at half of the time that is left.
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 10);
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 2_000);
		const { deliver, finish, taskOf } = await suspended(['a'], {
			parameters: { waitOptions: { timeout: 0.001 } },
		});
		const woken = deliver('a');
		const path = `/api/v1/tasks/${taskOf('a').id}`;
		const looks = () => service.running().requests.filter((request) => request.path === path);
		await until(() => looks()[0]?.status !== undefined);
		finish('a');
		expect((await woken).woken?.next).toHaveLength(1);
		const [first, second, ...more] = looks();
		expect(more).toEqual([]);
		expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(900);
	});

	it('asks nothing for a captured delivery that is repeated while another item is open', async () => {
		const { deliver, finish } = await suspended(['a', 'b']);
		finish('a');
		await deliver('a');
		service.running().requests.splice(0);
		const answers = await Promise.all(Array.from({ length: 50 }, async () => await deliver('a')));
		expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
		expect(service.lines()).toEqual([]);
	});

	it('reads its credential once for many deliveries', async () => {
		const { credentials, deliver } = await suspended(['a']);
		const { apiKey } = credentials;
		let reads = 0;
		Object.defineProperty(credentials, 'apiKey', {
			enumerable: true,
			get: () => {
				reads += 1;
				return apiKey;
			},
		});
		await Promise.all(
			Array.from({ length: 50 }, async () => await deliver('a', { signature: WRONG })),
		);
		expect(reads).toBe(1);
	});

	long.it(
		'reads its credential again for a secret that a key of a moment ago cannot open',
		async () => {
			const { credentials, deliver, finish } = await suspended(['a']);
			finish('a');
			const { apiKey } = credentials;
			credentials.apiKey = 'the old key';
			service.running().configure({ apiKey: 'the old key' });
			await deliver('a', { signature: WRONG });
			credentials.apiKey = apiKey;
			service.running().configure({ apiKey });
			await sleep(1_100);
			service.running().requests.splice(0);
			expect((await deliver('a', { signature: WRONG })).status).toBe(401);
			expect(service.lines()).toEqual([]);
		},
	);

	it('asks again for each genuine delivery: another process may have taken one meanwhile', async () => {
		const { deliver, finish, taskOf } = await suspended(['a', 'b', 'c']);
		finish('a');
		expect((await deliver('a')).status).toBe(200);
		// These deliveries go to another process, which has nothing to do with what this one knows.
		finish('c');
		finish('b');
		const { woken } = await deliver('b');
		expect(woken?.next?.map(({ task_id: id }) => id)).toEqual(
			['a', 'b', 'c'].map((name) => taskOf(name).id),
		);
	});

	it('asks once in ten seconds while the service fails, whatever is delivered', async () => {
		const { deliver, finish } = await suspended(['a', 'b']);
		finish('a');
		fault({ kind: 'respond', status: 500 }, LOOK);
		for (let count = 0; count < 20; count++) expect((await deliver('a')).status).toBe(503);
		expect(service.lines()).toHaveLength(1);
	});

	it('wakes at the repeat, if n8n could not save that it was woken', async () => {
		const { asleep, workflow, finish, taskOf } = await suspended(['a']);
		finish('a');
		const raw = JSON.stringify({ task_id: taskOf('a').id });
		const signature = sign(raw, taskOf('a').secret);
		const full = () => {
			throw new Error('database or disk is full');
		};
		expect(await workflow.deliver(asleep, raw, signature, {}, full)).toEqual({ status: 500 });
		expect((await workflow.deliver(asleep, raw, signature)).woken?.next).toHaveLength(1);
		expect(await workflow.deliver(asleep, raw, signature)).toEqual({ status: 200 });
	});

	it('wakes at another delivery that came while n8n could not save that it was woken', async () => {
		const { asleep, workflow, finish, taskOf, deliver } = await suspended(['a', 'b']);
		for (const name of ['a', 'b']) finish(name);
		const { id, secret } = taskOf('a');
		const raw = JSON.stringify({ task_id: id });
		let other: ReturnType<typeof deliver> | undefined;
		const full = async () => {
			other = deliver('b');
			// It is answered only after this.
			await Promise.race([other, sleep(150)]);
			throw new Error('database or disk is full');
		};
		const first = await workflow.deliver(asleep, raw, sign(raw, secret), {}, full);
		expect(first).toEqual({ status: 500 });
		expect((await other)?.woken?.next).toHaveLength(2);
	});

	it('refuses with 401 what names no task of it, and asks nobody', async () => {
		const secret = 'a secret of the service';
		const body = { task_id: '4711', status: 'pending', webhook_secret: secret };
		fault({ kind: 'respond', status: 200, body }, { method: 'POST' }, 1);
		const workflow = workflowWith(AWAIT, service.credentials());
		const asleep = await workflow.start(links('a'));
		const asked = service.lines().length;
		for (const raw of [
			...[
				{},
				{ task_id: '4712' },
				{ task_id: 4712 },
				{ task_id: ['4711'] },
				{ bot_id: '4711' },
			].map((named) => JSON.stringify({ ...named, status: 'completed' })),
			...['', 'null', 'no JSON', '["4711"]'],
		]) {
			const answer = await workflow.deliver(asleep, raw, sign(raw, secret));
			expect([raw, answer]).toEqual([raw, { status: 401 }]);
		}
		expect(service.lines()).toHaveLength(asked);
	});

	it('answers 409 when it does not wait for a delivery, as in a loop before the node sleeps again', async () => {
		const { asleep, workflow, taskOf } = await suspended(['a']);
		const raw = JSON.stringify({ task_id: taskOf('a').id });
		const data = asleep.data;
		const [context] = Object.values(data.executionData?.contextData ?? {});
		const { suspension } = context as { suspension?: object };
		for (const other of [
			undefined,
			{ ...suspension, asleep: undefined },
			{ ...suspension, resumed: true },
			{ ...suspension, asleep: undefined, resumed: true },
		]) {
			Object.assign(context ?? {}, { suspension: other });
			const execution = { ...asleep, saved: workflow.save(data) };
			const answer = await workflow.deliver(execution, raw, sign(raw, taskOf('a').secret));
			expect([other, answer]).toEqual([other, { status: 409 }]);
		}
	});

	it('does not believe the status in a forged delivery when the genuine one has none', async () => {
		const { asleep, workflow, deliver, finish, taskOf } = await suspended(['a']);
		const forged = JSON.stringify({ task_id: taskOf('a').id, status: 'completed' });
		expect(await workflow.deliver(asleep, forged, WRONG)).toEqual({ status: 401 });
		finish('a');
		expect((await deliver('a')).woken?.next).toHaveLength(1);
		expect(service.lines()[0]).toBe(`GET /api/v1/tasks/${taskOf('a').id}`);
	});

	it('registers the address that n8n keeps for it', () => {
		// `isFullPath` and `restartWebhook`: the address is the one of the execution, and the node's id.
		expect(resumeWebhooks).toEqual([
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: '={{ $nodeId }}',
				isFullPath: true,
				restartWebhook: true,
			},
		]);
	});

	it('wakes once when its last delivery comes several times at once', async () => {
		const { deliver, finish } = await suspended(['a', 'b']);
		finish('a');
		finish('b');
		const answers = await Promise.all(
			['a', 'b', 'a', 'b'].map(async (name) => await deliver(name)),
		);
		expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
		expect(answers.filter(({ woken }) => woken)).toHaveLength(1);
	});
});

describe('after the API key was rotated', () => {
	it('the service is asked with the new key about the one id, and what it says counts', async () => {
		const { deliver, finish, rotateKey, taskOf } = await suspended(['a']);
		await rotateKey();
		expect(await deliver('a', { signature: WRONG })).toEqual({ status: 401 });
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${taskOf('a').id}`]);
		jest.replaceProperty(RESUME, 'askAgain', 0);
		finish('a');
		expect((await deliver('a')).woken?.next).toHaveLength(1);
	});

	long.it('unsigned calls cost the service one question in ten seconds', async () => {
		const { deliver, rotateKey } = await suspended(['a']);
		await rotateKey();
		const answers = await Promise.all(
			Array.from({ length: 50 }, async () => await deliver('a', { signature: WRONG })),
		);
		for (const { status } of answers) expect([401, 503]).toContain(status);
		expect(service.lines()).toHaveLength(1);
	});

	it('it sleeps on when the service cannot be asked', async () => {
		const { deliver, rotateKey } = await suspended(['a']);
		await rotateKey();
		fault({ kind: 'respond', status: 500 }, LOOK);
		expect(await deliver('a', { signature: WRONG })).toEqual({ status: 503 });
	});
});

describe('Retry On Fail', () => {
	few.it.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'with On Error = %s: the item that was refused fails when the others have been waited for',
		async (onError) => {
			const node = { ...RETRY_ON_FAIL, onError };
			const workflow = workflowWith(AWAIT, service.credentials(), node);
			const items = itemsOf({ url: 'nonsense' }, ...links('a', 'b').map(({ json }) => json));
			const asleep = await workflow.start(items);
			expect({ error: asleep.error, isSuspended: asleep.isSuspended }).toEqual({
				isSuspended: true,
			});
			expect(service.running().tasks()).toHaveLength(2);
			let woken;
			for (const { id, webhookSecret } of service.running().tasks()) {
				service.running().finish(id);
				const raw = JSON.stringify({ task_id: id });
				({ woken } = await workflow.deliver(asleep, raw, sign(raw, webhookSecret ?? '')));
			}
			expect(woken?.error).toBeUndefined();
			const [first, ...others] = woken?.json ?? [];
			const outcomes = [first, ...others].map((json) => json?.['error'] ?? json?.['status']);
			expect(outcomes.sort()).toEqual([
				expect.stringContaining("'URL' is not a web address: 'nonsense'"),
				'completed',
				'completed',
			]);
			expect(service.running().tasks()).toHaveLength(2);
		},
	);

	it('with On Error = Stop a submission that fails suspends nothing, and the next try takes up the rest', async () => {
		service.running().fault({
			match: { path: '/transcribe-url' },
			skip: 1,
			action: { kind: 'respond', status: 422 },
		});
		const workflow = workflowWith(AWAIT, service.credentials(), RETRY_ON_FAIL);
		const asleep = await workflow.start(links('a', 'b', 'c'));
		expect({ error: asleep.error, isSuspended: asleep.isSuspended }).toEqual({ isSuspended: true });
		expect(service.running().tasks()).toHaveLength(3);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		const { next } = await workflow.timeIsUp(asleep);
		expect(next?.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
	});

	it('an answer that has a field `error` is no failure of an item that sleeps', async () => {
		const body = { task_id: 'one', status: 'pending', error: '' };
		fault({ kind: 'respond', status: 200, body }, { method: 'POST' });
		const workflow = workflowWith(AWAIT, service.credentials(), RETRY_ON_FAIL);
		const asleep = await workflow.start(links('a'));
		expect({ error: asleep.error, isSuspended: asleep.isSuspended }).toEqual({ isSuspended: true });
	});
});

/** With this, each item is looked at, however young it is. */
const LOOKS_FIRST = { onInsufficientBalance: 'fail' };

describe('an old submission, looked at before the execution sleeps,', () => {
	/** All but the first are submitted so late that the first is old. */
	const slowly = async (node: Partial<INode> = {}) => {
		jest.replaceProperty(YOUNG, 'ms', 50);
		service.running().fault({
			match: { path: '/transcribe-url' },
			skip: 1,
			action: { kind: 'delay', ms: 200 },
		});
		const workflow = workflowWith(
			{ ...AWAIT, waitOptions: { timeout: 0.001 } },
			service.credentials(),
			node,
		);
		return { workflow, asleep: await workflow.start(links('a', 'b')) };
	};

	few.it.each([RETRY_ON_FAIL, { ...RETRY_ON_FAIL, onError: 'continueRegularOutput' as const }])(
		'is not lost when that look fails: %j',
		async (node) => {
			fault({ kind: 'respond', status: 500 }, LOOK, 1);
			const { workflow, asleep } = await slowly(node);
			expect({ error: asleep.error, isSuspended: asleep.isSuspended }).toEqual({
				isSuspended: true,
			});
			for (const { id } of service.running().tasks()) service.running().finish(id);
			const { next, error } = await workflow.timeIsUp(asleep);
			expect(error).toBeUndefined();
			expect(next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
			expect(service.running().tasks()).toHaveLength(2);
		},
	);

	long.it(
		'is looked at again when the looks took so long that it may have ended meanwhile',
		async () => {
			jest.replaceProperty(YOUNG, 'ms', 200);
			const slow = { kind: 'delay', ms: 400 } as const;
			service.running().fault({ match: { path: '/transcribe-url$' }, skip: 1, action: slow });
			// The answer shows the state before the delay.
			fault({ kind: 'delay', ms: 1500, processed: true }, LOOK, 1);
			const starting = workflowWith(AWAIT, service.credentials()).start(links('a', 'b'));
			await until(() => looksAt('tasks').length > 0);
			await sleep(300);
			for (const { id } of service.running().tasks()) service.running().finish(id);
			const { isSuspended, next } = await starting;
			expect(isSuspended).toBe(false);
			expect(next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
		},
	);

	it('sleeps, however slow the looks are', async () => {
		jest.replaceProperty(YOUNG, 'ms', 20);
		fault({ kind: 'delay', ms: 60 }, LOOK);
		const parameters = { ...AWAIT, waitOptions: LOOKS_FIRST };
		const { isSuspended } = await workflowWith(parameters, service.credentials()).start(
			links('a', 'b'),
		);
		expect([isSuspended, looksAt('tasks').length]).toEqual([true, 6]);
	});
});

it('n8n wakes it with the timer of an earlier suspension: it waits on for what is open, until Timeout', async () => {
	const { asleep, workflow, finish, taskOf } = await suspended(['a', 'b']);
	finish('a');
	const woken = workflow.isWokenTooEarly(asleep);
	await until(() => looksAt('tasks').length > 2);
	finish('b');
	const { next, error } = await woken;
	expect(error).toBeUndefined();
	expect(next?.map(({ task_id: id }) => id)).toEqual([taskOf('a').id, taskOf('b').id]);
});

describe('when the time is up', () => {
	const FETCH_LATER =
		'Fetch it later with Transcript: Wait Until Finished (a bot with Meeting: Wait Until Transcribed). A second submit is charged, too';

	const BRIEFLY = { parameters: { waitOptions: { timeout: 0.05 } } };

	it('what has ended is output, what is open is an error that names it, and a Retry fetches it later', async () => {
		const { asleep, workflow, finish, taskOf } = await suspended(['a', 'b'], BRIEFLY);
		finish('a');
		const late = await workflow.timeIsUp(asleep);
		expect(late.error).toContain(
			`Task ${taskOf('b').id} has not ended within 0.05 minutes (status: pending)`,
		);
		expect(late.error).not.toContain(taskOf('a').id);
		expect(late.next).toBeUndefined();
		finish('b');
		const retried = await workflow.retry(late);
		expect(retried.error).toBeUndefined();
		expect(retried.next?.map(({ task_id: id }) => id)).toEqual([taskOf('a').id, taskOf('b').id]);
		expect(service.running().tasks()).toHaveLength(2);
	});

	long.it(
		'each item names its own task where the node continues on errors, and all are named where it stops',
		async () => {
			const node: Partial<INode> = { onError: 'continueRegularOutput' };
			const going = await suspended(['a', 'b', 'c'], { ...BRIEFLY, node });
			const { json } = await going.workflow.timeIsUp(going.asleep);
			expect(json?.map(({ error }) => error)).toEqual(
				['a', 'b', 'c'].map((name) => {
					const words = `Task ${going.taskOf(name).id} has not ended within 0.05 minutes (status: pending).`;
					return `${words} ${FETCH_LATER} [item ${'abc'.indexOf(name)}]`;
				}),
			);
			service.running().reset();
			const stopping = await suspended(['a', 'b'], BRIEFLY);
			const { error } = await stopping.workflow.timeIsUp(stopping.asleep);
			for (const name of ['a', 'b']) expect(error).toContain(stopping.taskOf(name).id);
		},
	);

	it("n8n's Retry waits on for what is still open, until Timeout", async () => {
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 1);
		const parameters = { waitOptions: { timeout: 0.25 } };
		const { asleep, workflow, finish, taskOf } = await suspended(['a'], { parameters });
		const late = await workflow.timeIsUp(asleep);
		expect(late.error).toContain('has not ended within 0.25 minutes');
		const retry = workflow.retry(late);
		await sleep(500);
		finish('a');
		const { error, next } = await retry;
		expect(error).toBeUndefined();
		expect(next).toMatchObject([{ task_id: taskOf('a').id, status: 'completed' }]);
		expect(service.running().tasks()).toHaveLength(1);
	}, 30_000);

	it('a look that fails ends nothing: n8n may have been off, and be back before the network is', async () => {
		const { asleep, workflow, finish } = await suspended(['a'], BRIEFLY);
		finish('a');
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 1);
		fault({ kind: 'respond', status: 500 }, LOOK, 2);
		const { error, next } = await workflow.timeIsUp(asleep);
		expect(error).toBeUndefined();
		expect(next).toMatchObject([{ status: 'completed' }]);
	});

	it('a look that has failed is repeated after Poll Interval, or when the service asks for it', async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 4_000);
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 1);
		const { asleep, workflow, finish } = await suspended(['a'], BRIEFLY);
		finish('a');
		const headers = { 'retry-after': '2' };
		fault({ kind: 'respond', status: 503, headers }, LOOK, 1);
		fault({ kind: 'respond', status: 500 }, LOOK, 1);
		const { next } = await workflow.timeIsUp(asleep);
		expect(next).toMatchObject([{ status: 'completed' }]);
		const looks = service.running().requests.filter(({ path }) => /tasks.[^/]+$/.test(path));
		const [first = 0, second = 0, third = 0] = looks.slice(-3).map(({ at }) => at);
		expect(second - first).toBeGreaterThanOrEqual(1_900);
		expect(third - second).toBeGreaterThanOrEqual(900);
	}, 30_000);

	it.each([401, 403, 404, 408, 410])(
		'a look that is refused with %i counts as "not yet" for two minutes, as in a wait by polling',
		async (status) => {
			const { asleep, workflow, finish } = await suspended(['a'], BRIEFLY);
			finish('a');
			const body = { detail: { error_code: 'refused', message: 'No' } };
			fault({ kind: 'respond', status, body }, LOOK, 2);
			const { next } = await workflow.timeIsUp(asleep);
			expect(next).toMatchObject([{ status: 'completed' }]);
		},
	);

	it('a task that stays unknown to the service is an error after these two minutes', async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 500);
		const { asleep, workflow, taskOf } = await suspended(['a'], BRIEFLY);
		fault({ kind: 'respond', status: 404 }, LOOK);
		const { error } = await workflow.timeIsUp(asleep);
		expect(error).toContain(taskOf('a').id);
	});

	it('a page of a proxy instead of an answer is no end, either', async () => {
		const { asleep, workflow, finish } = await suspended(['a'], BRIEFLY);
		finish('a');
		fault({ kind: 'respond', status: 200, body: '<html>We are back soon</html>' }, LOOK, 2);
		const { next } = await workflow.timeIsUp(asleep);
		expect(next).toMatchObject([{ status: 'completed' }]);
	});

	it('all open tasks are named also where no look was answered', async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 500);
		const { asleep, workflow, taskOf } = await suspended(['a', 'b'], BRIEFLY);
		fault({ kind: 'respond', status: 500 }, LOOK);
		const { error } = await workflow.timeIsUp(asleep);
		for (const name of ['a', 'b']) expect(error).toContain(taskOf(name).id);
	});

	it('looks that fail for long are an error that names the task, and a Retry fetches it later', async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 500);
		const { asleep, workflow, finish, taskOf } = await suspended(['a'], BRIEFLY);
		finish('a');
		fault({ kind: 'respond', status: 500 }, LOOK);
		const late = await workflow.timeIsUp(asleep);
		expect(late.error).toContain(`Task ${taskOf('a').id}`);
		service.running().clearFaults();
		expect(await workflow.retry(late)).toMatchObject({ next: [{ status: 'completed' }] });
	});

	it.each<[string, FaultRule['action'], string, RegExp]>([
		[
			'refused the key',
			{ kind: 'respond', status: 401 },
			': n8n could not read its status within 0.05 minutes (status: not known; the last look: The service does not accept the API key, “Simulated fault”)',
			/Correct the key, then fetch it with/,
		],
		[
			'said that the balance is exhausted',
			{ kind: 'respond', status: 200, body: { status: 'pending', awaiting_balance: true } },
			' has not ended within 0.05 minutes (status: pending, and waits for a top-up)',
			/Fetch it later with .*, and raise 'Timeout' for the next one/,
		],
		[
			'had an internal fault',
			{ kind: 'respond', status: 500 },
			': n8n could not read its status within 0.05 minutes (status: not known; the last look: The service has an internal fault, “Simulated fault”)',
			/Fetch it later with .*, and raise 'Timeout' for the next one/,
		],
		[
			'said a status that nobody knows',
			{ kind: 'respond', status: 200, body: { status: 'succeeded' } },
			' has not ended within 0.05 minutes (status: succeeded)',
			/does not document this status/,
		],
	])(
		'the error says that the service %s, and what to do',
		async (_what, action, reason, advice) => {
			jest.replaceProperty(AFTER_WAKING, 'leastMs', 500);
			const { asleep, workflow, taskOf } = await suspended(['a'], BRIEFLY);
			fault(action, LOOK);
			const { error, description } = await workflow.timeIsUp(asleep);
			const { id } = taskOf('a');
			expect(error).toBe(`Task ${id}${reason} [item 0]`);
			expect(description).toMatch(advice);
		},
	);

	it('an item that was not waited for is looked at once, and holds nobody up', async () => {
		service.running().configure({ balance: 0 });
		const parameters = {
			waitOptions: {
				timeout: 0.05,
				onInsufficientBalance: '={{ $json.url.includes("a.mp3") ? "fail" : "keepWaiting" }}',
			},
		};
		const node: Partial<INode> = { onError: 'continueRegularOutput' };
		const { asleep, workflow, finish, taskOf } = await suspended(['a', 'b'], { parameters, node });
		service.running().topUp(500);
		finish('b');
		const before = service.lines().length;
		const { json } = await workflow.timeIsUp(asleep);
		expect(json?.[0]?.['error']).toContain(taskOf('a').id);
		expect(json?.[1]).toMatchObject({ task_id: taskOf('b').id, status: 'completed' });
		const looksAtA = service
			.lines()
			.slice(before)
			.filter((line) => line.includes(taskOf('a').id));
		expect(looksAtA).toHaveLength(1);
	});
});

it('a bot keeps its bot_id in the output after the execution was woken', async () => {
	const workflow = workflowWith(BOT, service.credentials());
	const asleep = await workflow.start(itemsOf({ url: 'https://meet.example.com/abc' }));
	const [bot] = service.running().bots();
	service.running().endMeeting(bot?.id ?? '');
	const taskId = service.running().bot(bot?.id ?? '').taskId ?? '';
	service.running().finish(taskId);
	const raw = JSON.stringify({ bot_id: bot?.id, task_id: taskId, status: 'completed' });
	const answer = await workflow.deliver(asleep, raw, sign(raw, bot?.webhookSecret ?? ''));
	expect(answer.woken?.next ?? answer).toEqual([
		expect.objectContaining({ bot_id: bot?.id, task_id: taskId, status: 'completed' }),
	]);
});

it.each([{ status: 'completed' }, {}])(
	'the task in the delivery about a bot is fetched, also if the service has removed the bot: %j',
	async (more) => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 0);
		const waitOptions = { timeout: 0.05 };
		const workflow = workflowWith({ ...BOT, waitOptions }, service.credentials());
		const asleep = await workflow.start(
			itemsOf({ url: 'https://meet.example.com/abc' }, { url: 'https://meet.example.com/def' }),
		);
		const taskIds: string[] = [];
		let woken;
		for (const { id, webhookSecret } of service.running().bots()) {
			service.running().endMeeting(id);
			const taskId = service.running().bot(id).taskId ?? '';
			taskIds.push(taskId);
			service.running().finish(taskId);
			const raw = JSON.stringify({ bot_id: id, task_id: taskId, ...more });
			({ woken } = await workflow.deliver(asleep, raw, sign(raw, webhookSecret ?? ''), {}, () => {
				fault({ kind: 'respond', status: 404 }, { method: 'GET', path: '/meeting/[^/]+$' });
			}));
		}
		expect(woken?.error).toBeUndefined();
		expect(woken?.next?.map(({ task_id: id }) => id)).toEqual(taskIds);
	},
);

it('a bot whose genuine delivery says failed has failed, whatever word its own status is', async () => {
	const workflow = workflowWith(BOT, service.credentials());
	const asleep = await workflow.start(itemsOf({ url: 'https://meet.example.com/abc' }));
	const [{ id, webhookSecret = '' } = { id: '' }] = service.running().bots();
	const body = { bot_id: id, task_id: '', status: 'could_not_join', error: 'No answer' };
	fault({ kind: 'respond', status: 200, body }, { method: 'GET' });
	const raw = JSON.stringify({ bot_id: id, task_id: '', status: 'failed' });
	const { woken } = await workflow.deliver(asleep, raw, sign(raw, webhookSecret));
	expect(woken?.error).toContain(`Meeting bot ${id} failed: No answer`);
});

describe('a bot that is cancelled without a task, because its recording was stopped,', () => {
	/** The service calls the bot cancelled for so many looks. */
	const callOff = (botId: string, looks: number) => {
		if (looks === 0) return;
		const body = { status: 'cancelled', task_id: '' };
		fault({ kind: 'respond', status: 200, body }, { path: `/meeting/${botId}$` }, looks);
	};

	/** The bots `a` and `b`. The service calls `b` cancelled for so many looks from now on. */
	async function stopped(looks: number, waitOptions = {}) {
		const parameters = { ...BOT, waitOptions: { pollInterval: 1, ...waitOptions } };
		const workflow = workflowWith(parameters, service.credentials());
		const simulator = service.running();
		const asleep = await workflow.start(
			itemsOf({ url: 'https://meet.example.com/a' }, { url: 'https://meet.example.com/b' }),
		);
		expect(asleep.isSuspended).toBe(true);
		const botOf = (name: string) => {
			const bot = simulator.bots().find((each) => each.meetingUrl.endsWith(name));
			if (!bot) throw new Error(`No bot of ${name}`);
			return bot;
		};
		const becomesTask = (name: string) => {
			const { id } = botOf(name);
			simulator.endMeeting(id);
			return simulator.bot(id).taskId ?? '';
		};
		const finish = (name: string) => simulator.finish(becomesTask(name));
		const deliver = async (name: string, more?: object) => {
			const { id, taskId, webhookSecret = '' } = botOf(name);
			const facts = more ?? { task_id: taskId, status: 'completed' };
			const raw = JSON.stringify({ bot_id: id, ...facts });
			return await workflow.deliver(asleep, raw, sign(raw, webhookSecret));
		};
		const { id: botId } = botOf('b');
		callOff(botId, looks);
		return { asleep, workflow, finish, becomesTask, deliver, botId };
	}

	it('does not keep the execution asleep: it wakes, polls the bot, and both transcripts are output', async () => {
		const { finish, deliver } = await stopped(2);
		finish('a');
		const waking = deliver('a');
		await until(() => looksAt('meeting').length >= 2);
		finish('b');
		const { woken } = await waking;
		expect(woken?.error).toBeUndefined();
		expect(woken?.next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
	});

	it('has ended when it stays so for two minutes after the waking', async () => {
		jest.replaceProperty(CALLED_OFF, 'mayGetTaskMs', 300);
		const { finish, deliver, botId } = await stopped(1e6);
		finish('a');
		const { woken } = await deliver('a');
		expect(woken?.error).toContain(`Meeting bot ${botId} was cancelled`);
	});

	it('is waited for on waking, as in polling', async () => {
		const { finish, deliver, botId } = await stopped(0);
		finish('a');
		expect(await deliver('a')).toEqual({ status: 200 });
		finish('b');
		callOff(botId, 1);
		const { woken } = await deliver('b', {});
		expect(woken?.error).toBeUndefined();
		expect(woken?.next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
	});

	it('is waited for without sleeping if it was so before the execution could sleep', async () => {
		const waitOptions = { ...LOOKS_FIRST, pollInterval: 1 };
		const workflow = workflowWith({ ...BOT, waitOptions }, service.credentials());
		callOff('[^/]+', 1e6);
		const starting = workflow.start(itemsOf({ url: 'https://meet.example.com/a' }));
		await until(() => looksAt('meeting').length > 0);
		const [{ id } = { id: '' }] = service.running().bots();
		service.running().endMeeting(id);
		service.running().finish(service.running().bot(id).taskId ?? '');
		service.running().clearFaults();
		const { isSuspended, error, next } = await starting;
		expect([isSuspended, error]).toEqual([false, undefined]);
		expect(next?.map(({ status }) => status)).toEqual(['completed']);
	});

	it.each([
		[1, undefined],
		[1e6, 'was cancelled'],
	])("is waited for briefly after 'Timeout': %p looks at it, error %p", async (looks, expected) => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 3_000);
		const { asleep, workflow, finish, botId } = await stopped(looks, { timeout: 0.05 });
		finish('a');
		finish('b');
		const { error, next } = await workflow.timeIsUp(asleep);
		if (expected) expect(error).toContain(`Meeting bot ${botId} ${expected}`);
		else expect(next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
	});
});

describe.each(['continueRegularOutput', 'continueErrorOutput', 'continueOnFail'])(
	'a credential that n8n can no longer read on waking, with On Error %s,',
	(name) => {
		const onError =
			name === 'continueOnFail' ? { continueOnFail: true } : { onError: name as INode['onError'] };

		/** Items a and b have ended. n8n cannot read the credential while `isAway`. */
		async function asleepAndAway(outcomeOfA: TaskOutcome = {}) {
			const state = { isAway: false };
			const credentials = credentialsHelper(service.credentials(), () => {
				if (state.isAway) throw new Error('The credential does not exist');
			});
			const workflow = workflowWith(AWAIT, credentials, onError);
			const asleep = await workflow.start(links('a', 'b'));
			expect(asleep.isSuspended).toBe(true);
			for (const { id, name } of service.running().tasks())
				service.running().finish(id, name.endsWith('a.mp3') ? outcomeOfA : {});
			const deliver = async () => {
				let woken: Ended | undefined;
				for (const { id, webhookSecret = '' } of service.running().tasks()) {
					const raw = JSON.stringify({ task_id: id });
					const lose = () => void (state.isAway = true);
					const answer = await workflow.deliver(asleep, raw, sign(raw, webhookSecret), {}, lose);
					woken ??= answer.woken;
				}
				if (!woken) throw new Error('The execution was not woken');
				return woken;
			};
			const timeIsUp = async () => {
				state.isAway = true;
				return await workflow.timeIsUp(asleep);
			};
			return { state, workflow, wake: { deliver, timeIsUp } };
		}

		few.it.each(['deliver', 'timeIsUp'] as const)(
			'fails the execution, and its Retry has the transcripts: %s',
			async (how) => {
				const { state, workflow, wake } = await asleepAndAway();
				const woken = await wake[how]();
				expect(woken.error).toBe('The credential does not exist');
				expect(woken.next).toBeUndefined();
				state.isAway = false;
				const { error, next } = await workflow.retry(woken);
				expect(error).toBeUndefined();
				expect(next?.map(({ text }) => typeof text)).toEqual(['string', 'string']);
				expect(service.running().tasks()).toHaveLength(2);
			},
		);

		/** As the user has saved it since. */
		const withSavedNode = (woken: Ended, { retry, save }: Workflow, node: Partial<INode>) => {
			for (const entry of woken.data.executionData?.nodeExecutionStack ?? []) {
				const { onError: _, continueOnFail: __, ...others } = entry.node;
				entry.node = { ...others, ...node };
			}
			return { retry: async () => await retry({ saved: save(woken.data) }) };
		};

		it.each([
			['continueRegularOutput', undefined, 2],
			['stopWorkflow', 'Broken', undefined],
			[undefined, 'Broken', undefined],
		] as const)(
			'leaves a Retry with the currently saved workflow the On Error of that: %s',
			async (saved, failure, items) => {
				const { state, workflow, wake } = await asleepAndAway({
					status: 'failed',
					error: 'Broken',
				});
				const woken = await wake.deliver();
				state.isAway = false;
				const { retry } = withSavedNode(woken, workflow, { onError: saved });
				const { error, next } = await retry();
				if (failure) expect(error).toContain(failure);
				else expect(error).toBeUndefined();
				expect(next?.length).toBe(items);
			},
		);

		it('changes nothing of how a later Retry goes on after errors', async () => {
			const { state, workflow, wake } = await asleepAndAway({ status: 'failed', error: 'Broken' });
			const woken = await wake.deliver();
			state.isAway = false;
			const { error, items } = await workflow.retry(woken);
			expect(error).toBeUndefined();
			const isThere = (name: string) => items.map(({ json }) => typeof json[name] === 'string');
			expect([isThere('error').sort(), isThere('text').sort()]).toEqual([
				[false, true],
				[false, true],
			]);
		});
	},
);

it('of what was asked for, the node keeps nothing but hashes', async () => {
	const prompt = 'Words that only the user knows';
	const { asleep } = await suspended(['a'], { parameters: { options: { prompt } } });
	const kept = JSON.stringify(asleep.data.executionData?.contextData['node:Transcriber']);
	expect(kept).toMatch(/"asked":"[\w-]{43}","body":"[\w-]{43}"/);
	expect(kept).not.toContain(prompt);
	expect(kept).not.toContain('https://files.example.com');
});

it('no webhook_secret is saved with the execution, wherever it stood in the answer', async () => {
	const secret = 'a secret of the service';
	const body = { task_id: 'one', webhook_secret: secret, webhook: { webhook_secret: secret } };
	fault({ kind: 'respond', status: 200, body }, { method: 'POST' });
	const workflow = workflowWith(AWAIT, service.credentials());
	const asleep = await workflow.start(links('a'));
	expect(asleep.isSuspended).toBe(true);
	expect(asleep.saved).not.toContain(secret);
});
