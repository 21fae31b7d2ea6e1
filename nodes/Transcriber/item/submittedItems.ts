import { NAMELESS, REFUSED } from '../../shared/api/submission';
import { isLasting } from '../../shared/parameters/refuse';
import { STOPPED_ADVICE, continueAdvice, retryAdvice, type RetryWords } from './retryAdvice';

/**
 * What the service has accepted, or may have accepted, for the items of one run of the node, and the
 * words for it if the run fails or is stopped: the user pays for it, and n8n shows no output.
 */
export class SubmittedItems {
	private readonly accepted = new Map<number, string[]>();

	private readonly ended = new Set([REFUSED]);

	/** Items of which this run has lost the answer to a submit. */
	private readonly lost = new Set<number>();

	/** Items of which the log says that they may be accepted. */
	private readonly logged = new Set<number>();

	/** Items that a new execution may pay for again: the answer was lost, now or before, or had no id. */
	private readonly uncertain = new Set<number>();

	/** Whether the execution was stopped, or has timed out. */
	private isStopped = false;

	constructor(
		private readonly retry: RetryWords,
		private readonly log: (line: string) => void,
	) {}

	/** Notes what the service accepted for an item, e.g. `task 7f3c`. */
	accept(itemIndex: number, what: string[]): void {
		this.accepted.set(itemIndex, what);
		this.uncertain.delete(itemIndex);
		if (this.isStopped) this.logAccepted([[itemIndex, what]]);
	}

	/** What the service accepted for an item; of several, only what has not ended without a transcript. */
	acceptedFor(itemIndex: number): string[] {
		const all = this.accepted.get(itemIndex) ?? [];
		return all.length > 1 ? all.filter((what) => !this.ended.has(what)) : all;
	}

	/** Whether the service goes on with what it accepted for an item, or has finished it: that is paid for. */
	isPaidFor(itemIndex: number): boolean {
		return this.acceptedFor(itemIndex).some((what) => !this.ended.has(what));
	}

	/** Whether the service made several tasks of an item. */
	hasSeveral(itemIndex: number): boolean {
		return (this.accepted.get(itemIndex) ?? []).length > 1;
	}

	/** Notes what has ended without a transcript or cannot be found again: a retry cannot continue it. */
	endWithoutTranscript(what: string): void {
		this.ended.add(what);
	}

	/** Notes that the answer to the submit of an item was lost. */
	loseAnswer(itemIndex: number): void {
		this.lost.add(itemIndex);
	}

	/** Notes that the service may have accepted an item, and that a new execution may pay for it again. */
	mayBeAccepted(itemIndex: number): void {
		this.uncertain.add(itemIndex);
	}

	/** Notes that the execution was stopped, or has timed out, while an item was at work. */
	noteStopped(itemIndex: number): void {
		if (!this.isStopped) this.logAccepted([...this.accepted]);
		this.isStopped = true;
		for (const item of [...this.lost, ...this.uncertain]) {
			if (this.logged.has(item)) continue;
			this.logged.add(item);
			const isBeingSubmitted = item === itemIndex && !this.accepted.get(item)?.length;
			this.log(isBeingSubmitted ? whileSubmitting(item) : mayBeAcceptedLine(item));
		}
	}

	/**
	 * The description of a failure that stops the node: its own, what is accepted and can still give a
	 * transcript, how to get that without paying twice, and which other items may be accepted. Where no
	 * Retry can mend the failure, its own message already names the tasks of its item, and says what to do
	 * about them: the description repeats them only if one of them has ended, or n8n offers no Retry.
	 */
	describe(
		failedItem: number,
		error: Error,
		{ own, isStopped }: { own?: string; isStopped: boolean },
	): string {
		const isNamed = (all: string[]) =>
			isLasting(error) && !isStopped && !all.some((what) => this.ended.has(what));
		const list = [...this.accepted]
			.filter(([item, all]) => item !== failedItem || !isNamed(all))
			.sort(([a], [b]) => a - b)
			.flatMap(([item, all]) => all.map((what) => ({ item, what })))
			.filter(({ what }) => !this.ended.has(what))
			.map(({ item, what }) => `item ${item}: ${what}`)
			.join(', ');
		const failedAdvice = isLasting(error)
			? continueAdvice(this.retry, this.chargedAgain(failedItem))
			: retryAdvice(this.retry);
		const note = `Already accepted by the service: ${list}. ${isStopped ? STOPPED_ADVICE : failedAdvice}`;
		return [own, list && note, this.mayBeAcceptedBeside(failedItem)].filter(Boolean).join(' ');
	}

	/** The item that failed, in words, if a new execution with it alone would pay for it again. */
	private chargedAgain(failedItem: number): string {
		const all = this.accepted.get(failedItem) ?? [];
		// One that has ended without a transcript may be submitted again, and the item is in the list for the others.
		if (all.length > 0 && !all.some((what) => this.ended.has(what))) return `item ${failedItem}`;
		return this.uncertain.has(failedItem) ? `perhaps item ${failedItem}` : '';
	}

	/** n8n 2 drops the output and the error of a node whose execution the user has stopped. */
	private logAccepted(accepted: Array<[item: number, what: string[]]>): void {
		const goingOn = accepted
			.flatMap(([item, all]) => all.map((what) => ({ item, what })))
			.filter(({ what }) => what === NAMELESS || !this.ended.has(what));
		if (goingOn.length === 0) return;
		for (const { item, what } of goingOn) if (what === NAMELESS) this.logged.add(item);
		const list = goingOn.map(({ item, what }) => `item ${item}: ${what}`).join(', ');
		this.log(`was stopped. The service goes on, and may charge: ${list}. ${STOPPED_ADVICE}`);
	}

	private mayBeAcceptedBeside(failedItem: number): string {
		const others = [...this.uncertain].filter((item) => item !== failedItem).sort((a, b) => a - b);
		if (others.length === 0) return '';
		const list = others.map((item) => `item ${item}`).join(', ');
		return `The service may also have accepted ${list}, and a ${this.retry.newExecution} would pay for that again: first look in your account at the service whether it is there.`;
	}
}

/** n8n 2 drops the error that says so. */
function whileSubmitting(itemIndex: number): string {
	return `was stopped while item ${itemIndex} was being submitted. The service may have accepted it, and may charge for it. ${LOOK}`;
}

/** The answer was lost before: n8n 2 drops the output or the error that says so, too. */
function mayBeAcceptedLine(itemIndex: number): string {
	return `was stopped. The service may have accepted item ${itemIndex}, and may charge for it. ${LOOK}`;
}

const LOOK =
	'Look in your account at the service (for a recording also with Transcript: Get Many and Return All).';
