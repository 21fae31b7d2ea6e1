import { randomBytes } from 'node:crypto';

import { Billing } from './billing';
import { Clock } from './clock';
import { Dictionary } from './dictionary';
import type { Faults } from './faults';
import { Meetings } from './meetings';
import type { Settings } from './options';
import { RateLimits } from './rate-limits';
import { Tasks, type Task } from './tasks';
import { bundledRecordings, findRecording, type ScriptedRecording } from './transcripts';
import { Webhooks, type LoggedDelivery } from './webhooks';

const MEETING_EVENT = 'meeting.transcript.completed';
/** Not shown in the document; only sent when the shape `transcriptionWebhookFields` asks for it. */
const TRANSCRIPTION_EVENT = 'transcript.completed';

/** The account of one API key: everything that the service stores. */
export class Service {
	apiKey: string;
	/** Answers by `Idempotency-Key`, and the fields of the request. */
	readonly answers = new Map<string, { answer: unknown; fields: unknown }>();
	/** Keys whose request is still running. */
	readonly running = new Set<string>();
	uploadsNow = 0;
	uploadsAtOnce = 0;

	readonly clock: Clock;
	readonly billing: Billing;
	readonly dictionary: Dictionary;
	readonly tasks: Tasks;
	readonly meetings: Meetings;
	readonly rateLimits: RateLimits;
	private readonly webhooks: Webhooks;
	private readonly bundled = bundledRecordings();

	constructor(
		readonly settings: Settings,
		faults: Faults,
		deliveries: LoggedDelivery[],
	) {
		this.apiKey = settings.apiKey;
		this.clock = new Clock(settings.clockRate, settings.clockAheadSeconds);
		this.billing = new Billing(settings.balance, () => this.clock.now());
		this.dictionary = new Dictionary(settings);
		this.webhooks = new Webhooks(settings, this.clock, faults, deliveries);
		this.rateLimits = new RateLimits(settings, this.clock);
		this.tasks = new Tasks(
			settings,
			this.clock,
			this.billing,
			() => this.dictionary.effectiveTerms(),
			(task) => this.taskEnded(task),
		);
		this.meetings = new Meetings(
			settings,
			this.clock,
			() => this.recordings(),
			(recording) => this.tasks.create(recording),
		);
	}

	/** POST /api-key/generate: the previous key becomes invalid. */
	rotateKey(): string {
		this.apiKey = `key-${randomBytes(16).toString('hex')}`;
		return this.apiKey;
	}

	topUp(rubles: number): void {
		this.billing.topUp(rubles);
		this.tasks.balanceChanged();
	}

	setBalance(rubles: number): void {
		this.billing.balance = rubles;
		this.tasks.balanceChanged();
	}

	known(sha256: string, name: string): ScriptedRecording | undefined {
		return findRecording(this.recordings(), sha256, name);
	}

	stop(): void {
		this.clock.stop();
		this.webhooks.stop();
	}

	private recordings(): ScriptedRecording[] {
		return [...this.settings.script, ...this.bundled];
	}

	/** Section "Events": a webhook for `completed` and `failed`, none for a cancelled task. */
	private taskEnded(task: Task): void {
		this.meetings.taskEnded(task);
		if (task.status !== 'completed' && task.status !== 'failed') return;
		const resultUrl = `/api/v1/tasks/${task.id}/result`;
		if (task.botId !== undefined) {
			const { id, webhookUrl, webhookSecret } = this.meetings.get(task.botId);
			if (webhookUrl === undefined || webhookSecret === undefined) return;
			this.webhooks.send({
				url: webhookUrl,
				secret: webhookSecret,
				taskId: task.id,
				botId: id,
				body: {
					event: MEETING_EVENT,
					bot_id: id,
					task_id: task.id,
					status: task.status,
					result_url: resultUrl,
				},
			});
			return;
		}
		const { webhookUrl } = task.parameters;
		if (webhookUrl === undefined || task.webhookSecret === undefined) return;
		const more = { event: TRANSCRIPTION_EVENT, status: task.status, result_url: resultUrl };
		const fields = this.settings.shapes.transcriptionWebhookFields;
		this.webhooks.send({
			url: webhookUrl,
			secret: task.webhookSecret,
			taskId: task.id,
			body: {
				task_id: task.id,
				...Object.fromEntries(fields.map((field) => [field, more[field]])),
			},
		});
	}
}
