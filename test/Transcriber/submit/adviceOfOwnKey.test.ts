/** Errors of an item with an own Idempotency Key, and of one whose output shows nothing but the message. */
// Also covers once/endedBeforeSubmit.ts, once/refuseChangedItem.ts, trigger/handSecretOver.ts.

import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { endedBeforeSubmit } from '../../../nodes/Transcriber/submit/once/endedBeforeSubmit';
import { checkUnchangedSince } from '../../../nodes/Transcriber/submit/once/refuseChangedItem';
import { remember } from '../../../nodes/Transcriber/submit/once/submissionMemory';
import { handSecretOver } from '../../../nodes/Transcriber/submit/trigger/handSecretOver';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { answeringTrigger } from '../../support/answeringTrigger';
import { itemContext } from '../../support/itemContext';
import { FILE, LINK } from '../../support/parameters';

const CALL = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/now' };
const accepted = { state: 'accepted', submissions: [{ answer: { task_id: 'a' } }], at: 0 } as const;

it.each<[string, (context: IExecutePaginationFunctions) => unknown]>([
	[
		'that had ended before',
		async (context) => {
			const endedTasks = [{ index: 0, ids: { taskId: 'a' } }];
			remember(context, { ...accepted, submissions: [...accepted.submissions], endedTasks });
			const run = NodeRun.of(context);
			throw (await endedBeforeSubmit(context, [], { isFresh: false }, run)).errors[0];
		},
	],
	[
		'that was changed after its answer was lost',
		(context) => checkUnchangedSince(context, { state: 'sent', executionId: '40', asked: 'else' }),
	],
])(
	'a recording %s is not transcribed anew with the same key, and the error says so',
	async (_, run) => {
		const context = itemContext({ ...FILE, ...CALL, options: { idempotencyKey: 'mine' } });
		const failure = await (async () => await run(context))().catch((error: unknown) => error);
		expect(failure).toMatchObject({
			description: expect.stringContaining("Change 'Idempotency Key'"),
		});
	},
);

it('where errors do not stop the node, the message says how to get what the service could not be asked about', async () => {
	for (const name of ['patienceWhenUnreachable', 'patienceWhenBroken'] as const) {
		jest.replaceProperty(RETRY, name, 0);
	}
	const trigger = await answeringTrigger('test-api-key');
	const parameters = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
	const context = itemContext(parameters, { node: { onError: 'continueRegularOutput' } });
	remember(context, { ...accepted, submissions: [...accepted.submissions] });
	await expect(handSecretOver(context, 0, 'earlier')).rejects.toThrow(
		/fetch the result with Transcript: Get Result/,
	);
	trigger.close();
});
