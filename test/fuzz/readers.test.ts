/** Whatever is read from the service or a trigger elsewhere than in an operation: lists, bots, and replies. */
import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';

import { HAND_OVER } from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { REPLY } from '../../nodes/Transcriber/submit/trigger/triggerReply';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { answeringTrigger, type TriggerAnswer } from '../support/answeringTrigger';
import { listTasks } from '../support/editor';
import { captureLogs } from '../support/logs';
import { shortenRetries } from '../support/scale';
import { findIn, secretsInAddresses } from '../support/search';
import { serviceForTests } from '../support/service';
import { AccountHost } from '../TranscriberAccountTrigger/host';
import { TriggerHost } from '../TranscriberTrigger/host';
import {
	API_KEY,
	OPERATION_MS,
	SERVICE_FIELDS,
	TOLD_SECRET,
	bodyOf,
	bodyText,
	holds,
	isPlain,
	isPolluted,
	padded,
	padding,
	within,
	type Arbitrary,
} from './fuzz';

const service = serviceForTests({ webhookRetries: 0 });
const SECRETS = [API_KEY, TOLD_SECRET];

jest.setTimeout(3_600_000);
let logs: ReturnType<typeof captureLogs>;
beforeEach(() => {
	shortenRetries(1000);
	jest.replaceProperty(RETRY, 'brief', 5_000);
	jest.replaceProperty(GRACE, 'ms', 1);
	for (const name of Object.keys(CANCEL_BOT) as Array<keyof typeof CANCEL_BOT>) {
		jest.replaceProperty(CANCEL_BOT, name, 20);
	}
	for (const name of Object.keys(HAND_OVER) as Array<keyof typeof HAND_OVER>) {
		jest.replaceProperty(HAND_OVER, name, name === 'interval' ? 2 : 20);
	}
	logs = captureLogs();
});
afterEach(() => logs.release());

/** A list as the service might give it, and its entries, which it might give instead of a task. */
const entries = fc.array(
	bodyOf({
		...SERVICE_FIELDS,
		task_id: ['a', 'b', 'c', 7],
		status: ['completed', 'failed', 'processing', 'archived'],
	}),
	{ maxLength: 4 },
);
const list = fc.oneof(
	{
		weight: 3,
		arbitrary: fc
			.tuple(entries, fc.constantFrom('tasks', 'items', 'data', ''))
			.map(([tasks, name]) => (name ? `{"${name}":[${tasks.join()}]}` : `[${tasks.join()}]`)),
	},
	bodyText,
);
const answer = (body: fc.Arbitrary<string>) =>
	fc
		.record({
			status: fc.constantFrom(200, 200, 200, 200, 200, 204, 400, 404, 500),
			body,
			padding,
		})
		.map(({ status, body: text, ...given }) => ({
			status,
			body: status === 204 ? '' : padded(text, given.padding),
		}));

/** From now on the service answers so. */
function answers(path: string, { status, body }: TriggerAnswer, skip = 0): void {
	service
		.running()
		.fault({ match: { path }, skip, times: 1e6, action: { kind: 'respond', status, body } });
}

/** What the work gives, or an error that n8n can show. Nothing of it harms. */
async function harmless<T>(work: Promise<T>, produced: () => unknown): Promise<T | undefined> {
	let failure: unknown;
	const given = await within(OPERATION_MS, work).catch((error: unknown) => {
		failure = error;
		return undefined;
	});
	const told = findIn([given, failure, produced(), logs.lines], SECRETS);
	told.push(...secretsInAddresses(service.running().requests, SECRETS));
	logs.forget();
	if (failure !== undefined) {
		const { name, message, description } = failure as Parameters<typeof isPlain>[0];
		expect({
			name,
			message,
			description,
			isPlain: isPlain({ name, message, description }),
		}).toEqual({ name, message, description, isPlain: true });
	}
	expect({ isPolluted: isPolluted(), told }).toEqual({ isPolluted: false, told: [] });
	return given;
}

it('a poll of the account survives every list, task and result, and finds what ends afterwards', async () => {
	const bad = fc.record({
		list: answer(list),
		task: answer(fc.oneof(bodyOf(SERVICE_FIELDS), bodyText)),
		polls: fc.constantFrom(1, 2, 3),
		options: fc.record({
			includeResult: fc.boolean(),
			exportFormat: fc.constantFrom('', 'srt'),
		}),
	});
	const claim = async ({ list: listed, task, polls, options }: Arbitrary<typeof bad>) => {
		service.running().reset();
		await service.completedTask();
		const host = new AccountHost(service.credentials(), { options });
		await host.activate();
		answers('/tasks$', listed);
		answers('/tasks/.+', task);
		let failed = 0;
		for (let poll = 0; poll < polls; poll++) {
			const produced = await harmless(host.poll(), () => [host.saved, host.executions]);
			if (!produced) failed += 1;
		}
		const started = host.executions.length > 0;
		service.running().clearFaults();
		const id = await service.completedTask();
		for (let poll = 0; poll < 4; poll++) {
			await harmless(host.poll(), () => [host.saved, host.executions]);
		}
		expect(host.started).toContain(id);
		return [failed > 0 ? 'fails' : 'survives', ...(started ? ['starts'] : [])];
	};
	await holds(bad, 60, claim, ['fails', 'survives'], ['starts']);
});

it('the list of the editor shows every list in words, or says why not', async () => {
	const search = fc.record({
		list: answer(list),
		filter: fc.option(fc.oneof(fc.constantFrom('a', 'completed', ' '), fc.string()), {
			nil: undefined,
		}),
		token: fc.constantFrom(undefined, '0', '20', 'x'),
		skip: fc.constantFrom(0, 0, 1),
	});
	const claim = async ({ list: listed, filter, token, skip }: Arbitrary<typeof search>) => {
		service.running().reset();
		await service.completedTask();
		answers('/tasks$', listed, skip);
		const found = await harmless(listTasks(service.credentials(), filter, token), () => []);
		if (!found) return ['fails'];
		for (const { name, value } of found.results) {
			expect([typeof name, typeof value]).toEqual(['string', 'string']);
			expect(`${name} ${value}`).not.toMatch(/\[object |\bundefined\b|\bNaN\b|Invalid/);
		}
		return [found.results.length > 0 ? 'entries' : 'nothing'];
	};
	await holds(search, 60, claim, ['fails', 'entries', 'nothing']);
});

it('a node takes every reply of a trigger, and never loses what it has submitted', async () => {
	jest.replaceProperty(REPLY, 'maxMs', 500);
	const reply = answer(
		fc.oneof(
			bodyOf({
				stored: [true, false],
				message: ['Hand-over refused', 'The clocks differ', 'No event is chosen', null, {}],
			}),
			bodyText,
		),
	).chain((given) =>
		fc.constantFrom(200, 202, 400, 401, 404, 422, 503).map((status) => ({ ...given, status })),
	);
	const replies = fc.record({ reply, isAfterSubmit: fc.boolean() });
	let given: Arbitrary<typeof replies>;
	const trigger = await answeringTrigger(API_KEY, (call) =>
		given.isAfterSubmit && call === 1
			? { status: 200, body: '{"stored":true}' }
			: { ...given.reply },
	);
	const claim = async (value: Arbitrary<typeof replies>) => {
		given = value;
		service.running().reset();
		for (const calls of [trigger.calls, trigger.heard, trigger.checks]) calls.length = 0;
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://files.example.com/talk.mp3',
			onCompletion: 'notifyTrigger',
			triggerUrl: trigger.url,
		};
		const outcome = await within(OPERATION_MS, service.run(parameters));
		const { error, items } = outcome;
		await harmless(error ? Promise.reject(error as Error) : Promise.resolve(items), () => [
			trigger.heard,
		]);
		const [task] = service.running().tasks();
		if (!value.isAfterSubmit && error) expect(task).toBeUndefined();
		const told = JSON.stringify([items, error?.message, error?.description]);
		if (task) expect(told).toContain(task.id);
		return [`${error ? 'fails' : 'succeeds'} ${task ? 'after' : 'before'} the submit`];
	};
	const often = ['fails before the submit', 'fails after the submit'];
	await holds(replies, 60, claim, often, ['succeeds after the submit']);
	trigger.close();
});

it('a trigger takes every answer about its bot, and sends no second one', async () => {
	const meetings = fc.record({
		launch: answer(
			fc.oneof(
				bodyOf({ ...SERVICE_FIELDS, bot_id: ['bot', 'bot', 7], status: ['joining', 'scheduled'] }),
				bodyText,
			),
		),
		look: answer(
			fc.oneof(
				bodyOf(SERVICE_FIELDS),
				bodyOf({ bot_id: ['bot'], status: ['joining', 'scheduled', 'recording', 'unheard-of'] }),
				bodyText,
			),
		),
		isLaunched: fc.boolean(),
		isOffBetween: fc.constantFrom(true, true, false),
		again: fc.constantFrom('activate', 'activate', 'init'),
	});
	const claim = async ({ launch, look, isLaunched, ...given }: Arbitrary<typeof meetings>) => {
		const { isOffBetween, again } = given;
		service.running().reset();
		// The bot of a trigger that was switched off can be taken back for so long.
		jest.replaceProperty(GRACE, 'ms', 2_000);
		const parameters = {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
		};
		const host = await new TriggerHost({ parameters, credentials: service.credentials() }).open();
		if (!isLaunched) answers('/meeting$', launch);
		answers('/meeting/.+', look);
		const publish = async (mode: 'activate' | 'init') => {
			let isOn = false;
			const work = host.activate(mode).then(() => (isOn = true));
			await harmless(work, () => [host.saved]);
			return isOn;
		};
		const isSent = await publish('activate');
		if (isOffBetween) await harmless(host.deactivate(), () => [host.saved]);
		const isThere = await publish(again);
		const launches = service.lines().filter((line) => line === 'POST /api/v1/meeting').length;
		// Only a user who publishes sends another bot: in place of one that is gone, or after a clear refusal.
		const isGone = isOffBetween && maySayGone(look);
		const isRefused = !isLaunched && [400, 404].includes(launch.status);
		const mayBeSecond = again === 'activate' && (isSent ? isGone : isRefused);
		expect(launches).toBeLessThanOrEqual(mayBeSecond ? 2 : 1);
		jest.replaceProperty(GRACE, 'ms', 1);
		await harmless(host.deactivate(), () => [host.saved]);
		// The cancellation goes on behind the answer.
		await sleep(60);
		await host.close();
		const elsewhere = service.running().requests.map(({ path }) => path);
		expect(elsewhere.filter((path) => !/^\/api\/v1\/(meeting|tasks)\b/.test(path))).toEqual([]);
		const isLookedAt = isSent && isOffBetween && again === 'activate';
		return [
			isSent ? 'sent' : 'not sent',
			isThere ? 'there' : 'not there',
			...(isLookedAt ? [launches === 1 ? 'kept after a look' : 'sent anew after a look'] : []),
		];
	};
	const often = ['sent', 'not sent', 'there', 'not there', 'kept after a look'];
	await holds(meetings, 60, claim, often, ['sent anew after a look']);
	// Whatever would have cancelled a bot that was taken back ends here.
	await sleep(2_100);
});

/** Whether an answer may say clearly that a bot is gone: that nobody knows it, that it has ended, or that it has a task. */
function maySayGone({ status, body }: TriggerAnswer): boolean {
	if (status === 404) return true;
	return status === 200 && /"(task_?)?(id|uuid)"|completed|failed|cancel/i.test(body);
}
