import { createHash } from 'crypto';
import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { apiRoot } from '../shared/api/baseUrl';
import { credentialOf } from '../shared/api/credential';
import { remembered } from '../shared/processState';

export const ACCOUNT_MEMORY = {
	/** The most tasks that are remembered as done with. Eight characters each: 80 kB. */
	done: 10_000,
	/** The most tasks of an account that are counted as "there before". The rest is for new ones. */
	census: 8_000,
	/** The most tasks that are watched until they end. */
	open: 1_000,
	/** How many of the tasks at the end of the list are remembered, see `tail`. */
	tail: 200,
	/** An activation that n8n repeats within this time is the same activation, in ms. */
	sameActivation: 5_000,
};

/** A task that has not ended yet, or that has ended and has not started the workflow yet. */
export interface OpenTask {
	id: string;
	/** It was being processed when last seen. */
	isWorking?: boolean;
	/** It has ended, and waits for its result. */
	hasEnded?: boolean;
	/** The list does not tell whether it has ended. */
	isUnclear?: boolean;
	/** The poll that last asked for this one task. */
	looked?: number;
	/** How often the service has refused it for good. */
	refusals?: number;
	/** How often its result could not be had for another reason. */
	failures?: number;
}

/** What is remembered of the account between two polls. */
export interface State {
	/** Stands for the credential and its key: another key may be the key of another account. */
	account: string;
	/** When the workflow was published, in ms since 1970. */
	since: number;
	/** When the last poll ended, in ms since 1970. */
	at: number;
	/** Counts the polls. */
	turn: number;
	/** The page size that the service accepts. */
	size: number;
	/** Whether GET /tasks heeds `status`, as far as is known. */
	filters: boolean;
	/** Hashes of the tasks that will not start the workflow any more, eight characters each. */
	done: string;
	open: OpenTask[];
	/** All tasks before this place of the list are known. */
	frontier: number;
	/** Until `complete`: hashes of the last tasks before that place, in the order of the list. */
	edge: string;
	/** All tasks of the list are known, so whatever is not known is new. */
	complete: boolean;
	/** Where the list ended, as far as is known. */
	end?: number;
	/** Until `complete`: hashes of tasks at the end of the list. What stands behind one is known or new. */
	tail: string;
	/** Where the next page stands that is read to find what nothing else finds. */
	sweep: number;
}

const HASH = 8;

/** 48 bits: with 10 000 tasks remembered, one new task in 28 billion is taken for a known one. */
export function hashOf(id: string): string {
	return createHash('sha256').update(id).digest('base64').slice(0, HASH);
}

export function hashesIn(text = ''): string[] {
	return text.match(/.{8}/g) ?? [];
}

/**
 * Reads and writes the state of one trigger. n8n keys a node's own static data by the node's NAME,
 * so renaming would lose it; here it stands in the workflow's static data, under the node's id.
 *
 * n8n saves static data when an activation ends and whenever a poll starts an execution, beside the
 * start and not in one transaction with it; a poll that finds nothing is not saved. So what matters
 * after a restart is only ever changed together with a start, and the rest is found again.
 */
export class PollStateStore {
	private readonly place: string;

	/** Names this trigger in the whole process, whatever version of its workflow is loaded. */
	private readonly key: string;

	private run?: { data: IDataObject };

	constructor(private readonly context: IPollFunctions) {
		this.place = `transcriberAccountTrigger:${context.getNode().id}`;
		this.key = `${context.getWorkflow().id ?? ''} ${this.place}`;
	}

	/** The state to go on with; undefined where this poll has to begin with what is there now. */
	load(): State | undefined {
		const own = this.data[this.place] as unknown as State | undefined;
		const other = latest.get(this.key);
		// A poll may have ended after n8n loaded the new version of this workflow.
		const state = own && other && other.at > own.at ? other : own;
		if (!state || this.isNewActivation(state)) return undefined;
		// A copy: a poll that fails leaves everything as it was.
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
	 * Runs the poll unless one of this trigger is under way: n8n starts a poll at its time, whether or
	 * not the last one has ended. The poll of a new version of the workflow takes the place of one that
	 * is under way, which has to leave everything to it: see {@link isCurrent}.
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

	/** Whether no newer poll has taken the place of this one. Only then may it save and start. */
	isCurrent(): boolean {
		return underWay.get(this.key) === this.run;
	}

	private get data(): IDataObject {
		return this.context.getWorkflowStaticData('global');
	}

	/**
	 * Publishing (n8n 1: activating) begins with what is there then. A restart of n8n (`init`), a new
	 * leader and a new version of a published workflow (`update`) go on where the last poll ended.
	 */
	private isNewActivation({ at }: State): boolean {
		if (this.context.getActivationMode() !== 'activate') return false;
		const isFirstPoll = !activated.get(this.data)?.has(this.place);
		return isFirstPoll && Date.now() - at > ACCOUNT_MEMORY.sameActivation;
	}

	/** Stands for what the account is reached with. The key itself is kept nowhere. */
	async account(): Promise<string> {
		const { baseUrl, apiKey } = await credentialOf(this.context);
		const { id } = this.context.getNode().credentials?.transcriberApi ?? {};
		return hashOf(`${apiRoot(baseUrl)} ${id ?? ''} ${apiKey}`);
	}
}

/** n8n loads a workflow once for every activation, so its static data stands for the activation. */
const activated = new WeakMap<IDataObject, Set<string>>();

/** The poll of each trigger that is under way, with the static data of the version it belongs to. */
const underWay = remembered<{ data: IDataObject }>('pollsUnderWay');

/** What the last poll of each trigger remembered in this process. */
const latest = remembered<State>('latestPollStates');
