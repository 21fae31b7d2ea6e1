import { deepCopy, type IDataObject, type IPollFunctions } from 'n8n-workflow';

import { apiRoot } from '../shared/api/baseUrl';
import { credentialOf } from '../shared/api/credential';
import {
	isActivatedByN8n,
	isActivatedByUser,
	isPublishedAgain,
	isSwitchedOnByUser,
} from '../shared/n8nInternals/activation';
import {
	isSameActivation,
	noteActive,
	pollDataOf,
	wasActive,
} from '../shared/n8nInternals/pollData';
import { remembered } from '../shared/processMemory';
import { ACCOUNT_MEMORY, type State } from './rememberedBetweenPolls';
import { longestPause } from './longestPollInterval';
import { warnOfBreak } from './warnOnce';
import { hashOf } from './taskHashes';

/**
 * Reads and writes the state of one trigger. n8n keys a node's own static data by the node's name,
 * so renaming would lose it. So the state is in the workflow's static data, under the node's id.
 *
 * n8n saves static data when an activation ends and whenever a poll starts an execution, but at no
 * other time (see n8nInternals/pollData.ts). So any change that must survive a restart comes with an
 * output, and later polls find the rest again.
 */
export class PollStore {
	/** The key of the state of this trigger in the static data. */
	private readonly dataKey: string;

	/** Identifies this trigger in the process, whatever version of its workflow is loaded. */
	private readonly key: string;

	/** The beginning of the keys of all triggers of this workflow. */
	private readonly workflow: string;

	private run?: PollUnderWay;

	/** How long ago, in ms, the poll before this one began in this process. */
	sinceLastTry = Infinity;

	constructor(private readonly context: IPollFunctions) {
		this.dataKey = `transcriberAccountTrigger:${context.getNode().id}`;
		this.workflow = `${context.getWorkflow().id ?? ''} `;
		this.key = this.workflow + this.dataKey;
	}

	/**
	 * The state to continue with; undefined if this poll has to start afresh. Then the old state is
	 * over at once: if this poll fails, the next one cannot see that it has to start afresh too.
	 */
	load(): State | undefined {
		const polled = pollTries.get(this.key);
		if (polled) this.sinceLastTry = Date.now() - polled.at;
		pollTries.set(this.key, { at: Date.now(), pause: longestPause(this.context.getNode()) });
		const own = this.data[this.dataKey] as unknown as Kept | undefined;
		const other = latestPollStates.get(this.key);
		// A poll of the old version may have ended after n8n loaded a new version of this workflow.
		// To add a workflow again by itself, n8n may use static data that it loaded before all polls.
		const known = own ?? (wasActive(this.context) ? other : undefined);
		const state = known && other && other.at > known.at ? other : known;
		if (!state || 'isOver' in state) return undefined;
		const wasDisabled = this.wasDisabled(state, polled);
		if (wasDisabled) warnOfBreak(this.context, polled?.at, state.at);
		if (wasDisabled || this.isNewActivation(state)) {
			this.keep({ at: Date.now(), isOver: true });
			return undefined;
		}
		// A copy, so that a failing poll leaves the state unchanged.
		return deepCopy(state);
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

	/** Whether this is the poll with which n8n, at its start, activates a published workflow. */
	isStartOfN8n(): boolean {
		return isActivatedByN8n(this.context) && !this.isActivated;
	}

	/** Whether this is the poll with which a user publishes a new version, or the workflow again. */
	isPublishing(): boolean {
		return isActivatedByUser(this.context) && !this.isActivated;
	}

	noteActive(): void {
		noteActive(this.context, this.dataKey);
	}

	save(state: State): void {
		this.noteActive();
		this.keep({ ...state, at: Date.now() });
	}

	/**
	 * Puts the state into the static data, and the newest states of the workflow's other Account
	 * Triggers with it: each trigger may have a copy of the data, and n8n saves the whole copy.
	 */
	private keep(state: Kept): void {
		latestPollStates.set(this.key, state);
		for (const [key, newest] of latestPollStates) {
			if (!key.startsWith(this.workflow)) continue;
			const dataKey = key.slice(this.workflow.length);
			const there = this.data[dataKey] as unknown as Kept | undefined;
			if (key === this.key || !there || there.at < newest.at) {
				this.data[dataKey] = newest as unknown as IDataObject;
			}
		}
	}

	/**
	 * Runs the poll unless another poll of this trigger is running. A poll that is not run ends after
	 * the running one: in n8n 2, its end takes the sandbox for expressions away from all nodes of the workflow.
	 * A poll of a new version of the workflow replaces a running poll of the old version, which then
	 * must not save or output anything: see {@link isCurrent}.
	 */
	async alone<T>(poll: () => Promise<T>): Promise<T | null> {
		const other = pollsUnderWay.get(this.key);
		if (other?.data === this.data) {
			await other.ended;
			return null;
		}
		let end = () => {};
		const run = { data: this.data, ended: new Promise<void>((resolve) => (end = resolve)) };
		this.run = run;
		pollsUnderWay.set(this.key, run);
		try {
			return await poll();
		} finally {
			if (this.isCurrent()) pollsUnderWay.delete(this.key);
			end();
		}
	}

	/** Whether no newer poll has replaced this one. Only then may this poll save and output. */
	isCurrent(): boolean {
		return pollsUnderWay.get(this.key) === this.run;
	}

	private get data(): IDataObject {
		return pollDataOf(this.context);
	}

	/**
	 * Publishing (n8n 1: activating) starts afresh. A restart of n8n, a new leader and a new version of
	 * a published workflow continue from the last poll, see also {@link wasDisabled}.
	 */
	private isNewActivation({ at }: State): boolean {
		if (!isSwitchedOnByUser(this.context)) return false;
		return !this.isActivated && Math.abs(Date.now() - at) > ACCOUNT_MEMORY.sameActivation;
	}

	/**
	 * Whether a new version enables a node that was disabled in the old version. Then the node was not
	 * polled at its poll times, or not at all by this process. Failed polls count.
	 */
	private wasDisabled({ at }: State, polled: Try | undefined): boolean {
		if (!isPublishedAgain(this.context) || this.isActivated) return false;
		if (polled) return Date.now() - polled.at > polled.pause + ACCOUNT_MEMORY.late;
		return Date.now() - at > longestPause(this.context.getNode()) + ACCOUNT_MEMORY.otherProcess;
	}

	private get isActivated(): boolean {
		return isSameActivation(this.context, this.dataKey);
	}

	/** See {@link State.account}. A hash, so that the key itself is stored nowhere. */
	async account(): Promise<string> {
		const { baseUrl, apiKey } = await credentialOf(this.context);
		const { id } = this.context.getNode().credentials?.transcriberApi ?? {};
		return hashOf(`${apiRoot(baseUrl)} ${id ?? ''} ${apiKey}`);
	}
}

/** A state, or since when (in ms since 1970) there is none. */
type Kept = State | { at: number; isOver: true };

/** The running poll of each trigger, with the static data of its version of the workflow. */
const pollsUnderWay = remembered<PollUnderWay>('pollsUnderWay');

interface PollUnderWay {
	data: IDataObject;
	ended: Promise<void>;
}

interface Try {
	/** In ms since 1970. */
	at: number;
	/** The longest time until the next one, in ms. */
	pause: number;
}

/** The last poll of each trigger in this process, whether or not it succeeded. */
const pollTries = remembered<Try>('pollTries');

/** What the last poll of each trigger kept in this process. */
const latestPollStates = remembered<Kept>('latestPollStates');
