/** An item that the service refused before its execution was suspended is not submitted when the execution wakes. */
// Also covers suspendUntilDelivery.ts.
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { BOT, FILE, LINK } from '../../../support/parameters';
import { itemWithFile, itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';
import { sign } from '../../../TranscriberTrigger/client';

const service = serviceForTests();

const two = () => itemsOf({}, {});
const files = () => [itemWithFile('first'), itemWithFile('second')];

it.each<[string, INodeParameters, () => INodeExecutionData[]]>([
	['a file', FILE, files],
	['a link', LINK, two],
	['a bot', BOT, two],
])('%s', async (_what, parameters, items) => {
	const id = await service.pendingTask();
	const accepted = { task_id: id, bot_id: 'bot-1', status: 'pending', webhook_secret: 'hush' };
	const refusal = { detail: { error_code: 'not_allowed', message: 'Not now' } };
	for (const [status, body] of [
		[200, accepted],
		[402, refusal],
	] as const) {
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status, body, readBody: true },
		});
	}
	const awaiting = { ...parameters, onCompletion: 'awaitWebhook' };
	const node = { onError: 'continueRegularOutput' } as const;
	const workflow = workflowWith(awaiting, service.credentials(), node);
	const asleep = await workflow.start(items());
	expect({ error: asleep.error, isSuspended: asleep.isSuspended }).toEqual({ isSuspended: true });
	service.running().finish(id);
	const raw = JSON.stringify({ task_id: id });
	const { woken } = await workflow.deliver(asleep, raw, sign(raw, 'hush'));
	const outcomes = woken?.next?.map(({ status, error }) => (error ? 'refused' : status));
	expect(outcomes?.sort()).toEqual(['completed', 'refused']);
	expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(2);
});
