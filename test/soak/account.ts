/** An account under load: one act after the other, each compared with the books of its service. */
import { CRASHED, WORKS, endNow, pendingTask, type Act } from '../faults/acts';
import { Cell, type Listening } from '../faults/cell';
import { EXPECTED, expectedOf, placeOf } from '../faults/expected';
import { acceptedSince, booksOf, secretsShown, type Books } from '../faults/invariants';
import { compareBooks, isAsExpected, ofVersion } from '../faults/judge';
import { UNREACHABLE } from '../faults/messages';
import { EVERY_TEN_SECONDS } from '../faults/triggerRows';
import { goodWeather } from '../faults/weather';
import type { N8nHost } from '../n8n/host';
import type { ScriptedRecording } from '../simulator';
import { handOverTo } from '../TranscriberTrigger/client';
import { Chooser, type Choice } from './choice';

/** Of every file, link and meeting: a transcript of 200 kB, so that one that is kept shows in the memory. */
const LINES = Array.from({ length: 1_000 }, (_, line) => `${line} This is simulated. `.repeat(10));
const LONG: ScriptedRecording = {
	name: '',
	seconds: 60,
	segments: LINES.map((text, line) => ({
		start: line * 0.06,
		end: (line + 1) * 0.06,
		speaker: `Speaker ${(line % 2) + 1}`,
		text,
	})),
	summary: 'A long simulated transcript',
};

export interface Done {
	/** What was done, in what weather. */
	name: string;
	result: string;
	wrong: string[];
	/** How many tasks and bots the service has accepted. */
	accepted: number;
	/** How many faults have happened to its requests, and to its deliveries. */
	troubles: number;
	disturbed: number;
}

type Counts = Pick<Done, 'accepted' | 'troubles' | 'disturbed'>;

export interface Doing {
	choice: Choice;
	act: Act;
	before: Books;
	disturbedBefore: number;
}

function disturbedDeliveries({ simulator }: Cell): number {
	return simulator.deliveries.filter(({ fault }) => fault !== undefined).length;
}

export class Account {
	readonly done: Done[] = [];

	/** Submitted with the Transcriber Trigger as receiver, and acknowledged. */
	readonly notified: string[] = [];

	/** Secrets that outputs show, as they should. */
	readonly shown: string[] = [];

	private readonly chooser: Chooser;

	constructor(
		readonly cell: Cell,
		readonly triggers: { deliveries: Listening; polled: Listening },
		private readonly trap: string,
		seed: number,
	) {
		this.chooser = new Chooser(seed, triggers.deliveries.url, (id) => this.notified.push(id));
	}

	static async open(n8n: N8nHost, receiver: string, trap: string, seed: number): Promise<Account> {
		const cell = await Cell.open(n8n, receiver);
		cell.simulator.configure({ balance: 1e6, requestLogLimit: 1e6, script: [LONG] });
		const polled = await cell.listen('transcriberAccountTrigger', EVERY_TEN_SECONDS);
		const deliveries = await cell.listen('transcriberTrigger', {});
		await cell.isListening(deliveries);
		await cell.whyNotPublished(polled);
		return new Account(cell, { deliveries, polled }, trap, seed);
	}

	/** A task in progress whose secret the standing trigger has. */
	async beginNotified(): Promise<string> {
		const { cell, triggers } = this;
		const id = await pendingTask(cell, { webhook_url: triggers.deliveries.url });
		const secret = cell.simulator.task(id).webhookSecret ?? '';
		await handOverTo(triggers.deliveries.url, id, secret, cell.apiKey, 1100);
		this.notified.push(id);
		return id;
	}

	async doOne(): Promise<void> {
		const doing = await this.begin(false);
		if (doing) await this.end(doing, false);
	}

	/** Undefined if it could not begin, which is noted. */
	async begin(isOutage: boolean): Promise<Doing | undefined> {
		const { cell } = this;
		const choice = this.chooser.next(isOutage);
		cell.executions.length = 0;
		try {
			const act = await choice.row.begin(cell);
			const before = booksOf(cell.simulator);
			const disturbedBefore = disturbedDeliveries(cell);
			const { row, weather, delivery } = choice;
			if (delivery) cell.simulator.fault({ match: { webhook: true }, action: delivery });
			if (row.kind !== 'asleep') weather?.begin(cell.simulator, row.target, this.trap);
			await act.start();
			weather?.started?.(cell.simulator, row);
			return { choice, act, before, disturbedBefore };
		} catch (error) {
			this.note(choice, String(error), [String(error)]);
			await this.tidyUp();
			return undefined;
		}
	}

	async end({ choice, act, before, disturbedBefore }: Doing, isOutage: boolean): Promise<void> {
		const { cell } = this;
		const { row, weather } = choice;
		try {
			const outcome = await act.end();
			const { result } = outcome;
			// Good weather, in which n8n's Retry comes, begins to count again.
			// A doubled delivery is in the log twice, and one is chosen for an act at most.
			const disturbed = disturbedDeliveries(cell) > disturbedBefore ? 1 : 0;
			const troubles = cell.simulator.faultsHappened - disturbed;
			// What was aimed at the act may have hit a trigger of the account, and what was aimed at its second look the first.
			const expected = [WORKS, ...(isOutage ? [CRASHED] : [])];
			if (weather) expected.push(ofVersion(expectedOf(row, weather.name), cell.n8n.version));
			if (weather && row.kind === 'look') expected.push(EXPECTED[weather.name]['first look']);
			// A trigger of the account may have made the request with which the service goes down, just before the submit.
			if (weather?.name.startsWith('refused') && row.submits > 0) expected.push(UNREACHABLE);
			// If the answer to the submit is late, the task may have ended before its hand-over.
			if ((weather || isOutage) && row.name.includes('notifyTrigger'))
				expected.push('only after its end');
			// n8n has no Retry for an execution that was started in the editor and has crashed.
			const isCrash = isOutage && result === CRASHED;
			const begun = { row, cell, before, isKilled: isOutage };
			const { wrong } = await compareBooks(
				begun,
				isCrash ? { result } : outcome,
				isCrash ? {} : undefined,
			);
			if (isCrash && acceptedSince(before, cell.simulator).length > row.submits)
				wrong.push('PAID TWICE, without a Retry');
			const words = placeOf(row, weather?.name);
			if (!expected.some((one) => isAsExpected(outcome, one, words))) wrong.push(`“${result}”`);
			if (weather && troubles === 0) wrong.push('the fault has not happened');
			this.shown.push(...secretsShown(cell));
			const accepted = acceptedSince(before, cell.simulator).length;
			this.note(choice, result, wrong, { accepted, troubles, disturbed });
		} catch (error) {
			this.note(choice, String(error), [String(error)]);
		}
		await this.tidyUp();
	}

	private note(
		choice: Choice,
		result: string,
		wrong: string[],
		counts: Counts = { accepted: 0, troubles: 0, disturbed: 0 },
	): void {
		const { row, weather, delivery } = choice;
		const name = [row.name, weather?.name, delivery && `delivery: ${delivery.kind}`]
			.filter(Boolean)
			.join(' × ');
		this.done.push({ name, result, wrong, ...counts });
		if (wrong.length > 0) console.log(`✗ ${name}: ${wrong.join('; ').slice(0, 600)}`);
	}

	/** Ends the weather and whatever is still in progress, and switches off the triggers of the act. */
	private async tidyUp(): Promise<void> {
		const { cell, triggers } = this;
		const { simulator } = cell;
		await goodWeather(simulator);
		await cell.switchOff([triggers.deliveries, triggers.polled]);
		for (const { id, phase } of simulator.bots()) {
			if (['scheduled', 'joining', 'recording'].includes(phase)) endNow(simulator, id);
		}
		for (const { id } of simulator.tasks()) endNow(simulator, id);
	}
}
