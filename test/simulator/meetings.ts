import { randomUUID } from 'node:crypto';

import type { Clock } from './clock';
import { serviceTime, type BotStatusNames, type Settings } from './options';
import type { MeetingParameters } from './parameters';
import { Refusal } from './refusal';
import { newSecret, type Recording, type Task } from './tasks';
import { findRecording, type ScriptedRecording } from './transcripts';

export interface Bot extends MeetingParameters {
	id: string;
	phase: keyof BotStatusNames;
	webhookSecret?: string;
	taskId?: string;
	/** Simulated time. */
	recordingSince?: number;
}

/** Section "Meeting bot": bots that are scheduled, join, record, and create a task. */
export class Meetings {
	private readonly bots = new Map<string, Bot>();
	private readonly callOff = new Map<string, () => void>();

	constructor(
		private readonly settings: Settings,
		private readonly clock: Clock,
		private readonly recordings: () => ScriptedRecording[],
		private readonly createTask: (recording: Recording) => Task,
	) {}

	all(): Bot[] {
		return [...this.bots.values()];
	}

	get(id: string): Bot {
		const bot = this.bots.get(id);
		if (!bot) throw new Refusal(this.settings.shapes.unknownIdStatus, 'No such bot');
		return bot;
	}

	/** POST /meeting: now, or at `start_at`. */
	send(parameters: MeetingParameters): Bot {
		const bot: Bot = {
			...parameters,
			id: randomUUID(),
			phase: parameters.startAt ? 'scheduled' : 'joining',
			webhookSecret: parameters.webhookUrl === undefined ? undefined : newSecret(),
		};
		this.bots.set(bot.id, bot);
		if (bot.startAt) {
			this.step(bot, (bot.startAt.getTime() - serviceTime(this.settings)) / 1000, () =>
				this.join(bot),
			);
		} else {
			this.join(bot);
		}
		return bot;
	}

	/** DELETE /meeting/{bot_id}: cancels a scheduled bot or stops a running recording. */
	cancel(id: string): Bot {
		const bot = this.get(id);
		if (bot.phase === 'scheduled' || bot.phase === 'joining') {
			this.callOff.get(id)?.();
			bot.phase = 'cancelled';
		} else if (bot.phase === 'recording') {
			if (this.settings.shapes.stoppedRecording === 'transcribed') {
				this.end(bot);
			} else {
				this.callOff.get(id)?.();
				bot.phase = 'cancelled';
			}
		}
		return bot;
	}

	/** The meeting is over: the recording is ready and becomes a task. */
	end(bot: Bot): void {
		if (!['scheduled', 'joining', 'recording'].includes(bot.phase)) {
			throw new Error(`The meeting of bot ${bot.id} is over already`);
		}
		this.callOff.get(bot.id)?.();
		const passed =
			bot.recordingSince === undefined
				? this.settings.meetingSeconds
				: (this.clock.now() - bot.recordingSince) / 1000;
		const known = findRecording(this.recordings(), '', bot.meetingUrl);
		const longest = this.settings.maxRecordingSeconds;
		bot.phase = 'processing';
		bot.taskId = this.createTask({
			name: bot.meetingUrl,
			seconds: Math.min(known?.seconds ?? Math.max(1, passed), longest),
			parameters: { language: 'ru', summaryTemplate: 'general' },
			known,
			botId: bot.id,
		}).id;
	}

	/** The task of the recording has ended. */
	taskEnded(task: Task): void {
		const bot = this.bots.get(task.botId ?? '');
		if (!bot) return;
		const known = task.status === 'completed' || task.status === 'failed';
		bot.phase = known ? (task.status as 'completed' | 'failed') : 'cancelled';
	}

	/** Table "Meeting bot". */
	resource(bot: Bot): Record<string, unknown> {
		return {
			bot_id: bot.id,
			status: this.settings.shapes.botStatuses[bot.phase],
			...(bot.startAt ? { scheduled_start_at: bot.startAt.toISOString() } : {}),
			...this.taskId(bot),
		};
	}

	private taskId(bot: Bot): { task_id?: string | null } {
		if (bot.taskId !== undefined) return { task_id: bot.taskId };
		switch (this.settings.shapes.emptyTaskId) {
			case 'null':
				return { task_id: null };
			case 'emptyString':
				return { task_id: '' };
			case 'absent':
				return {};
		}
	}

	private join(bot: Bot): void {
		bot.phase = 'joining';
		this.step(bot, this.settings.joiningSeconds, () => {
			bot.phase = 'recording';
			bot.recordingSince = this.clock.now();
			this.step(bot, this.settings.meetingSeconds, () => this.end(bot));
		});
	}

	private step(bot: Bot, seconds: number, action: () => void): void {
		this.callOff.set(bot.id, this.clock.after(seconds, action));
	}
}
