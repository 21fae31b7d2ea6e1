import type { IDataObject, IHookFunctions } from 'n8n-workflow';

import { callService } from '../shared/api/callService';
import type { TranscriberCredential } from '../shared/api/credential';
import { withoutSecretsInText } from '../shared/api/redact';
import { idIn } from '../shared/api/undocumented/idNames';
import { submissionsIn } from '../shared/api/undocumented/submissions';
import { remembered } from '../shared/processMemory';
import { backgroundCaller } from '../shared/webhook/backgroundCaller';
import type { BotStore } from './botStore';
import { cancelUnlessKept } from './cancelBotWhenUnpublished';

/**
 * How long activation waits for the service, in ms: the user waits for it in the editor. An attempt that
 * has begun within `sendMs` may take `attemptMs`. n8n 2.41 tries five times with pauses of 15 s in all, and
 * after 84 s shows its own error instead of the reason. So a refusal that took `slowMs` counts for the
 * repeats of this launch too, which begin within `repeatedMs`.
 */
export const ACTIVATION = {
	sendMs: 50_000,
	attemptMs: 5_000,
	lookMs: 10_000,
	slowMs: 10_000,
	repeatedMs: 17_000,
};

/** Launches under way, by {@link launchKey}. */
const launches = remembered<AbortController>('launches');

/** The workflow was switched off before or during the launch. A bot that was sent at that moment is cancelled. */
export class SwitchedOff extends Error {}

const SWITCHED_OFF = 'The workflow was switched off before the meeting bot was sent';

/**
 * POST /meeting, aborted if the workflow is switched off meanwhile. If the service sent the bot at
 * that very moment, cancels the bot.
 */
export async function launchBot(
	context: IHookFunctions,
	store: BotStore,
	{ credential, account }: { credential: TranscriberCredential; account?: string },
	body: IDataObject,
): Promise<IDataObject> {
	if (store.wasSwitchedOff) throw new SwitchedOff(SWITCHED_OFF);
	const key = launchKey(context);
	const launch = new AbortController();
	launches.set(key, launch);
	try {
		const caller = backgroundCaller(context, async () => credential, launch.signal);
		const given = await callService(
			caller,
			{ method: 'POST', url: '/meeting', body },
			{
				policy: { limit: 'meeting', repeatable: false },
				// The service may send the bot in an envelope or a list.
				keepWebhookSecret: 'everywhere',
				deadline: Date.now() + ACTIVATION.sendMs,
				// The service may accept what has been sent, and only its answer names the bot.
				attemptMs: ACTIVATION.attemptMs,
			},
		);
		const answers = submissionsIn(given, 'bot').map(withoutSecretsInText);
		const answer = answers.find((one) => botIdOf(one) !== undefined) ?? answers[0] ?? {};
		const id = botIdOf(answer);
		if (!launch.signal.aborted || id === undefined) return answer;
		const lasting = backgroundCaller(context, async () => credential);
		void cancelUnlessKept(context, lasting, { id, account, sentAt: Date.now() });
		throw new SwitchedOff(
			`The workflow was switched off while the meeting bot was being sent. The service has sent bot ${id}, which is now cancelled. If it stays in the meeting, end it with Meeting: Cancel or Stop`,
		);
	} finally {
		if (launches.get(key) === launch) launches.delete(key);
	}
}

/** Aborts the launch under way, if there is one. */
export function abortLaunch(context: IHookFunctions): void {
	launches.get(launchKey(context))?.abort(new SwitchedOff(SWITCHED_OFF));
}

/** The id of the bot in an answer to POST /meeting. */
export function botIdOf({ bot_id: id }: IDataObject): string | undefined {
	return idIn(id);
}

/** Tells the trigger of a workflow from all others: a copy of a workflow may have the same node ids. */
export function launchKey(context: IHookFunctions): string {
	return `${context.getWorkflow().id} ${context.getNode().id}`;
}
