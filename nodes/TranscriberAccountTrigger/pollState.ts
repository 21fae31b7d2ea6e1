import { createHash } from 'crypto';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { apiRoot } from '../shared/api/baseUrl';
import { credentialOf } from '../shared/api/credential';
import { remembered } from '../shared/processState';
import { longestPause } from './pollTimes';

export const ACCOUNT_MEMORY = {
	/** The most finished tasks that are remembered, eight characters each: 80 kB. */
	done: 10_000,
	/** The most tasks that are recorded as existing before activation. The rest is for new tasks. */
	census: 8_000,
	/** The most unfinished tasks that are watched. */
	open: 1_000,
	/** How many tasks at the end of the list are remembered, see `tail`. */
	tail: 200,
	/** If n8n activates again within this time, in ms, it counts as the same activation. */
	sameActivation: 5_000,
	/** How late a poll may be before the trigger counts as disabled in between, in ms. */
	late: 3_600_000,
	/** The same where another process may have polled, in ms. */
	otherProcess: 24 * 3_600_000,
};

/** A task that has not ended yet, or that has ended but has not started the workflow yet. */
export interface OpenTask {
	id: string;
	/** It was being processed when last seen. */
	isWorking?: boolean;
	/** It has ended, but its result has not been fetched yet. */
	hasEnded?: boolean;
	/** The list does not say whether it has ended. */
	isUnclear?: boolean;
	/** The status that GET /tasks/{id} said, if the list cannot say more. */
	answered?: string;
	/** The poll that last asked for this one task. */
	looked?: number;
	/** How often the service has refused it for good. */
	refusals?: number;
	/** How often fetching its result has failed for another reason. */
	failures?: number;
}

/** The state of the trigger between two polls. */
export interface State {
	/** Hash of Base URL, credential id and API key: another key may mean another account. */
	account: string;
	/** When the workflow was published, in ms since 1970. */
	since: number;
	/** When the last poll ended, in ms since 1970. */
	at: number;
	/** Counts the polls. */
	turn: number;
	/** The page size that the service accepts. */
	size: number;
	/** Whether GET /tasks respects `status`, as far as is known. */
	filters: boolean;
	/** Hashes of the tasks that will not start the workflow again, eight characters each. */
	done: string;
	open: OpenTask[];
	/** All tasks before this place of the list are known. */
	frontier: number;
	/** Until `complete`: hashes of the last tasks before that place, in the order of the list. */
	edge: string;
	/** All tasks of the list are known, so every unknown task is new. */
	complete: boolean;
	/** Where the list ended, as far as is known. */
	end?: number;
	/** Until `complete`: hashes of tasks at the list's end. Unknown tasks behind them are new. */
	tail: string;
	/** The offset of the next page of the sweep, which finds what nothing else finds. */
	sweep: number;
}

const HASH = 8;

/** 48 bits: with 10 000 tasks remembered, one new task in 28 billion is taken for a known task. */
export function hashOf(id: string): string {
	return createHash('sha256').update(id).digest('base64').slice(0, HASH);
}

export function hashesIn(text = ''): string[] {
	return text.match(/.{8}/g) ?? [];
}

/**
 * Reads and writes the state of one trigger. n8n keys a node's own static data by the node's name,
 * so renaming would lose it. So the state is in the workflow's static data, under the node's id.
 *
 * n8n saves static data when an activation ends and whenever a poll starts an execution, but not in
 * the same transaction. If a poll finds nothing, n8n does not save. So any change that must survive
 * a restart comes with an output, and later polls find the rest again.
 */
export class PollStateStore {
	private readonly place: string;

	/** Identifies this trigger in the process, whatever version of its workflow is loaded. */
	private readonly key: string;

	private run?: { data: IDataObject };

	constructor(private readonly context: IPollFunctions) {
		this.place = `transcriberAccountTrigger:${context.getNode().id}`;
		this.key = `${context.getWorkflow().id ?? ''} ${this.place}`;
	}

	/** The state to continue with; undefined if this poll has to start afresh. */
	load(): State | undefined {
		const polled = lastTries.get(this.key);
		lastTries.set(this.key, { at: Date.now(), pause: longestPause(this.context.getNode()) });
		const own = this.data[this.place] as unknown as State | undefined;
		const other = latest.get(this.key);
		// A poll of the old version may have ended after n8n loaded a new version of this workflow.
		const state = own && other && other.at > own.at ? other : own;
		if (!state || this.isNewActivation(state) || this.wasDisabled(state, polled)) return undefined;
		// A copy, so that a failing poll leaves the state unchanged.
		return { ...state, open: state.open.map((task) => ({ ...task })) };
	}

	async fresh(): Promise<State> {
		return {
			account: await this.account(),
			at: Date.now(),
			since: Date.now(),
			turn: 0,
			size: 100,
			filters: true,
			done: '',
			open: [],
			frontier: 0,
			edge: '',
			complete: false,
			tail: '',
			sweep: 0,
		};
	}

	save(state: State): void {
		activated.set(this.data, (activated.get(this.data) ?? new Set()).add(this.place));
		const saved = { ...state, at: Date.now() };
		this.data[this.place] = saved as unknown as IDataObject;
		latest.set(this.key, saved);
	}

	/**
	 * Runs the poll unless another poll of this trigger is running: n8n starts each poll on schedule,
	 * whether or not the last one has ended. A poll of a new version of the workflow replaces a
	 * running poll of the old version, which then must not save or output anything: see {@link
	 * isCurrent}.
	 */
	async alone<T>(poll: () => Promise<T>): Promise<T | null> {
		if (underWay.get(this.key)?.data === this.data) return null;
		const run = { data: this.data };
		this.run = run;
		underWay.set(this.key, run);
		try {
			return await poll();
		} finally {
			if (this.isCurrent()) underWay.delete(this.key);
		}
	}

	/** Whether no newer poll has replaced this one. Only then may this poll save and output. */
	isCurrent(): boolean {
		return underWay.get(this.key) === this.run;
	}

	private get data(): IDataObject {
		return this.context.getWorkflowStaticData('global');
	}

	/**
	 * Publishing (n8n 1: activating) starts afresh. A restart of n8n (`init`), a new leader and a new
	 * version of a published workflow (`update`) continue from the last poll, see also {@link
	 * wasDisabled}.
	 */
	private isNewActivation({ at }: State): boolean {
		if (this.context.getActivationMode() !== 'activate') return false;
		return !this.isActivated && Date.now() - at > ACCOUNT_MEMORY.sameActivation;
	}

	/**
	 * Whether a new version (`update`) enables a node that was disabled in the old version: then its
	 * polls at their times are missing, or this process has never polled it. Failed polls count too.
	 */
	private wasDisabled({ at }: State, polled: Try | undefined): boolean {
		if (this.context.getActivationMode() !== 'update' || this.isActivated) return false;
		if (polled) return Date.now() - polled.at > polled.pause + ACCOUNT_MEMORY.late;
		return Date.now() - at > longestPause(this.context.getNode()) + ACCOUNT_MEMORY.otherProcess;
	}

	private get isActivated(): boolean {
		return activated.get(this.data)?.has(this.place) ?? false;
	}

	/** See {@link State.account}. A hash, so that the key itself is stored nowhere. */
	async account(): Promise<string> {
		const { baseUrl, apiKey } = await credentialOf(this.context);
		const { id } = this.context.getNode().credentials?.transcriberApi ?? {};
		return hashOf(`${apiRoot(baseUrl)} ${id ?? ''} ${apiKey}`);
	}
}

/** n8n loads static data once for every activation, so the object identifies the activation. */
const activated = new WeakMap<IDataObject, Set<string>>();

/** The running poll of each trigger, with the static data of its version of the workflow. */
const underWay = remembered<{ data: IDataObject }>('pollsUnderWay');

interface Try {
	/** In ms since 1970. */
	at: number;
	/** The longest time until the next one, in ms. */
	pause: number;
}

/** The last poll of each trigger in this process, whether or not it succeeded. */
const lastTries = remembered<Try>('pollTries');

/** The state that the last poll of each trigger saved in this process. */
const latest = remembered<State>('latestPollStates');
