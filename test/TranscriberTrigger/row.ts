/**
 * Two triggers of one workflow, in up to three n8n processes that share one row of static data, and
 * what has to hold of them, for endingStore.model.test.ts. What is imitated of n8n:
 * - host.ts: every call loads the row, and saves the whole of it when it ends, without a lock
 *   (live-webhooks.js, workflow-static-data.service.js). A process that is killed saves nothing.
 * - {@link Row.saveCopy}: whoever has loaded the row earlier saves that copy whole: a polling
 *   trigger has one since the activation (active-workflow-manager.js), an execution with a node that
 *   uses static data has one since it began (execution-lifecycle-hooks.js).
 * - A workflow that is switched off has no webhooks: 404.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { Workflow, type IDataObject, type INodeTypes } from 'n8n-workflow';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { keysIn, ledgerKey, valueIn } from '../../nodes/TranscriberTrigger/staticDataLedger';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { watchMemory } from '../support/forget';
import type { ServiceForTests } from '../support/service';
import { post, putAll, sign } from './client';
import { TriggerHost, type Process } from './host';

/** The nodes as one n8n process has loaded them. A killed process leaves its place to another one. */
export interface Place {
	start(): Process;
	forget(): void;
	store: Record<string, number>;
}

export function newPlace(): Place {
	let place: Place | undefined;
	jest.isolateModules(() => {
		const forget = watchMemory();
		const limits = jest.requireActual<{ LIMITS: object }>('../../nodes/shared/api/rateLimits');
		Object.assign(limits.LIMITS, LIMITS);
		const { STORE: store } = jest.requireActual<{ STORE: Record<string, number> }>(
			'../../nodes/TranscriberTrigger/triggerMemory',
		);
		const loaded = jest.requireActual<{ TranscriberTrigger: typeof TranscriberTrigger }>(
			'../../nodes/TranscriberTrigger/TranscriberTrigger.node',
		);
		place = { start: () => new loaded.TranscriberTrigger(), forget, store };
	});
	if (!place) throw new Error('The trigger could not be loaded');
	return place;
}

/** One submission: what the model knows of it. */
export interface Submission {
	id: string;
	secret: string;
	trigger: number;
	isAcknowledged: boolean;
	/** The processes that have seen its secret, and those that have started its execution. */
	seenBy: Set<Process>;
	endedBy: Set<Process>;
	/** A delivery was answered 200. */
	isDelivered: boolean;
	/** n8n could not save its execution, so the service delivers it again. */
	isOwed: boolean;
	/** The most executions that its deliveries may have started: see {@link Row.deliver}. */
	mayStart: number;
	/** Killed with the one process that knew it, or switched off, before that had healed the row. */
	isLost: boolean;
}

/** In ms: as shipped, but shorter. */
const TIMES = { safeAfterMs: 40, recheckMs: 80, mayWaitMs: 100, mayTakeMs: 300 };
const SLOW_MS = 130;
const HEALS_WITHIN_MS = 15_000;

/** What some plan has to meet. */
export const SITUATIONS = ['a hand-over', 'a kill', 'another writer', 'a switch'] as const;
type Situation = (typeof SITUATIONS)[number];

export class Row {
	readonly submissions: Submission[] = [];

	readonly hosts: TriggerHost[] = [];

	private readonly copies: Workflow[] = [];

	private readonly background: Array<Promise<void>> = [];

	/** Who has been called since the row was last known to have everything. */
	private readonly called = new Set<Process>();

	/** Whether others have written the row since then. */
	private isOverwritten = false;

	private attempt = 0;

	/** How often the workflow was switched on or off. */
	private switches = 0;

	/** Since a switch, others may have written over what no process looks after any more: see {@link untilQuiet}. */
	private isUnwatched = false;

	/** What has happened to it, of {@link SITUATIONS}. */
	readonly met = new Set<Situation>();

	constructor(
		private readonly service: ServiceForTests,
		private readonly places: Place[],
		/** The most entries of a ledger. A small store forgets, and then only little can be promised. */
		private readonly limit: number,
	) {}

	async open(): Promise<this> {
		for (const place of this.places) {
			place.forget();
			const [secrets, endings, spent] = [this.limit, this.limit, this.limit];
			Object.assign(place.store, TIMES, { secrets, endings, spent });
		}
		const processes = this.places.map((place) => place.start());
		for (const includeResult of [false, true]) {
			const parameters = { options: { includeResult } };
			const credentials = this.service.credentials();
			const host = await new TriggerHost({ parameters, credentials, saveMs: 8 }).open();
			host.processes = processes;
			host.executionMs = 3;
			this.hosts.push(host);
		}
		const [first, other] = this.hosts;
		if (first && other) {
			Object.defineProperty(other, 'saved', {
				get: () => first.saved,
				set: (saved: string) => (first.saved = saved),
			});
		}
		for (const trigger of [0, 1, 0, 1, 1]) {
			const id = await this.service.completedTask();
			this.submissions.push({
				...{ id, secret: `secret of ${id}`, trigger, isAcknowledged: false },
				...{ seenBy: new Set(), endedBy: new Set() },
				...{ isDelivered: false, isOwed: false, mayStart: 0, isLost: false },
			});
		}
		return this;
	}

	async close(): Promise<void> {
		for (const host of this.hosts) host.processes = [];
		for (const place of this.places) place.forget();
		for (const host of this.hosts) await host.close();
	}

	get isSmall(): boolean {
		return this.limit < this.submissions.length;
	}

	/** The Transcriber node hands secrets over, as long as it takes. */
	async handOver(numbers: number[], place: number): Promise<void> {
		const all = this.numbered(numbers);
		for (const trigger of [0, 1]) {
			const mine = all.filter((each) => each.trigger === trigger);
			if (mine.length > 0) await this.handOverTo(trigger, mine, place);
		}
	}

	private async handOverTo(trigger: number, mine: Submission[], place: number): Promise<void> {
		const { host, process, url } = this.at(trigger, place);
		const { apiKey } = this.service.running();
		const handOvers = mine.map(({ id, secret }) => ({ id, kind: 'task' as const, secret }));
		for (let tries = 0; tries < 40; tries++) {
			const { status } = await putAll(url, handOvers, apiKey);
			if (!host.isActive) return expect(status).toBe(404);
			expect([200, 202]).toContain(status);
			for (const { seenBy } of mine) seenBy.add(process);
			if (status === 200) {
				this.met.add('a hand-over');
				for (const each of mine) {
					each.isAcknowledged = true;
					each.isLost = false;
					if (this.isUndisturbed && each.endedBy.size === 0) {
						expect({ stored: this.hasSecret(each) }).toEqual({ stored: true });
					}
				}
				return;
			}
			await sleep(20);
		}
		if (!this.isSmall) throw new Error('It was never stored');
	}

	/**
	 * The service delivers, to one process after the other or to several in the same moment. Each
	 * starts at most one execution, and only where neither it nor the row as it was at that moment
	 * knows of an earlier one (docs/scaling.md).
	 */
	async deliver(
		number: number,
		places: number[],
		{ kind = 'genuine', isSlow = false, isFull = false, isRepeat = false } = {},
	): Promise<void> {
		const [submission] = this.numbered([number]);
		if (!submission) return;
		const { id, secret, trigger, seenBy, endedBy } = submission;
		const body = { task_id: id, ...(!isRepeat && { attempt: ++this.attempt }) };
		const raw = JSON.stringify(body);
		const headers = {
			...(kind === 'genuine' && { 'x-service-signature': sign(raw, secret) }),
			...(kind === 'forged' && { 'x-service-signature': sign(raw, 'made up') }),
		};
		const host = this.hostOf(trigger);
		const { isActive } = host;
		const { switches } = this;
		const isAlone = places.length === 1 && this.background.length === 0;
		if (isSlow) {
			const path = `/tasks/${id}`;
			const action = { kind: 'delay' as const, ms: SLOW_MS };
			this.service.running().fault({ match: { path }, action });
		}
		host.isDatabaseFull = isFull;
		const before = this.executionsOf(submission);
		const wasDelivered = submission.isDelivered;
		const mayBeNew = new Set<Process>();
		const calls = places.map(async (place) => {
			const { process, url } = this.at(trigger, place);
			const isKnown =
				seenBy.has(process) || this.hasSecret(submission) || this.hasEnding(submission);
			if (kind === 'genuine' && !endedBy.has(process) && !this.hasEnding(submission)) {
				mayBeNew.add(process);
			}
			const { status } = await post(url, raw, headers).catch(() => ({ status: 0 }));
			if (!isActive) return expect(status).toBe(404);
			// Switched off while the call was on its way.
			if (status === 404 && switches !== this.switches) return;
			if (!host.processes.includes(process)) return;
			if (kind !== 'genuine') return expect([401, 503]).toContain(status);
			const isEnding = status === 200;
			if (isEnding) {
				submission.isDelivered = true;
				endedBy.add(process);
				seenBy.add(process);
			}
			if (this.isSmall) return;
			if (!isKnown) expect([200, 503]).toContain(status);
			else if (!isAlone) expect([200, 500, 503]).toContain(status);
			else if (isFull) expect([200, 500]).toContain(status);
			else expect(status).toBe(200);
		});
		submission.mayStart += mayBeNew.size;
		const all = Promise.all(calls).then(() => {
			host.isDatabaseFull = false;
			const started = this.executionsOf(submission) - before;
			if (kind !== 'genuine' && isAlone) expect(started).toBe(0);
			const isFirst = submission.isDelivered && !wasDelivered;
			// The process before it may have started it, and been killed before it could save that.
			const isNew = isFirst && isAlone && before === 0;
			if (isNew && !this.isSmall) expect(started).toBe(1);
			submission.isOwed = isFull && isActive && !submission.isDelivered;
			if (isAlone && this.isUndisturbed && submission.isDelivered && !this.isSmall) {
				expect({ saved: this.hasEnding(submission) }).toEqual({ saved: true });
			}
		});
		// A call that may have waited for the service saves later, in a call of its own.
		if (trigger === 1) this.isOverwritten = true;
		// The end of a slow call is looked at when everything is quiet.
		if (isSlow && isActive) this.background.push(all);
		else await all;
	}

	/** `kill -9` of one process, and the start of another one in its place. */
	kill(place: number): void {
		const { process } = this.at(0, place);
		const places = this.places[this.hostOf(0).processes.indexOf(process)];
		places?.forget();
		this.met.add('a kill');
		const others = this.hostOf(0).processes.map((one) =>
			one === process && places ? places.start() : one,
		);
		for (const host of this.hosts) host.processes = others;
		for (const submission of this.submissions) this.forgetBy(submission, process);
	}

	private forgetBy(submission: Submission, process: Process): void {
		const { seenBy, endedBy } = submission;
		// It may have started the execution, and saved that, before it could answer.
		const isSaved = this.hasEnding(submission) && this.executionsOf(submission) > 0;
		submission.isDelivered ||= isSaved;
		const hadEnded = endedBy.delete(process);
		seenBy.delete(process);
		if (this.isSmall || submission.isLost) return;
		if (submission.isDelivered ? !hadEnded : !submission.isAcknowledged) return;
		if (!this.isGone(submission)) return;
		// Only a process that lives can heal what others have written over.
		expect({ wasDisturbed: !this.isUndisturbed }).toEqual({ wasDisturbed: true });
		submission.isLost = true;
	}

	/** Whether it is neither in the row nor known to a process that lives. */
	private isGone(submission: Submission): boolean {
		const { isDelivered, endedBy, seenBy } = submission;
		if (isDelivered) return endedBy.size === 0 && !this.hasEnding(submission);
		return seenBy.size === 0 && !this.hasSecret(submission);
	}

	/** Somebody else loads the row. */
	takeCopy(): void {
		const { node, saved } = this.hostOf(0);
		const getByName = () => new TranscriberTrigger();
		const nodeTypes = { getByName, getByNameAndVersion: getByName } as unknown as INodeTypes;
		const staticData = JSON.parse(saved) as IDataObject;
		const more = { connections: {}, active: true, nodeTypes, staticData };
		this.copies.push(new Workflow({ nodes: [node], ...more }));
	}

	/** And saves what it has loaded, whatever is in the row by now. */
	saveCopy(): void {
		const copy = this.copies.shift();
		if (!copy) return;
		copy.getStaticData('global').lastItem = 'recording-1.mp3';
		const before = this.submissions.filter((each) => !this.isGone(each));
		this.hostOf(0).saved = JSON.stringify(copy.staticData);
		this.isOverwritten = true;
		this.met.add('another writer');
		// Nothing can heal what no living process knows.
		for (const each of before) each.isLost ||= this.isGone(each);
		if (this.switches > 0) this.isUnwatched = true;
	}

	/** The hooks take nothing out of the row. */
	async switchTo(isActive: boolean): Promise<void> {
		if (this.hostOf(0).isActive === isActive) return;
		this.switches += 1;
		this.met.add('a switch');
		const held = this.submissions.filter((each) => this.hasSecret(each) || this.hasEnding(each));
		const ended = this.submissions.filter((each) => this.hasEnding(each));
		for (const each of this.submissions) each.isLost ||= !this.isWhole(each);
		const { begun, open } = this.calls();
		for (const host of this.hosts) {
			if (isActive) await host.activate();
			else await host.deactivate();
			host.isActive = isActive;
		}
		if (open === 0 && this.background.length === 0 && this.calls().begun === begun) {
			const wiped = [
				...held.filter((each) => !this.hasSecret(each) && !this.hasEnding(each)),
				...ended.filter((each) => !this.hasEnding(each)),
			];
			const ids = wiped.map(({ id }) => id);
			expect({ isActive, wiped: ids }).toEqual({ isActive, wiped: [] });
			return;
		}
		// A call may have saved an older row.
		this.isUnwatched = true;
		this.isOverwritten = true;
	}

	/** The calls of all triggers, also those that processes make to themselves. */
	private calls(): { begun: number; open: number } {
		const all = this.hosts.map(({ served }) => served);
		const begun = all.reduce((sum, served) => sum + served.begun, 0);
		return { begun, open: begun - all.reduce((sum, { ended }) => sum + ended, 0) };
	}

	/**
	 * Waits until the row has everything that a living process knows: it heals by itself. Known gap:
	 * once a workflow was switched off, only the next change makes a process look again
	 * (repairStaticData.ts). So what was missing at a switch, or was written over since, may stay lost.
	 */
	async untilQuiet(): Promise<void> {
		await Promise.all(this.background.splice(0));
		if (!this.hostOf(0).isActive || this.isSmall) return;
		for (const each of this.submissions) {
			if (this.isUnwatched) each.isLost ||= !this.isWhole(each);
		}
		this.isUnwatched = false;
		const end = Date.now() + HEALS_WITHIN_MS;
		const missing = () => this.submissions.filter((each) => !this.isWhole(each));
		while (missing().length > 0 && Date.now() < end) await sleep(10);
		expect(missing()).toEqual([]);
		this.called.clear();
		this.isOverwritten = false;
	}

	private isWhole(submission: Submission): boolean {
		if (submission.isLost) return true;
		if (submission.isDelivered) return this.hasEnding(submission) && !this.hasSecret(submission);
		return !submission.isAcknowledged || this.hasSecret(submission);
	}

	/** What has to hold at the end: after a power cut, everything is still there, and only once. */
	async check(): Promise<void> {
		await this.switchTo(true);
		await this.untilQuiet();
		for (const host of this.hosts) expect(host.thrown).toEqual([]);
		this.checkSizes();
		for (const [number, { isOwed }] of this.submissions.entries()) {
			if (isOwed) await this.deliver(number, [number]);
		}
		await this.untilQuiet();
		for (const place of this.places.keys()) this.kill(place);
		for (const [number, submission] of this.submissions.entries()) {
			const { isAcknowledged, isDelivered, isLost } = submission;
			const isHere = isAcknowledged || isDelivered;
			const before = this.executionsOf(submission);
			await this.deliver(number, [number % this.places.length]);
			const started = this.executionsOf(submission) - before;
			if (!this.isSmall && !isLost && isHere) expect(started).toBe(isDelivered ? 0 : 1);
			const all = this.executionsOf(submission);
			if (!this.isSmall) expect(all).toBeLessThanOrEqual(submission.mayStart);
			if (submission.isDelivered) expect(all).toBeGreaterThan(0);
		}
		for (const host of this.hosts) expect(host.thrown).toEqual([]);
		this.checkSizes();
	}

	private checkSizes(): void {
		for (const { stored } of this.hosts) {
			for (const ledger of [stored.secrets, stored.endings]) {
				const entries = ledger.split(';').slice(0, -1);
				expect(entries.length).toBeLessThanOrEqual(this.limit);
				// Each key once, and what follows the last separator.
				expect(keysIn(ledger).size).toBe(entries.length + 1);
			}
		}
	}

	private get isUndisturbed(): boolean {
		return !this.isOverwritten && this.called.size <= 1 && this.background.length === 0;
	}

	private executionsOf({ id, trigger }: Submission): number {
		const { executions } = this.hostOf(trigger);
		return executions.flat().filter(({ json }) => json['task_id'] === id).length;
	}

	private hasSecret(submission: Submission): boolean {
		return this.valueOf(submission, 'secrets') !== undefined;
	}

	private hasEnding(submission: Submission): boolean {
		return this.valueOf(submission, 'endings') !== undefined;
	}

	private valueOf({ id, trigger }: Submission, name: 'secrets' | 'endings'): string | undefined {
		return valueIn(this.hostOf(trigger).stored[name], ledgerKey(`task ${id}`));
	}

	private numbered(numbers: number[]): Submission[] {
		const count = this.submissions.length;
		return [...new Set(numbers.map((number) => number % count))].flatMap(
			(number) => this.submissions[number] ?? [],
		);
	}

	private hostOf(trigger: number): TriggerHost {
		const host = this.hosts[trigger];
		if (!host) throw new Error('No such trigger');
		return host;
	}

	/** A process, and its own address of a trigger. */
	private at(trigger: number, place: number) {
		const host = this.hostOf(trigger);
		const at = place % host.processes.length;
		const process = host.processes[at];
		if (!process) throw new Error('No process is running');
		this.called.add(process);
		return { host, process, url: host.url.replace('/webhook', `/process-${at}/webhook`) };
	}
}
