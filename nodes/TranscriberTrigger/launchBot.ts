import type { IDataObject, IHookFunctions } from 'n8n-workflow';

import { call } from '../shared/api/call';
import { idIn } from '../shared/api/undocumented/ids';
import { submissionsIn } from '../shared/api/undocumented/submissions';
import { remembered } from '../shared/processMemory';
import { callerOf, cancelMeetingBot } from './cancelMeetingBot';

/** How long activation waits for the service, in ms: the user waits for it in the editor. */
export const ACTIVATION = { sendMs: 60_000, lookMs: 10_000 };

/** Launches under way, by workflow and node: a copy of a workflow may have the same node ids. */
const launches = remembered<AbortController>('launches');

/** The workflow was switched off during the launch, and no bot was sent. */
export class SwitchedOff extends Error {}

/**
 * POST /meeting, aborted if the workflow is switched off meanwhile. If the service sent the bot at
 * that very moment, cancels the bot.
 */
export async function launchBot(context: IHookFunctions, body: IDataObject): Promise<IDataObject> {
	const place = launchKey(context);
	const launch = new AbortController();
	launches.set(place, launch);
	try {
		const caller = await callerOf(context, launch.signal);
		const given = await call(
			caller,
			{ method: 'POST', url: '/meeting', body },
			{
				policy: { limit: 'meeting', repeatable: false },
				// The service may send the bot in an envelope or a list.
				keepWebhookSecret: 'everywhere',
				deadline: Date.now() + ACTIVATION.sendMs,
			},
		);
		const [answer = {}] = submissionsIn(given, true);
		const id = botIdOf(answer);
		if (!launch.signal.aborted || id === undefined) return answer;
		void cancelMeetingBot(context, await callerOf(context), id);
		throw launch.signal.reason;
	} finally {
		if (launches.get(place) === launch) launches.delete(place);
	}
}

/** Aborts the launch under way, if there is one. */
export function abortLaunch(context: IHookFunctions): void {
	const reason = 'The workflow was switched off before the meeting bot was sent';
	launches.get(launchKey(context))?.abort(new SwitchedOff(reason));
}

export function botIdOf({ bot_id: id }: IDataObject): string | undefined {
	return idIn(id);
}

function launchKey(context: IHookFunctions): string {
	return `${context.getWorkflow().id} ${context.getNode().id}`;
}
