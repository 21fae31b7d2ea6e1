/** Which refusals no Retry can mend: then the error must not send the user into one, but say how to get the rest. */
// Also covers refuseChangedItem.ts, endedBeforeSubmit.ts.

import type { IExecutePaginationFunctions, INode, NodeOperationError } from 'n8n-workflow';

import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import { endedBeforeSubmit } from '../../../../nodes/Transcriber/submit/once/endedBeforeSubmit';
import {
	checkUnchanged,
	checkUnchangedSince,
	keyOfDownloadedAgain,
} from '../../../../nodes/Transcriber/submit/once/refuseChangedItem';
import {
	remember,
	type AcceptedMemory,
} from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { isLasting } from '../../../../nodes/shared/parameters/refuse';
import { itemContext } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const CALL = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/now' };
const options = { idempotencyKey: 'mine' };
const talk = { data: 'c291bmQ=', fileName: 'talk.mp3', mimeType: 'audio/mpeg' };
const sent = { state: 'sent', executionId: '41', at: 0 } as const;
const accepted: AcceptedMemory = {
	state: 'accepted',
	submissions: [{ answer: { task_id: '7f3c' } }],
	executionId: '41',
	at: 0,
};

const REFUSALS: Array<[string, (context: IExecutePaginationFunctions) => unknown]> = [
	[
		'an item that was changed after it had been sent',
		(context) => checkUnchangedSince(context, { ...sent, asked: 'something else' }),
	],
	[
		'a task that the service reports to another address',
		async (context) => {
			remember(context, { ...accepted, deliversTo: 'https://hooks.example.com/before' });
			await checkUnchanged(context);
		},
	],
	[
		'another file with the Idempotency Key of one whose answer was lost',
		async (context) => {
			remember(context, { ...sent, key: 'mine', file: 'other', settings: 's', fingerprint: 'f' });
			await keyOfDownloadedAgain(context, talk, new AbortController().signal);
		},
	],
	[
		'a task that had ended before, and that the service does not report again',
		async (context) => {
			remember(context, { ...accepted, endedTasks: [{ index: 0, ids: { taskId: 'a' } }] });
			const run = NodeRun.of(context);
			throw (await endedBeforeSubmit(context, [], { isFresh: false }, run)).errors[0];
		},
	],
];

async function refusalOf(
	refused: (context: IExecutePaginationFunctions) => unknown,
	node: Partial<INode> = {},
) {
	const items = [{ json: {}, binary: { data: talk } }];
	const context = itemContext({ ...FILE, ...CALL, options }, { items, executionId: '42', node });
	const failure = await (async () => await refused(context))().catch((error: unknown) => error);
	return failure as NodeOperationError;
}

it.each(REFUSALS)('%s', async (_what, refused) => {
	const failure = await refusalOf(refused);
	expect(failure).toBeInstanceOf(Error);
	expect(isLasting(failure)).toBe(true);
});

it.each(REFUSALS)(
	'%s: the output of a node that goes on says what to do',
	async (_what, refused) => {
		const { message, description } = await refusalOf(refused, { onError: 'continueRegularOutput' });
		expect(description).toBeTruthy();
		expect(message).toContain(description);
	},
);
