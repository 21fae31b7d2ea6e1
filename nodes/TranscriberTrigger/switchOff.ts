import type { IHookFunctions } from 'n8n-workflow';

import { isTest } from '../shared/n8nInternals/activation';
import { cancelMeetingBotLater } from './cancelMeetingBot';
import { abortLaunch } from './sendMeetingBot';
import { BotStore } from './botStore';

/** `webhookMethods.delete`: cancels the bot, unless the trigger is switched on again at once. */
export async function switchOff(context: IHookFunctions): Promise<boolean> {
	// The end of a test in the editor. The bot belongs to the published workflow.
	if (isTest(context)) return true;
	abortLaunch(context);
	const store = new BotStore(context);
	store.isOn = false;
	const { bot } = store;
	const isHere = bot !== undefined && bot.releasedAt === undefined;
	if (isHere) store.bot = { ...bot, releasedAt: Date.now() };
	// After a failed activation, n8n may save only what this hook changes (see n8nInternals/activation.ts).
	if (isHere || store.unansweredUntil > Date.now()) store.save();
	if (isHere) await cancelMeetingBotLater(context, bot);
	return true;
}
