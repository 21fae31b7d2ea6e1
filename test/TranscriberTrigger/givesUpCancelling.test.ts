/** A service that is busy for long when a bot has to be cancelled. */
// Also covers cancelBotWhenUnpublished.ts.

import type { IHookFunctions } from 'n8n-workflow';

import {
	CANCEL_BOT,
	callerOf,
	cancelUntilAccepted,
} from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { contextsWith } from '../shared/n8nInternals/contexts';
import { captureLogs } from '../support/logs';
import { additionalDataFor } from '../support/n8n';
import { serviceForTests } from '../support/service';

const service = serviceForTests();

it('the patience counts from the first attempt, and then the log says that the bot may go on', async () => {
	for (const name of ['pauseMs', 'longestPauseMs'] as const) {
		jest.replaceProperty(CANCEL_BOT, name, 20);
	}
	jest.replaceProperty(CANCEL_BOT, 'patienceMs', 300);
	const action = { kind: 'respond', status: 503 } as const;
	service.running().fault({ match: { method: 'DELETE' }, times: 9999, action });
	const logs = captureLogs();
	const context = contextsWith(additionalDataFor(service.credentials())).hook as IHookFunctions;
	const bot = { id: 'b1', sentAt: Date.now() };
	// Far more attempts than the patience has room for.
	let attempts = 0;
	await cancelUntilAccepted(context, await callerOf(context), bot, () => ++attempts < 100);
	logs.release();
	expect(attempts).toBeLessThan(100);
	expect(logs.lines.join()).toContain('bot b1 could not be cancelled');
});
