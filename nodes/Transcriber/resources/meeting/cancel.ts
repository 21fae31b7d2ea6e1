import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodePropertyOptions,
} from 'n8n-workflow';

import { isUnknownToService } from '../../../shared/api/serviceError';
import { botState } from '../../../shared/api/askForState';
import { STOPS_SPENDING, type Policy, type RoutingRequest } from '../../../shared/api/types';
import { idFrom } from '../../item/idParameters';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { sendCancel } from '../sendCancel';

export const cancelMeeting: INodePropertyOptions = {
	name: 'Cancel or Stop',
	value: 'cancel',
	action: 'Cancel or stop meeting bot',
	description: 'Cancel a scheduled bot, or stop a running recording',
	routing: {
		request: { method: 'DELETE', url: '/meeting/{botId}' },
		operations: { pagination: performOperation({ policy: STOPS_SPENDING, carryOut: cancelBot }) },
	},
};

async function cancelBot(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	return await sendCancel(context, request, policy, run, () => {
		const botId = idFrom(context, 'botId');
		return {
			what: 'meeting bot',
			id: { bot_id: botId },
			stateNow: async (bounds) =>
				await botState(context, botId, bounds).catch((error: unknown) =>
					isUnknownToService(error) ? 'unknown' : {},
				),
		};
	});
}
