import type { IExecuteData, IExecutePaginationFunctions } from 'n8n-workflow';
import type { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { checkRunIsShared, nodeContextOf, runKeyOf } from '../../shared/n8nInternals/runIdentity';
import { itemCount } from './inputItems';
import { retryWords } from './retryAdvice';
import { SubmittedItems } from './submittedItems';

/**
 * One run of the node over its items. n8n's declarative engine starts all items at once, does not
 * connect them, and reports only one failure. This class makes the items wait for each other (see
 * {@link mayBeSent}), and adds to the reported failure what the service has accepted for the other
 * items (see {@link SubmittedItems}).
 */
export class NodeRun {
	private static readonly current = new WeakMap<IExecuteData, NodeRun>();

	/** In ms since 1970. */
	readonly began = Date.now();

	private readonly items = new Set<number>();

	private readonly stop = new AbortController();

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

	private constructor(readonly submitted: SubmittedItems) {}

	/** The run of the item. An item that comes a second time (Retry On Fail) starts a new run. */
	static of(context: IExecutePaginationFunctions): NodeRun {
		const key = runKeyOf(context);
		let run = NodeRun.current.get(key);
		if (!run || run.items.has(context.getItemIndex())) {
			const where = `${context.getNode().name}: execution ${context.getExecutionId()}`;
			// With Retry On Fail, n8n runs the node again also after it was stopped.
			const told = nodeContextOf(context) as { logged?: Record<string, true> };
			const log = (line: string) => {
				if (told.logged?.[line]) return;
				told.logged = { ...told.logged, [line]: true };
				context.logger.warn(`${where} ${line}`);
			};
			run = new NodeRun(new SubmittedItems(retryWords(context), log));
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
		if (this.hasBegunAll(context)) return true;
		checkRunIsShared(context);
		// An item is missing if n8n could not evaluate its parameters. That item has failed already.
		return false;
	}

	/** Whether n8n could evaluate every item, and has begun it. */
	hasBegunAll(context: IExecutePaginationFunctions): boolean {
		return this.items.size >= itemCount(context);
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
		if (isStopped) this.submitted.noteStopped(itemIndex);
		if (!stopsNode) return;
		let own = error.description ?? undefined;
		// n8n reads the description of one failure only. To write it anew for each of a thousand stopped
		// items, whenever another one fails, would keep n8n busy for minutes.
		Object.defineProperty(error, 'description', {
			configurable: true,
			enumerable: true,
			get: () => this.submitted.describe(itemIndex, error, { own, isStopped }),
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
