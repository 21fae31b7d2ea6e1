import { randomBytes, randomUUID } from 'node:crypto';

import type { Billing } from './billing';
import type { Clock } from './clock';
import type { Settings } from './options';
import type { SubmitParameters } from './parameters';
import { Refusal } from './refusal';
import { applyTerms, transcribe, type ScriptedRecording, type Transcript } from './transcripts';
import type { UploadedFile } from './upload';

export interface Recording {
	/** File name, link or meeting address. */
	name: string;
	seconds: number;
	parameters: SubmitParameters;
	known?: ScriptedRecording;
	file?: UploadedFile;
	/** Set when a meeting bot made the recording. */
	botId?: string;
}

export interface Task extends Recording {
	id: string;
	/** `pending`, `processing`, `completed`, `failed`, or the undocumented cancelled status. */
	status: string;
	awaitingBalance: boolean;
	progress: number;
	error?: string;
	webhookSecret?: string;
	/** The cost of the task in rubles, charged at its end. */
	cost: number;
	charged: boolean;
	/** Simulated time. */
	processingSince?: number;
	processingSeconds: number;
	transcript?: Transcript;
	/** Simulated time. */
	createdAt: number;
}

export interface Outcome {
	status?: string;
	error?: string;
}

const STAGES = ['preparing', 'transcribing', 'separating speakers', 'summarizing'];
/** Table "Typical processing time": a recording of up to `upTo` seconds usually takes `seconds`. */
export const USUAL_TIMES: ReadonlyArray<{ upTo: number; seconds: number }> = [
	{ upTo: 60, seconds: 30 },
	{ upTo: 600, seconds: 90 },
	{ upTo: 3600, seconds: 420 },
	{ upTo: Infinity, seconds: 780 },
];

export function newSecret(): string {
	return randomBytes(24).toString('hex');
}

/** Section "States and transitions": the tasks of the account. */
export class Tasks {
	private readonly tasks = new Map<string, Task>();
	private readonly callOff = new Map<string, () => void>();

	constructor(
		private readonly settings: Settings,
		private readonly clock: Clock,
		private readonly billing: Billing,
		private readonly terms: () => string[],
		private readonly ended: (task: Task) => void,
	) {}

	/** Newest first. */
	all(): Task[] {
		return [...this.tasks.values()].reverse();
	}

	get(id: string): Task {
		const task = this.tasks.get(id);
		if (!task) throw new Refusal(this.settings.shapes.unknownIdStatus, 'No such task');
		return task;
	}

	/** Limit "Tasks in progress". A task that waits for balance is not in progress. */
	checkRoom(): void {
		if (this.all().filter(inProgress).length >= this.settings.tasksInProgress) {
			throw new Refusal(429, `More than ${this.settings.tasksInProgress} tasks in progress`);
		}
	}

	/** First two rows of the table "Transitions": queued, or stored until the balance suffices. */
	create(recording: Recording): Task {
		if (recording.seconds > this.settings.maxRecordingSeconds) {
			throw new Refusal(
				413,
				'The recording is longer than 4 hours, split it',
				'audio_too_long_api_balance',
			);
		}
		const task: Task = {
			...recording,
			id: this.newId(),
			createdAt: this.clock.now(),
			status: 'pending',
			awaitingBalance: false,
			progress: 0,
			webhookSecret: recording.parameters.webhookUrl === undefined ? undefined : newSecret(),
			cost: this.billing.cost(recording.seconds),
			charged: false,
			processingSeconds: this.processingSeconds(recording.seconds),
		};
		// A meeting is charged after its recording was made, so its task never waits.
		task.awaitingBalance = task.botId === undefined && !this.affordable(task);
		this.tasks.set(task.id, task);
		if (!task.awaitingBalance) this.queue(task);
		return task;
	}

	/**
	 * So many tasks that ended long ago, as if they had always been there: free, the same short
	 * transcript. The newest was submitted `age` ms ago, each other one a minute before the next.
	 */
	seed(count: number, age = 60_000): string[] {
		const transcript = transcribe(undefined, 60, undefined);
		return Array.from({ length: count }, (_, index) => {
			const id = this.newId();
			this.tasks.set(id, {
				id,
				createdAt: this.clock.now() - age - (count - 1 - index) * 60_000,
				name: 'old.mp3',
				seconds: 60,
				parameters: { language: 'ru', summaryTemplate: 'general' },
				status: 'completed',
				awaitingBalance: false,
				progress: 100,
				cost: 0,
				charged: true,
				processingSeconds: 0,
				transcript,
			});
			return id;
		});
	}

	private newId(): string {
		if (this.settings.shapes.taskIds === 'uuid') return randomUUID();
		const number = String(100_000 + this.tasks.size);
		return this.settings.shapes.taskIds === 'number' ? number : `12345678901${number}77`;
	}

	/** The service deletes a task: retention, which is not shown, or somebody in the account. */
	discard(id: string): void {
		this.get(id);
		this.callOff.get(id)?.();
		this.callOff.delete(id);
		this.tasks.delete(id);
	}

	/** Row "balance top-up": waiting tasks go on by themselves, the oldest first. */
	balanceChanged(): void {
		this.clock.after(this.settings.topUpSeconds, () => {
			for (const task of this.tasks.values()) {
				if (!task.awaitingBalance || task.status !== 'pending') continue;
				if (!this.affordable(task)) return;
				task.awaitingBalance = false;
				this.queue(task);
			}
		});
	}

	/** Row "POST /tasks/{id}/cancel". */
	cancel(id: string): Task {
		const task = this.get(id);
		if (!isOpen(task)) {
			throw new Refusal(
				this.settings.shapes.notCancellableStatus,
				`A task that is ${task.status} cannot be cancelled`,
			);
		}
		this.finish(task, { status: this.settings.shapes.cancelledStatus });
		return task;
	}

	/** Last two rows of the table "Transitions"; failed tasks are not charged. */
	finish(task: Task, outcome: Outcome): void {
		if (!isOpen(task)) throw new Error(`Task ${task.id} has ended already: ${task.status}`);
		this.callOff.get(task.id)?.();
		this.callOff.delete(task.id);
		task.progress = this.progress(task);
		task.status = outcome.status ?? 'completed';
		task.awaitingBalance = false;
		if (task.status === 'completed') {
			task.progress = 100;
			const heard = transcribe(task.known, task.seconds, task.parameters.numSpeakers);
			task.transcript = applyTerms(heard, this.terms()).transcript;
			task.cost = this.billing.charge(task.seconds);
			task.charged = true;
		} else if (task.status === 'failed') {
			task.error = outcome.error ?? 'The recording could not be processed';
		}
		this.ended(task);
	}

	/** Table "Task". */
	resource(task: Task): Record<string, unknown> {
		const queue = this.all().filter(isQueued).reverse();
		return {
			task_id: task.id,
			status: task.status,
			progress: this.progress(task),
			...(task.status === 'processing' ? { stage: this.stage(task) } : {}),
			...(isQueued(task)
				? { queue_position: queue.indexOf(task) + 1, queue_total: queue.length }
				: {}),
			queue_state: queueState(task),
			awaiting_balance: task.awaitingBalance,
			...(task.error === undefined ? {} : { error: task.error }),
		};
	}

	/** The transcript of a completed task. */
	transcript(id: string): { task: Task; transcript: Transcript } {
		const task = this.get(id);
		if (!task.transcript) {
			throw new Refusal(
				this.settings.shapes.notCompletedStatus,
				`The task is ${task.status}, not completed`,
			);
		}
		return { task, transcript: task.transcript };
	}

	private queue(task: Task): void {
		this.step(task, this.settings.queueSeconds, () => {
			task.status = 'processing';
			task.processingSince = this.clock.now();
			this.step(task, task.processingSeconds, () => {
				const error = task.known?.fail;
				this.finish(task, error === undefined ? {} : { status: 'failed', error });
			});
		});
	}

	private step(task: Task, seconds: number, action: () => void): void {
		this.callOff.set(task.id, this.clock.after(seconds, action));
	}

	private affordable(task: Task): boolean {
		const others = this.all().filter((other) => other !== task && inProgress(other));
		const reserved = others.reduce((sum, other) => sum + other.cost, 0);
		return this.billing.balance - reserved >= task.cost;
	}

	private progress(task: Task): number {
		if (task.status !== 'processing' || task.processingSince === undefined) return task.progress;
		const passed = (this.clock.now() - task.processingSince) / 1000;
		const percent = Math.floor((100 * passed) / Math.max(task.processingSeconds, 0.001));
		return Math.min(99, Math.max(0, percent));
	}

	private stage(task: Task): string {
		return STAGES[Math.floor((this.progress(task) / 100) * STAGES.length)] ?? 'summarizing';
	}

	private processingSeconds(recordingSeconds: number): number {
		const usual = USUAL_TIMES.find(({ upTo }) => recordingSeconds <= upTo);
		return this.settings.processingSeconds ?? usual?.seconds ?? 780;
	}
}

function isOpen(task: Task): boolean {
	return task.status === 'pending' || task.status === 'processing';
}

function inProgress(task: Task): boolean {
	return isOpen(task) && !task.awaitingBalance;
}

function isQueued(task: Task): boolean {
	return task.status === 'pending' && !task.awaitingBalance;
}

function queueState(task: Task): string {
	if (task.awaitingBalance) return 'awaiting_balance';
	if (task.status === 'pending') return 'queued';
	if (task.status === 'processing') return 'working';
	const ran = task.processingSince !== undefined || task.status === 'completed';
	return ran || task.status === 'failed' ? 'done' : 'not_started';
}
