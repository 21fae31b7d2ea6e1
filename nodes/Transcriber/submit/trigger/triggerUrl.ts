import type { IExecutePaginationFunctions } from 'n8n-workflow';

import type { RoutingRequest } from '../../../shared/api/types';
import { refuse } from '../../../shared/parameters/refuse';
import { checkWebhookUrl } from '../../../shared/webhook/publicAddress';

/** Refuses a 'Trigger URL' that cannot be a trigger's, or that the service must not store. */
export function checkTriggerUrl(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	triggerUrl: string,
): void {
	if (URL.canParse(triggerUrl)) {
		const { username, password, search, hash } = new URL(triggerUrl);
		if (username || password || search || hash) {
			throw refuse(
				context,
				"'Trigger URL' holds more than an address: a user name, a password, a query or a fragment",
				'The service stores this address. Copy the Production URL (or, for a test, the Test URL) from the Transcriber Trigger node as it is.',
			);
		}
	}
	checkWebhookUrl(context, request, triggerUrl, 'Trigger URL');
	if (/\/transcriber\/?$/.test(new URL(triggerUrl).pathname)) return;
	throw refuse(
		context,
		`'Trigger URL' is not the address of a Transcriber Trigger: '${triggerUrl}'`,
		'Copy the Production URL (or, for a test, the Test URL) from the Transcriber Trigger node. It ends in /transcriber.',
	);
}
