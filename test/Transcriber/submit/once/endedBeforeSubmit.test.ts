/** What is known of a task that had already ended when it was accepted, or before its hand-over. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import {
	endedBeforeSubmit,
	hasAlreadyEnded,
	mayHaveEnded,
	type SubmissionAge,
} from '../../../../nodes/Transcriber/submit/once/endedBeforeSubmit';
import { recall, remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { callService } from '../../../../nodes/shared/api/callService';
import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import { ServiceError } from '../../../../nodes/shared/api/serviceError';
import { queueFor } from '../../../../nodes/shared/api/waitForTurn';
import { itemContext } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';
import { giveUpSoon } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';
import { until } from '../../../simulator/testing-client';

const service = serviceForTests();

const OWN_KEY = { options: { idempotencyKey: 'file-17' } };
const CALL = {
	...FILE,
	...OWN_KEY,
	onCompletion: 'callUrl',
	webhookUrl: 'https://h.example.com/a',
};

const first = ({ errors }: Awaited<ReturnType<typeof endedBeforeSubmit>>) => errors[0];

/** The refusal of an item to whose submit the service has answered with these tasks. */
async function refusal(
	answers: IDataObject[],
	parameters: INodeParameters = CALL,
	outcome = { isFresh: true, isRepeat: false },
) {
	const context = itemContext(parameters, { credentials: service.credentials() });
	const submissions = answers.map((answer) => ({ answer }));
	remember(context, { state: 'accepted', submissions, at: 0 });
	const tasks = answers.map((answer, index) => ({
		index,
		answer,
		ids: { taskId: String(answer['task_id']) },
		state: answer,
	}));
	const found = await endedBeforeSubmit(context, tasks, outcome, NodeRun.of(context));
	const failure = first(found);
	// A later try finds in the memory what the first has seen.
	const later = first(
		await endedBeforeSubmit(context, [], { isFresh: false }, NodeRun.of(context)),
	);
	expect(later?.message).toBe(failure?.message);
	const messages = found.errors.map(({ message }) => message);
	return { message: failure?.message, messages, memory: recall(context) };
}

async function mayHave(taskId: string, status = 'pending'): Promise<boolean> {
	const context = itemContext(CALL, { credentials: service.credentials() });
	return await mayHaveEnded(context, { answer: { status }, ids: { taskId } });
}

/** The next look began two seconds ago, as far as its time limit is concerned. */
function beginEarlier(): void {
	clock.mockReturnValueOnce(Date.now() - 2_000);
}
const { now } = Date;
let clock: jest.SpyInstance<number, []>;
beforeEach(() => void (clock = jest.spyOn(Date, 'now')));

const done = { task_id: 'a', status: 'completed' };
const failed = { task_id: 'b', status: 'failed', error: 'No speech' };

it('A task that had ended is refused, because nothing reports it to the address', async () => {
	const { message } = await refusal([done]);
	expect(message).toContain(
		"returned task a, which had already ended and is not reported to 'Webhook URL'",
	);
	expect(service.lines()).toEqual([]);
});

it('A task that has failed may be new: its failure is what is said', async () => {
	const { message } = await refusal([failed]);
	expect(message).toBe('Task b failed: No speech');
});

it('Of several tasks, each that has ended is named once: as not new, or with its failure', async () => {
	const others = [{ task_id: 'c', status: 'completed' }, { task_id: await service.pendingTask() }];
	const { messages } = await refusal([failed, done, ...others]);
	expect(messages).toEqual([
		expect.stringContaining('returned task a, task c, which had already ended'),
		'Task b failed: No speech',
	]);
});

it('Whether a task had ended is asked of the service, once', async () => {
	const id = await service.completedTask();
	const { message } = await refusal([{ task_id: id, status: 'pending' }]);
	expect(message).toContain(`returned task ${id}`);
	expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`]);
});

it('A service that takes long to say that a task has ended leaves it open whether the task is new', async () => {
	const id = await service.completedTask();
	const match = { method: 'GET', path: '/tasks/' };
	service.running().fault({ match, action: { kind: 'delay', ms: 1_600 } });
	const { message, memory } = await refusal([{ task_id: id, status: 'pending' }]);
	expect(message).toContain(`may have been used before: task ${id} had ended when`);
	expect(memory).toMatchObject({ hadEnded: 'perhaps' });
});

it.each<[string, (id: string) => Promise<unknown>, unknown]>([
	[
		'whether a task had ended when it was accepted',
		async (id) => (await refusal([{ task_id: id, status: 'pending' }])).message,
		expect.stringContaining("'Idempotency Key' was used before, so the service returned task"),
	],
	['whether a task may have ended by now', async (id) => await mayHave(id), true],
])(
	'The question %s does not wait behind others for the rate limit',
	async (_what, ask, expected) => {
		const id = await service.completedTask();
		const queue = queueFor(service.credentials().apiKey, 'other');
		const places = Array.from({ length: LIMITS.other - LIMITS.keptForUrgent });
		const leaves = await Promise.all(places.map(async () => await queue.take()));
		const context = itemContext(CALL, { credentials: service.credentials() });
		const waiting = callService(context, { method: 'GET', url: '/account' });
		await until(() => queue['waiting'].first.length > 0);
		const question = ask(id);
		await until(() => queue['waiting'].next.length > 0);
		const [first, ...others] = leaves;
		first?.();
		const answer = await question;
		for (const leave of others) leave();
		await waiting;
		const asked = service.lines().map((line) => line.replace('/api/v1', ''));
		expect(asked.slice(-2)).toEqual([`GET /tasks/${id}`, 'GET /account']);
		expect(answer).toEqual(expected);
	},
);

it('A service that cannot be asked leaves the task as it is: the receiver needs the secret in the output', async () => {
	giveUpSoon();
	service.running().fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 500 } });
	const { message } = await refusal([{ task_id: 'a', status: 'pending' }]);
	expect(message).toBeUndefined();
});

it('A task that is in progress is not refused', async () => {
	const { message, memory } = await refusal([{ task_id: await service.pendingTask() }]);
	expect(message).toBeUndefined();
	expect(memory).not.toHaveProperty('hadEnded');
});

it.each<[string, INodeParameters, { isFresh: boolean; isRepeat: boolean }]>([
	[
		'without an own key, which nothing can have used before',
		{ ...CALL, options: {} },
		{ isFresh: true, isRepeat: false },
	],
	['that the node itself has repeated', CALL, { isFresh: true, isRepeat: true }],
	['that an earlier try has submitted', CALL, { isFresh: false, isRepeat: false }],
	[
		'that is reported to nobody',
		{ ...CALL, onCompletion: 'poll' },
		{ isFresh: true, isRepeat: false },
	],
])('The end of a task says nothing %s', async (_what, parameters, outcome) => {
	const { message } = await refusal([done], parameters, outcome);
	expect(message).toBeUndefined();
});

it('An item of which nothing is remembered is not refused', async () => {
	const context = itemContext(CALL);
	const task = { index: 0, answer: done, ids: { taskId: 'a' }, state: done };
	for (const isFresh of [true, false]) {
		const found = await endedBeforeSubmit(context, [task], { isFresh }, NodeRun.of(context));
		expect(found.errors).toEqual([]);
	}
	expect(recall(context)).toBeUndefined();
});

describe('The webhook of a task may be missed', () => {
	const mayBeMissed = async (answer: IDataObject, age: SubmissionAge, taskId = 'a') => {
		const context = itemContext(CALL, { credentials: service.credentials() });
		return await hasAlreadyEnded(context, { answer, ids: { taskId } }, age);
	};

	it.each<[SubmissionAge, string, boolean]>([
		['slow', 'completed', true],
		['slow', 'failed', false],
		['repeated', 'completed', true],
		['repeated', 'failed', true],
		['earlier', 'completed', true],
		['earlier', 'failed', true],
	])('by a submission that is %s and has %s: %s', async (age, status, expected) => {
		expect(await mayBeMissed({ status }, age)).toBe(expected);
	});

	it.each<[SubmissionAge, boolean]>([
		['slow', false],
		['repeated', false],
		['earlier', true],
	])(
		'by a submission that is %s if the service says so, also after two seconds: %s',
		async (age, alsoLate) => {
			const id = await service.completedTask();
			expect(await mayBeMissed({ status: 'pending' }, age, id)).toBe(true);
			beginEarlier();
			expect(await mayBeMissed({ status: 'pending' }, age, id)).toBe(alsoLate);
		},
	);

	it.each<SubmissionAge>(['slow', 'repeated'])(
		'but not if the service cannot be asked about a submission that is %s',
		async (age) => {
			giveUpSoon();
			const action = { kind: 'respond', status: 404 } as const;
			service.running().fault({ match: { method: 'GET' }, action });
			expect(await mayBeMissed({ status: 'pending' }, age)).toBe(false);
		},
	);

	it('but it is not known if the service needs more than half a minute to say so of one that is earlier', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 300);
		const id = await service.completedTask();
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 503 } });
		// The first answer comes after half a minute.
		clock.mockImplementation(() => now() + (service.lines().length > 0 ? 31_000 : 0));
		const asking = mayBeMissed({ status: 'pending' }, 'earlier', id);
		await expect(asking).rejects.toThrow(ServiceError);
		clock.mockImplementation(now);
	});

	it('but it is not known if the service cannot be asked about a submission that is earlier', async () => {
		giveUpSoon();
		const action = { kind: 'respond', status: 403 } as const;
		service.running().fault({ match: { method: 'GET' }, action });
		await expect(mayBeMissed({ status: 'pending' }, 'earlier')).rejects.toThrow(ServiceError);
	});
});

it('A cancelled execution does not wait for what the service says', async () => {
	const cancel = AbortSignal.abort(new Error('The execution was cancelled'));
	const context = itemContext(CALL, { credentials: service.credentials(), cancel });
	const asking = hasAlreadyEnded(context, { answer: {}, ids: { taskId: 'a' } }, 'earlier');
	await expect(asking).rejects.toThrow('The execution was cancelled');
});

describe('A task may have ended before a hand-over that came late', () => {
	it('if the service says so, or has said so in its answer to the submit', async () => {
		expect(await mayHave(await service.completedTask())).toBe(true);
		expect(await mayHave('a', 'failed')).toBe(true);
		expect(service.lines()).toHaveLength(1);
	});

	it('but not if the service says that it goes on', async () => {
		expect(await mayHave(await service.pendingTask())).toBe(false);
	});

	it('if the service cannot be asked: the transcript would be lost unnoticed', async () => {
		giveUpSoon();
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 403 } });
		expect(await mayHave('a')).toBe(true);
	});
});
