/**
 * The life of one execution and of its Retries, step by step, for submissions.model.test.ts. The
 * node, its engine and the service are real; what n8n's server does between them is in
 * test/support/suspended.ts.
 */
import { forgetEverything } from '../../support/ownMemory';

import { setTimeout as sleep } from 'node:timers/promises';

import type { HandOver } from '../../../nodes/shared/webhook/handOverEnvelope';
import { STORED, answeringTrigger, type TriggerAnswer } from '../../support/answeringTrigger';
import type { FaultRule, LoggedRequest } from '../../simulator/index';
import { ask } from '../../simulator/testing-client';
import { itemWithFile, type ServiceForTests } from '../../support/service';
import { workflowWith, type Ended } from '../../support/suspended';
import { sign } from '../../TranscriberTrigger/client';

export interface Plan {
	operation: 'transcribeFile' | 'transcribeUrl' | 'sendBot';
	onCompletion: 'poll' | 'awaitWebhook' | 'returnTask' | 'notifyTrigger' | 'callUrl';
	items: number;
	goesOnAfterErrors: boolean;
	retriesOnFail: boolean;
	/** In minutes. */
	timeout: number;
	faults: Fault[];
	/** What the trigger does with hand-overs, besides storing them. */
	handOverFaults: HandOverFault[];
	steps: Step[];
}

export interface Fault {
	at: 'submit' | 'look' | 'result' | 'list';
	action: FaultRule['action'];
	times: number;
	skip: number;
}

export interface HandOverFault {
	answer: TriggerAnswer;
	times: number;
	skip: number;
}

export type Step =
	| { do: 'wait'; requests: number }
	| { do: 'fault'; fault: Fault }
	| { do: 'end'; item: number; status: 'completed' | 'failed' | 'cancelled' }
	| { do: 'deliver'; item: number; as: 'genuine' | 'forged' | 'unsigned' | 'early'; times: number }
	| { do: 'timeIsUp' | 'retry' | 'retryFirst' | 'cancel' | 'crash' | 'rotate' | 'tellNewKey' };

export const SITUATIONS = [
	'stopped while it runs',
	'killed while it runs',
	'a new API key',
	'a Retry',
	'a Retry of the first execution',
	'its time is up while it sleeps',
	'a delivery',
	'a delivery that is repeated',
	'a delivery that must not wake',
	'woken by a delivery',
	'a hand-over that is refused',
] as const;
type Situation = (typeof SITUATIONS)[number];

const PATHS = {
	submit: { method: 'POST', path: '/(transcribe|transcribe-url|meeting)$' },
	look: { method: 'GET', path: '/(tasks|meeting)/[^/]+$' },
	result: { method: 'GET', path: '/result$' },
	list: { method: 'GET', path: '/tasks$' },
};

/** No wait of the shortened policy comes near this. What takes longer hangs. */
const HANGS_MS = 15_000;

/** A recording as the service has it in its books. */
export interface Booked {
	id: string;
	botId?: string;
	secret?: string;
}

type Saved = Ended & { executionId: string };

/** Nobody listens there. */
const RECEIVER = 'http://127.0.0.1:9/hook';

let lives = 0;

/** The trigger of all lives: it serves the one that lives now. */
export async function triggerOfLives() {
	let now: Life | undefined;
	const { url, close } = await answeringTrigger(
		() => now?.keys ?? [],
		(_call, handedOver) => now?.takeHandOvers(handedOver) ?? STORED,
	);
	return { url, close, serve: (life: Life) => void (now = life) };
}

export class Life {
	/** API keys, and the secrets of all submissions. */
	readonly keys: string[];

	/** What contradicts the contract. */
	readonly wrong: string[] = [];

	/** What its plan has really done, and not only tried to do where it was not possible. */
	readonly met = new Set<string>();

	/** Whether the steps of the plan are still to come. */
	private isPlanned = true;

	/** An answer of the service can have been lost with the run of the node. */
	wasStopped = false;

	wasRotated = false;

	/** The secret of each submission that the trigger has stored. */
	readonly handedOver = new Map<string, string | undefined>();

	/** The trigger has refused a hand-over, or its answer was lost. */
	wasHandOverRefused = false;

	/** Tasks and bots that ended before the trigger had stored them. */
	private readonly endedUnheard = new Set<string>();

	private readonly handOverFaults: HandOverFault[];

	/** The latest execution; while it runs, as n8n has saved it last. */
	now: Saved;

	private readonly credentials;

	private readonly workflow;

	private readonly executionId = `first-${String(++lives)}`;

	private run?: Promise<void>;

	private failure?: unknown;

	/** How many calls of the workflow have not returned yet. */
	private open = 0;

	private wakings = 0;

	/** Counts crashes: what a run of an earlier process returns is lost. */
	private process = 0;

	private saved?: Saved;

	/** The first execution, once it was retried. */
	private first?: Saved;

	/** The requests whose answers n8n has forgotten. */
	private readonly forgotten = new Set<LoggedRequest>();

	constructor(
		private readonly service: ServiceForTests,
		private readonly plan: Plan,
		/** Called whenever n8n saves the execution at its end, or asleep. */
		private readonly onEnd: (ended: Ended) => void,
		triggerUrl: string,
	) {
		this.handOverFaults = plan.handOverFaults.map((fault) => ({ ...fault }));
		this.credentials = service.credentials();
		this.keys = [this.credentials.apiKey];
		const { operation, onCompletion, goesOnAfterErrors, retriesOnFail, timeout } = plan;
		this.workflow = workflowWith(
			{
				resource: operation === 'sendBot' ? 'meeting' : 'transcription',
				operation,
				...(operation === 'transcribeUrl' && { url: '={{ $json.url }}' }),
				...(operation === 'sendBot' && {
					meetingUrl: '={{ $json.url }}',
					consentAcknowledged: true,
				}),
				onCompletion,
				triggerUrl,
				webhookUrl: RECEIVER,
				waitOptions: { pollInterval: 0.005, timeout },
			},
			this.credentials,
			{
				onError: goesOnAfterErrors ? 'continueRegularOutput' : 'stopWorkflow',
				...(retriesOnFail && { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 }),
			},
		);
		this.now = { executionId: '', isSuspended: false, saved: '' } as Saved;
	}

	get isRunning(): boolean {
		return this.open > 0;
	}

	/** All steps, then good weather and patience, until nothing can be done any more. */
	async live(): Promise<void> {
		for (const fault of this.plan.faults) this.cause(fault);
		this.start();
		for (const step of this.plan.steps) await this.take(step);
		this.isPlanned = false;
		await this.comeToAnEnd();
		if (this.failure !== undefined) throw this.failure;
	}

	/** Good weather and patience. */
	private async comeToAnEnd(): Promise<void> {
		this.service.running().clearFaults();
		this.handOverFaults.length = 0;
		this.service.running().configure({ queueSeconds: 0, processingSeconds: 0, meetingSeconds: 0 });
		this.credentials.apiKey = this.service.running().apiKey;
		for (let tries = 0; tries < 6 && this.failure === undefined; tries++) {
			this.endEverything();
			await this.untilIdle(true);
			if (this.now.isSuspended) {
				for (let item = 0; item < this.plan.items; item++) this.deliver(item, 'genuine', 1);
				await this.untilIdle(true);
				if (this.now.isSuspended) this.timeIsUp();
			} else if (this.now.error !== undefined) this.retry();
			else return;
		}
	}

	private meet(situation: Situation): void {
		if (this.isPlanned) this.met.add(situation);
	}

	async take(step: Step): Promise<void> {
		switch (step.do) {
			case 'wait':
				return await this.untilRequests(step.requests);
			case 'fault':
				return this.cause(step.fault);
			case 'end':
				return this.end(step.item, step.status);
			case 'deliver':
				await this.untilItRests();
				this.deliver(step.item % this.plan.items, step.as, step.times);
				return await this.untilRequests(1);
			case 'timeIsUp':
				await this.untilItRests();
				return this.timeIsUp();
			case 'retry':
				await this.untilItRests();
				return this.retry();
			case 'retryFirst':
				await this.untilItRests();
				return this.retryFirst();
			case 'cancel':
				// A run that has taken over nothing yet could not tell a Retry what was sent before it.
				if (this.forgotten.size > 0 && this.now.saved === '') return;
				this.wasStopped ||= this.isRunning;
				if (this.isRunning) this.meet('stopped while it runs');
				return this.workflow.cancel();
			case 'crash':
				return await this.crash();
			case 'rotate': {
				const { body } = await ask(this.service.running(), 'POST /api-key/generate');
				this.keys.push(String(body['api_key']));
				this.wasRotated = true;
				this.meet('a new API key');
				return;
			}
			case 'tellNewKey':
				this.credentials.apiKey = this.service.running().apiKey;
		}
	}

	/** What the service has of each item: more than one recording of an item is paid twice. */
	books(item: number): Booked[] {
		const { tasks, bots } = this.service.running();
		if (this.plan.operation !== 'sendBot') {
			return tasks()
				.filter(({ name }) => name.endsWith(nameOf(item)))
				.map(({ id, webhookSecret: secret }) => ({ id, secret }));
		}
		return bots()
			.filter(({ meetingUrl }) => meetingUrl.endsWith(nameOf(item)))
			.map(({ id, taskId = '', webhookSecret: secret }) => ({ id: taskId, botId: id, secret }));
	}

	/**
	 * The requests that have submitted the item. The simulator does not read what it cuts or knows by
	 * its key, so those count for the item with the same key; where there is none, for each item.
	 */
	submitsOf(item: number): LoggedRequest[] {
		const submits = this.service.running().requests.filter(({ method, path }) => {
			return method === PATHS.submit.method && new RegExp(PATHS.submit.path).test(path);
		});
		const isRead = ({ body, file }: LoggedRequest) => body !== undefined || file !== undefined;
		const isOf = ({ body, file }: LoggedRequest) =>
			JSON.stringify([body, file?.name]).includes(nameOf(item));
		const keyOf = ({ headers }: LoggedRequest) => headers['idempotency-key'];
		return submits.filter((request) => {
			if (isRead(request)) return isOf(request);
			const twins = submits.filter((each) => isRead(each) && keyOf(each) === keyOf(request));
			return keyOf(request) === undefined || twins.length === 0 || twins.some(isOf);
		});
	}

	private cause({ at, action, times, skip }: Fault): void {
		this.service.running().fault({ match: PATHS[at], action, times, skip });
	}

	private start(): void {
		const items = Array.from({ length: this.plan.items }, (_, item) =>
			this.plan.operation === 'transcribeFile'
				? itemWithFile(`recording ${item}`, { fileName: nameOf(item) })
				: { json: { url: `https://meet.example.com/${nameOf(item)}` } },
		);
		this.saved = undefined;
		this.goOn(this.workflow.start(items, this.executionId));
	}

	private retry(): void {
		if (this.isRunning || this.now.isSuspended || this.now.error === undefined) return;
		this.meet('a Retry');
		this.saved = undefined;
		this.first ??= this.now;
		this.goOn(this.workflow.retry(this.now));
	}

	/**
	 * n8n offers Retry on the first execution, too, until one has succeeded (useExecutionHelpers.ts).
	 * Its data does not show what a later Retry has submitted; a killed process does not know it any
	 * more, and then only a file is safe (docs/scaling.md).
	 */
	private retryFirst(): void {
		if (this.isRunning || this.now.isSuspended || this.now.error === undefined || !this.first)
			return;
		if (this.process > 0 && this.plan.operation !== 'transcribeFile') return;
		this.meet('a Retry of the first execution');
		this.now = this.first;
		this.forgetAnswers();
		this.retry();
	}

	private timeIsUp(): void {
		if (this.isRunning || !this.now.isSuspended) return;
		this.meet('its time is up while it sleeps');
		const { now } = this;
		this.saved = { ...now, isSuspended: false, error: 'crashed' };
		this.goOn(this.workflow.timeIsUp(now).then((ended) => ({ ...now, ...ended })));
	}

	private goOn(execution: Promise<Saved>): void {
		const { process } = this;
		this.open += 1;
		this.run = this.settled(execution)
			.then((ended) => {
				if (process !== this.process) return;
				this.open -= 1;
				if (ended === this.now) return;
				this.now = ended;
				this.wakings = 0;
				this.onEnd(ended);
			})
			.catch((error: unknown) => {
				this.open = 0;
				this.failure ??= error;
			});
	}

	private deliver(item: number, as: string, times: number): void {
		if (!this.now.isSuspended || (this.isRunning && this.wakings > 0)) return;
		const { now, process } = this;
		const [booked] = this.books(item);
		if (!booked) return;
		this.meet(as === 'genuine' ? 'a delivery' : 'a delivery that must not wake');
		if (times > 1) this.meet('a delivery that is repeated');
		const isBot = this.plan.operation === 'sendBot';
		if (as !== 'early') this.end(item, 'completed');
		const { id } = this.books(item)[0] ?? booked;
		const raw = JSON.stringify({
			task_id: id,
			...(as === 'early' && { status: 'processing' }),
			...(isBot && { bot_id: booked.botId, event: 'meeting.transcript.completed' }),
			...(isBot && as !== 'early' && { status: 'completed' }),
		});
		const signature =
			as === 'unsigned'
				? undefined
				: sign(raw, as === 'forged' ? 'made up' : (booked.secret ?? ''));
		const calls = Array.from({ length: times }, async () => {
			const { thrown, woken, status } = await this.settled(
				this.workflow.deliver(now, raw, signature, {}, (saved) => {
					if (process !== this.process) return;
					this.wakings += 1;
					this.meet('woken by a delivery');
					this.saved = { ...now, saved, isSuspended: false, error: 'crashed' };
					if (this.wakings > 1) this.wrong.push('A second delivery has woken the execution');
					if (!this.mayWake()) this.wrong.push('Woken before everything had ended');
					const isProven = as === 'genuine' || (this.wasRotated && as === 'forged');
					if (!isProven) this.wrong.push(`A delivery that is ${as} has woken the execution`);
				}),
			);
			if (thrown !== undefined) this.wrong.push(`A delivery has thrown ${thrown}`);
			if (as === 'unsigned' && status !== 401) this.wrong.push(`Unsigned got ${status}`);
			return woken && { ...now, ...woken };
		});
		const before = this.run;
		this.goOn(
			Promise.all(calls).then(async (all) => {
				await before;
				return all.find((woken) => woken !== undefined) ?? this.now;
			}),
		);
	}

	/** With several items the execution resumes once, when all have ended. */
	private mayWake(): boolean {
		const all = Array.from({ length: this.plan.items }, (_, item) => item);
		const waitedFor = all.filter((item) => this.isKnown(item));
		const ends = waitedFor.flatMap((item) =>
			this.books(item).map((booked) => this.hasEnded(booked)),
		);
		return ends.every((hasEnded) => hasEnded);
	}

	hasEnded(booked: Booked): boolean {
		return !['pending', 'processing', 'meeting'].includes(this.statusOf(booked));
	}

	/** `meeting` while there is no task yet. */
	statusOf({ id, botId = '' }: Booked): string {
		const simulator = this.service.running();
		if (id !== '') return simulator.task(id).status;
		return simulator.bot(botId).phase === 'cancelled' ? 'cancelled' : 'meeting';
	}

	/** What the trigger answers to the next hand-over. An empty one, before the submit, counts too. */
	takeHandOvers(handOvers: HandOver[]): TriggerAnswer {
		for (const fault of this.handOverFaults) {
			if (fault.skip > 0) fault.skip -= 1;
			else if (fault.times > 0) {
				fault.times -= 1;
				this.wasHandOverRefused = true;
				this.meet('a hand-over that is refused');
				return fault.answer;
			}
		}
		for (const { id, secret } of handOvers) this.handedOver.set(id, secret);
		return STORED;
	}

	/** Whether the item ended while the trigger did not know it: nobody can tell whether the workflow starts for it. */
	mayBeUnheard(item: number): boolean {
		return this.books(item).some(({ id, botId }) => this.endedUnheard.has(botId ?? id));
	}

	/** Whether an answer of the service to the submit of the item has arrived whole, and was not lost. */
	isKnown(item: number): boolean {
		const answered = this.submitsOf(item).filter(({ status }) => status === 200);
		const isRemembered = answered.some((request) => !this.forgotten.has(request));
		return isRemembered && (!this.wasStopped || this.wasUsed(item));
	}

	/** Whether the node has asked for the task or bot of the item, or handed it over: then it has got the answer that names it. */
	private wasUsed(item: number): boolean {
		const ids = this.books(item).flatMap(({ id, botId }) => [botId ?? id]);
		const paths = this.service.running().requests.map(({ path }) => path);
		return ids.some((id) => this.handedOver.has(id) || paths.some((path) => path.includes(id)));
	}

	/** Whether n8n was killed or stopped while it held something of this item. */
	wasForgotten(item: number): boolean {
		return this.wasStopped || this.submitsOf(item).some((request) => this.forgotten.has(request));
	}

	private end(item: number, status: string): void {
		const simulator = this.service.running();
		for (const { id, botId } of this.books(item)) {
			if (!this.handedOver.has(botId ?? id)) this.endedUnheard.add(botId ?? id);
			const isOver = botId !== undefined && id !== '';
			if (botId !== undefined && !isOver && simulator.bot(botId).phase !== 'cancelled') {
				simulator.endMeeting(botId);
			}
		}
		for (const { id, botId } of this.books(item)) {
			if (['pending', 'processing'].includes(this.statusOf({ id, botId })))
				simulator.finish(id, { status });
		}
	}

	private endEverything(): void {
		for (let item = 0; item < this.plan.items; item++) this.end(item, 'completed');
	}

	/**
	 * `kill -9`. While it runs, an execution goes on as n8n has saved it last. Of a run that nothing
	 * was saved of, only a file is safe (docs/scaling.md), if the worker of a queue takes the job over.
	 */
	private async crash(): Promise<void> {
		const { isRunning, saved, now } = this;
		const isFirst = now.saved === '';
		const isRetry = !isFirst && !now.isSuspended;
		if (isRunning && (isRetry || (isFirst && this.plan.operation !== 'transcribeFile'))) return;
		this.process += 1;
		this.workflow.cancel();
		await this.run;
		forgetEverything();
		if (!isRunning) return;
		this.meet('killed while it runs');
		this.open = 0;
		this.wakings = 0;
		if (saved) this.now = saved;
		if (!isFirst) return;
		// What the killed process had sent may still be on its way.
		await sleep(10);
		this.forgetAnswers();
		this.start();
	}

	private forgetAnswers(): void {
		for (const request of this.service.running().requests) this.forgotten.add(request);
	}

	private async untilRequests(count: number): Promise<void> {
		const { requests } = this.service.running();
		const enough = requests.length + count;
		for (let waits = 0; this.isRunning && requests.length < enough; waits++) {
			if (waits > 50) return;
			await sleep(1);
		}
	}

	/** Until the execution sleeps or has ended, but not for ever: it may wait for a task. */
	private async untilItRests(): Promise<void> {
		for (let waits = 0; waits < 100 && this.isRunning && !this.now.isSuspended; waits++) {
			await sleep(1);
		}
	}

	private async untilIdle(endsAll: boolean): Promise<void> {
		while (this.isRunning) {
			if (endsAll) this.endEverything();
			await sleep(1);
		}
	}

	private async settled<T>(work: Promise<T>): Promise<T> {
		const tooLate = sleep(HANGS_MS, undefined, { ref: false }).then(() => {
			throw new Error(`The execution hangs: ${JSON.stringify(this.service.lines())}`);
		});
		return await Promise.race([work, tooLate]);
	}
}

export function nameOf(item: number): string {
	return `recording-${item}.mp3`;
}
