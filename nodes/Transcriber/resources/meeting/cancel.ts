import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError, isUnknownToService } from '../../../shared/api/serviceError';
import { idFrom } from '../../item/ids';
import { perform } from '../../item/perform';
import { hasEnded, isCancelled } from '../../../shared/api/undocumented/statuses';
import { botState } from '../../../shared/api/taskState';
import { REFUSED_CANCEL, isAboutItsState, sayItHasEnded } from '../refusedCancel';
import { withoutError } from '../../item/sendDeclared';
import { hasEndedBefore, sendEnding } from '../../item/sendEnding';
import { STOPS_SPENDING, type Policy, type RoutingRequest } from '../../../shared/api/types';

export const cancelMeeting: INodePropertyOptions = {
	name: 'Cancel or Stop',
	value: 'cancel',
	action: 'Cancel or stop meeting bot',
	description: 'Cancel a scheduled bot, or stop a running recording',
	routing: {
		request: { method: 'DELETE', url: '/meeting/{botId}' },
		operations: { pagination: perform({ policy: STOPS_SPENDING, carryOut: cancelBot }) },
	},
};

/**
 * An earlier attempt whose answer was lost may cause a refusal. So after a refusal the status of
 * the bot is requested: if the bot is cancelled, or gone after a repeat, that is a success. So is a
 * refusal of what this node has done in this execution.
 */
async function cancelBot(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	let failure: unknown;
	try {
		return await sendEnding(context, request, policy);
	} catch (error) {
		failure = error;
	}
	if (!(failure instanceof ServiceError) || !isAboutItsState(failure)) throw failure;
	const botId = idFrom(context, 'botId');
	const bot = await botAtService(context, botId);
	const state = bot === 'unknown' || bot === undefined ? {} : bot;
	const isGone = bot === 'unknown' && failure.problem.isRepeat === true;
	if (isGone || isCancelled(state.status) || hasEndedBefore(context, request)) {
		return [{ json: withoutError({ ...state, bot_id: botId }) }];
	}
	if (bot === 'unknown' || bot === undefined) throw failure;
	if (hasEnded(bot.status)) sayItHasEnded(failure, 'meeting bot', bot);
	throw failure;
}

/** The present state of the bot, 'unknown' if no such bot exists, or undefined on failure. */
async function botAtService(
	context: IExecutePaginationFunctions,
	botId: string,
): Promise<IDataObject | 'unknown' | undefined> {
	return await botState(context, botId, REFUSED_CANCEL).catch((error: unknown) =>
		isUnknownToService(error) ? 'unknown' : undefined,
	);
}
