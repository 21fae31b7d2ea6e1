import { submissionKey } from '../shared/api/submission';
import { newerOf, type SentBot } from './triggerMemory';
import { EndingStore } from './endingStore';
import { nameForNew } from './verifyDelivery';

/** The store of a trigger with the bot that it has sent (Source: One Meeting). */
export class BotStore extends EndingStore {
	private readonly switchOffsBefore = this.memory.switchOffs;

	get bot(): SentBot | undefined {
		return newerOf(this.loaded.bot, this.memory.bot);
	}

	/** The newest bot, or its new state. */
	set bot(bot: Omit<SentBot, 'changedAt'>) {
		this.memory.bot = { ...bot, changedAt: after(this.bot) };
	}

	/** See {@link TriggerMemory.isOn}. */
	get isOn(): boolean | undefined {
		return this.memory.isOn;
	}

	set isOn(isOn: boolean) {
		this.memory.isOn = isOn;
		if (!isOn) this.memory.switchOffs += 1;
	}

	/**
	 * Whether the trigger was switched off since this hook began: n8n 1 and 2.30 have no lock between a
	 * publication and a switch-off.
	 */
	get wasSwitchedOff(): boolean {
		return this.memory.switchOffs !== this.switchOffsBefore;
	}

	/** Whether the trigger has received the end of the bot. */
	hasDelivered(bot: SentBot): boolean {
		if (bot.hasDelivered) return true;
		const name = submissionKey({ botId: bot.id });
		// A secret that is still there belongs to a new bot with the same id.
		const isPending = this.secretOf(nameForNew(this, name)) !== undefined;
		return this.endingOf(name) !== undefined && !isPending;
	}

	/** Notes that the bot of this trigger has delivered. Returns whether that is news. */
	noteDelivered(id: string): boolean {
		const { bot } = this;
		if (bot?.id !== id || bot.hasDelivered) return false;
		this.bot = { ...bot, hasDelivered: true };
		if (!this.hasWaited) this.save();
		return true;
	}

	/** Until when the trigger sends no bot: see {@link LastLaunch}. */
	get unansweredUntil(): number {
		return newerOf(this.loaded.launch, this.memory.launch)?.unansweredUntil ?? 0;
	}

	set unansweredUntil(time: number) {
		const known = newerOf(this.loaded.launch, this.memory.launch);
		this.memory.launch = { unansweredUntil: time, changedAt: after(known) };
	}
}

/** The time of a change that follows a known one, in ms since 1970, even if the clock was set back. */
function after(known?: { changedAt: number }): number {
	return Math.max(Date.now(), (known?.changedAt ?? 0) + 1);
}
