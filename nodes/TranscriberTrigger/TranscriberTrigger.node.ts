import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';

import { withNextStep } from '../shared/parameters/refuse';
import { UNDECIDED } from '../shared/webhook/handOverEnvelope';
import { respond } from '../shared/webhook/hmacSignedBody';
import { receiveDelivery } from './receiveDelivery';
import { triggerFields } from './triggerFields';
import { isBotThere } from './isBotThere';
import { receiveHandOver } from './receiveHandOver';
import { abortLaunch } from './launchBot';
import { sendBotWhenPublished, withFormerBot } from './sendBotWhenPublished';
import { cancelBotWhenUnpublished } from './cancelBotWhenUnpublished';
import { mayBeOfOtherN8n, warnOfBotLeftAlone } from './sameMeetingBot';
import type { SentBot } from './triggerMemory';
import { BotStore } from './botStore';
import { isTest } from '../shared/n8nInternals/activation';
import { Undecided } from '../shared/webhook/answerInTime';
import { logSeldom, wordForLog } from '../shared/webhook/logSeldom';

/** The beginning of a log line. */
const UNANSWERED =
	'A call could not be answered now, so its sender has to repeat it. If a transcript does not arrive, fetch it with Transcript: Get Result. The reason:';

export class TranscriberTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Transcriber Trigger',
		name: 'transcriberTrigger',
		icon: { light: 'file:transcriber.svg', dark: 'file:transcriber.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["source"] === "meeting" ? "One Meeting" : "Recordings Sent by Transcriber Nodes" }}',
		// n8n lists the action node and this trigger as one entry, with this description.
		description:
			'Turn recordings and online meetings into text, and start a workflow when a transcript is ready',
		eventTriggerDescription: 'Waiting for the service to report a transcript',
		activationMessage:
			"The workflow now starts when the service reports a transcript: of the meeting that the bot was sent to, or of recordings from Transcriber nodes with this trigger's Production URL.",
		defaults: { name: 'Transcriber Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'transcriberApi', required: true }],
		// Without 'responseData' n8n 2 answers an accepted delivery with the text "firstEntryJson".
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: '',
				path: 'transcriber',
			},
			{
				name: 'setup',
				httpMethod: 'PUT',
				responseMode: 'onReceived',
				responseData: '',
				path: 'transcriber',
				ndvHideUrl: true,
			},
		],
		triggerPanel: {
			header: 'Wait for transcripts',
			executionsHelp: {
				inactive:
					"Webhooks have two addresses: one for tests, one for production. <br /><br /> <b>While you build</b>, open 'Webhook URLs' above and copy the Test URL, click 'Execute step', then run a Transcriber node that has the Test URL in 'Trigger URL'. This node listens for two minutes, so use a short recording. A meeting bot is never sent for a test.<br /><br /> <b>When you are ready</b>, publish the workflow (n8n 1: activate it) and use the Production URL.",
				active:
					"Webhooks have two addresses: one for tests, one for production. <br /><br /> <b>Transcriber nodes with the Production URL</b> in 'Trigger URL' start this workflow whenever a transcript is ready. You see it in the executions list, not in the editor.<br /><br /> <b>While you build</b>, click 'Execute step' and use the Test URL. This node then listens for two minutes.",
			},
			activationHint:
				'To test with a recording: copy the Test URL, paste it into the Transcriber node, then click here. It listens for two minutes. A meeting bot is never sent for a test. For real, publish the workflow (n8n 1: activate it): then messages to the Production URL start it.',
		},
		properties: triggerFields,
	};

	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				try {
					return await isBotThere(this);
				} catch (error) {
					throw withNextStep(this, withFormerBot(this, error));
				}
			},
			async create(this: IHookFunctions): Promise<boolean> {
				try {
					await sendBotWhenPublished(this);
					return true;
				} catch (error) {
					throw withNextStep(this, withFormerBot(this, error));
				}
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return await unpublish(this);
			},
		},
		/** Nothing to set up: n8n registers the address for hand-overs together with the one above. */
		setup: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				return true;
			},
			async create(this: IHookFunctions): Promise<boolean> {
				return true;
			},
			async delete(this: IHookFunctions): Promise<boolean> {
				return true;
			},
		},
	};

	/** Deliveries of the service (POST) and secrets from Transcriber nodes (PUT). */
	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		try {
			return await (this.getWebhookName() === 'setup'
				? receiveHandOver(this)
				: receiveDelivery(this));
		} catch (error) {
			// Throwing makes n8n record a failed execution, which any unauthenticated caller could provoke.
			const reason = error instanceof Undecided ? error.message : wordForLog(error);
			if (reason !== '') logSeldom(this, 'warn', `${this.getNode().name}: ${UNANSWERED} ${reason}`);
			return respond(this, 503, UNDECIDED);
		}
	}
}

/** `webhookMethods.delete`: cancels the bot, unless the trigger is switched on again at once. */
async function unpublish(context: IHookFunctions): Promise<boolean> {
	// The end of a test in the editor. The bot belongs to the published workflow.
	if (isTest(context)) return true;
	abortLaunch(context);
	const store = new BotStore(context);
	// n8n 2.41 calls no hook of this trigger when it starts, so it was on. Otherwise see `countAsOff`.
	const { bot, isOn = true } = store;
	store.isOn = false;
	const isHere =
		bot !== undefined && bot.releasedAt === undefined && !isLeft(context, store, bot, isOn);
	if (isHere) store.bot = { ...bot, releasedAt: Date.now() };
	// After a failed activation, n8n may save only what this hook changes (see n8nInternals/activation.ts).
	if (isHere || store.unansweredUntil > Date.now()) store.save();
	// A bot that has reported its end records no more, whatever the service says of it since.
	if (isHere && !store.hasDelivered(bot)) await cancelBotWhenUnpublished(context, bot);
	return true;
}

/** Whether the bot is left alone, because another n8n may wait for its transcript. */
function isLeft(context: IHookFunctions, store: BotStore, bot: SentBot, isOn: boolean): boolean {
	if (!mayBeOfOtherN8n(bot, context, isOn)) return false;
	if (!store.hasDelivered(bot)) warnOfBotLeftAlone(context, bot);
	return true;
}
