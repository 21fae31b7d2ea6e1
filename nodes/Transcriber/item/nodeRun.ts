import type { IExecuteData, IExecutePaginationFunctions } from 'n8n-workflow';
import type { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { checkRunIsShared, isToolCall, runKeyOf } from '../../shared/n8nInternals/runIdentity';
import { isLasting } from '../../shared/parameters/refuse';
import {
	STOPPED_ADVICE,
	continueAdvice,
	retryAdvice,
	retryWords,
	type RetryWords,
} from './retryAdvice';

/**
 * One run of the node over its items. n8n's declarative engine starts all items at once, does not
 * connect them, and reports only one failure. This class makes the items wait for each other (see
 * {@link mayBeSent}), and adds to the reported failure what the service has accepted for the other
 * items.
 */
export class NodeRun {
	private static readonly current = new WeakMap<IExecuteData, NodeRun>();

	/** In ms since 1970. */
	readonly began = Date.now();

	private readonly items = new Set<number>();

	private readonly accepted = new Map<number, string[]>();

	private readonly ended = new Set<string>();

	private readonly stop = new AbortController();

	/** Items of which this run has lost the answer to a submit. */
	private readonly lost = new Set<number>();

	/** Items that a new execution may pay for again: the answer was lost, now or before, or had no id. */
	private readonly uncertain = new Set<number>();

	private readonly failures = new Map<number, NodeApiError | NodeOperationError>();

	private readonly barriers = new Map<string, Barrier>();

	private readonly gone = new Set<number>();

	/** Set if no delivery can wake one of the items: then the run polls for all items. */
	cannotSuspend = false;

	/** When the looks before the run suspends the execution began, in ms since 1970. */
	looksBegan: number | undefined;

	/** The last of these looks, which are taken once for all items: see `lookAgain`. */
	lastLooks: Promise<void> | undefined;

	/** Set when the run suspends the execution. After waking, n8n runs the node again. */
	isSuspended = false;

	/** Whether the execution was stopped, or has timed out. */
	private isStopped = false;

	private constructor(
		private readonly retry: RetryWords,
		private readonly log: (line: string) => void,
	) {}

	/** The run of the item. An item that comes a second time (Retry On Fail) starts a new run. */
	static of(context: IExecutePaginationFunctions): NodeRun {
		const key = runKeyOf(context);
		let run = NodeRun.current.get(key);
		if (!run || run.items.has(context.getItemIndex())) {
			const where = `${context.getNode().name}: execution ${context.getExecutionId()}`;
			run = new NodeRun(retryWords(context), (line) => context.logger.warn(`${where} ${line}`));
			NodeRun.current.set(key, run);
		}
		return run;
	}

	/** To be called before anything is awaited: the items of a run register in the same tick. */
	register(itemIndex: number): void {
		this.items.add(itemIndex);
	}

	/**
	 * To be called for an item that has passed its check. If the node continues on errors, resolves to
	 * true at once: no item waits for the others. If the node stops on errors, nothing is sent before
	 * all items of the run are checked: resolves to true if all are valid, and to false if another item
	 * is not, whose error n8n then shows.
	 */
	async mayBeSent(context: IExecutePaginationFunctions): Promise<boolean> {
		if (context.continueOnFail()) return true;
		await this.waitForAll('checked', context.getItemIndex());
		if (this.hasFailed()) return false;
		if (this.items.size >= itemCount(context) || isBatched(context)) return true;
		checkRunIsShared(context);
		// An item is missing if n8n could not evaluate its parameters. That item has failed already.
		return false;
	}

	/** Notes what the service accepted for an item, e.g. `task 7f3c`. */
	accept(itemIndex: number, what: string[]): void {
		this.accepted.set(itemIndex, what);
		if (this.isStopped) this.logAccepted([[itemIndex, what]]);
	}

	/** What the service accepted for an item. */
	acceptedFor(itemIndex: number): string[] {
		return this.accepted.get(itemIndex) ?? [];
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

	/**
	 * Aborts when a failure stops the node: n8n drops the output of all other items, so waiting for
	 * them is pointless. The reason is an {@link Abandoned}.
	 */
	get stopped(): AbortSignal {
		return this.stop.signal;
	}

	/**
	 * Notes a failure. If the failure stops the node, its description names everything accepted for
	 * the other items, even later. `isStopped`: the execution was stopped, or has timed out.
	 */
	fail(
		itemIndex: number,
		error: NodeApiError | NodeOperationError,
		{ stopsNode, isStopped }: { stopsNode: boolean; isStopped: boolean },
	): void {
		this.failures.set(itemIndex, error);
		if (isStopped && !this.isStopped) this.logAccepted([...this.accepted]);
		if (isStopped && this.lost.has(itemIndex)) this.log(mayBeAcceptedLine(itemIndex));
		this.isStopped ||= isStopped;
		if (!stopsNode) return;
		let own = error.description ?? undefined;
		// n8n reads the description of one failure only. To write it anew for each of a thousand stopped
		// items, whenever another one fails, would keep n8n busy for minutes.
		Object.defineProperty(error, 'description', {
			configurable: true,
			enumerable: true,
			get: () => this.describe(itemIndex, error, { own, isStopped }),
			set: (description?: string) => (own = description),
		});
		this.stop.abort(new Abandoned());
	}

	hasFailed(): boolean {
		return this.failures.size > 0;
	}

	/** The failed items with their error messages. */
	refusals(): Record<number, string> {
		return Object.fromEntries([...this.failures].map(([item, { message }]) => [item, message]));
	}

	/** Waits until every item of the run has reached the same point or has left. */
	async waitForAll(point: string, itemIndex: number): Promise<void> {
		const barrier = this.barriers.get(point) ?? new Barrier(this.gone);
		this.barriers.set(point, barrier);
		this.arrive(barrier, itemIndex);
		await barrier.allItemsAreThere;
	}

	/** Called when an item has its output or has failed: the other items stop waiting for it. */
	leave(itemIndex: number): void {
		this.gone.add(itemIndex);
		for (const barrier of this.barriers.values()) this.arrive(barrier, itemIndex);
	}

	private arrive(barrier: Barrier, itemIndex: number): void {
		barrier.present.add(itemIndex);
		if (barrier.present.size >= this.items.size) barrier.open();
	}

	/** n8n 2 drops the output and the error of a node whose execution the user has stopped. */
	private logAccepted(accepted: Array<[item: number, what: string[]]>): void {
		const list = accepted
			.flatMap(([item, all]) => all.map((what) => `item ${item}: ${what}`))
			.join(', ');
		if (list === '') return;
		this.log(`was stopped. The service goes on, and may charge: ${list}. ${STOPPED_ADVICE}`);
	}

	/**
	 * The description of a failure that stops the node: its own, what is accepted and can still give a
	 * transcript, how to get that without paying twice, and which other items may be accepted. An
	 * item's own error message already names its tasks, so the description repeats them only if one of
	 * them has ended, or to say how to get them although n8n offers no Retry.
	 */
	private describe(
		failedItem: number,
		error: Error,
		{ own, isStopped }: { own?: string; isStopped: boolean },
	): string {
		const isNamed = (all: string[]) => !isStopped && !all.some((what) => this.ended.has(what));
		const list = [...this.accepted]
			.filter(([item, all]) => item !== failedItem || !isNamed(all))
			.sort(([a], [b]) => a - b)
			.flatMap(([item, all]) => all.map((what) => ({ item, what })))
			.filter(({ what }) => !this.ended.has(what))
			.map(({ item, what }) => `item ${item}: ${what}`)
			.join(', ');
		const failedAdvice = (isLasting(error) ? continueAdvice : retryAdvice)(this.retry);
		const note = `Already accepted by the service: ${list}. ${isStopped ? STOPPED_ADVICE : failedAdvice}`;
		return [own, list && note, this.mayBeAcceptedBeside(failedItem)].filter(Boolean).join(' ');
	}

	private mayBeAcceptedBeside(failedItem: number): string {
		const others = [...this.uncertain].filter((item) => item !== failedItem).sort((a, b) => a - b);
		if (others.length === 0) return '';
		const list = others.map((item) => `item ${item}`).join(', ');
		return `The service may also have accepted ${list}, and a ${this.retry.newExecution} would pay for that again: first look in your account at the service whether it is there.`;
	}
}

/** n8n 2 drops the error that says so. */
function mayBeAcceptedLine(itemIndex: number): string {
	return `was stopped while item ${itemIndex} was being submitted. The service may have accepted it, and may charge for it. Look in your account at the service, or with Transcript: Get Many.`;
}

/** Ends the work on an item after another item has failed and stopped the node. */
export class Abandoned extends Error {}

/** A point of the run that no item passes before all others have reached it. */
class Barrier {
	readonly present: Set<number>;

	open = () => {};

	readonly allItemsAreThere = new Promise<void>((resolve) => {
		this.open = resolve;
	});

	constructor(gone: Set<number>) {
		this.present = new Set(gone);
	}
}

/** How many items the node handles in this run. */
export function itemCount(context: IExecutePaginationFunctions): number {
	return isToolCall(context) || context.getNode().executeOnce ? 1 : inputCount(context);
}

/** How many items come in, of which n8n drops all but the first with 'Execute Once'. */
export function inputCount(context: IExecutePaginationFunctions): number {
	return context.getExecuteData().data.main?.[0]?.length ?? 1;
}

/** n8n starts batched items one after the other, so they cannot wait for each other. */
export function isBatched(context: IExecutePaginationFunctions): boolean {
	const { batching } = context.getNodeParameter('requestOptions', {}) as {
		batching?: { batch?: { batchInterval?: number } };
	};
	return (batching?.batch?.batchInterval ?? 0) > 0;
}
