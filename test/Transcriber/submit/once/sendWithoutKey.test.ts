/** A request that must not be repeated, and that no Idempotency-Key protects. */
// Also covers firstAnswer.ts.
import { NodeOperationError } from 'n8n-workflow';

import { Abandoned } from '../../../../nodes/Transcriber/item/nodeRun';
import { sendWithoutKey } from '../../../../nodes/Transcriber/submit/once/sendWithoutKey';
import { recall, remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { ServiceError } from '../../../../nodes/shared/api/serviceError';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const ITEMS = [{ json: { task_id: '7f3c' } }];
const context = (saved = {}) => itemContext(LINK, { saved });

/** Sends a request for an item, and says what became of it. */
function sendingFor(item = context()) {
	const sent: unknown[] = [];
	const explained: unknown[] = [];
	const described: unknown[] = [];
	const send = async (asked?: string, failure?: Error, mayHaveSucceeded?: boolean) =>
		await sendWithoutKey(item, {
			asked,
			send: async () => {
				sent.push(asked);
				if (failure) throw failure;
				return await Promise.resolve(ITEMS);
			},
			submissionsIn: (items) => items.map(({ json }) => ({ answer: json })),
			again: ({ submissions }) => submissions.map(({ answer }) => ({ json: { again: answer } })),
			unknownOutcome: () => new NodeOperationError(item.getNode(), 'It is not known'),
			mayHaveSucceeded: mayHaveSucceeded === undefined ? undefined : () => mayHaveSucceeded,
			explain: (reason) => void explained.push(reason),
		}).catch((error: NodeOperationError) => {
			described.push(error.description);
			return error.message;
		});
	return { item, send, sent, explained, described };
}

const refused = () =>
	new ServiceError(context().getNode(), { path: '/tasks/a/summary', status: 422 });
const lost = () => new ServiceError(context().getNode(), { path: '/tasks/a/summary', status: 502 });

it('is not sent again when it has succeeded: the next try takes up the answer', async () => {
	const { send, sent, item } = sendingFor();
	expect(await send('this')).toBe(ITEMS);
	expect(await send('this')).toEqual([{ json: { again: ITEMS[0]?.json } }]);
	expect(sent).toEqual(['this']);
	expect(recall(item)).toMatchObject({ state: 'accepted', asked: 'this', at: expect.any(Number) });
});

it('is not sent again when its answer was lost', async () => {
	const failure = lost();
	const { send, sent, explained, item, described } = sendingFor();
	expect(await send('this', failure)).toBe(failure.message);
	expect(explained).toEqual([failure]);
	expect(recall(item)).toMatchObject({ state: 'sent', asked: 'this' });
	expect(await send('this')).toBe('It is not known');
	expect(described.at(-1)).toBe('To the first request: The service answered HTTP 502.');
	expect(sent).toEqual(['this']);
});

it.each([undefined, false])(
	'is sent again when the service has refused it for certain (may have succeeded: %s)',
	async (mayHaveSucceeded) => {
		const failure = refused();
		const { send, sent, explained } = sendingFor();
		expect(await send('this', failure, mayHaveSucceeded)).toBe(failure.message);
		expect(explained).toEqual([]);
		expect(await send('this')).toBe(ITEMS);
		expect(sent).toEqual(['this', 'this']);
	},
);

it('is not sent again when the refusal may come because an earlier attempt has succeeded', async () => {
	const { send, sent, explained } = sendingFor();
	await send('this', refused(), true);
	expect(explained).toHaveLength(1);
	expect(await send('this')).toBe('It is not known');
	expect(sent).toEqual(['this']);
});

it.each([undefined, lost()])(
	'is sent when the user has changed what the item asks for, whatever became of it before',
	async (failure) => {
		const { send, sent } = sendingFor();
		await send('this', failure);
		expect(await send('that')).toBe(ITEMS);
		expect(sent).toEqual(['this', 'that']);
	},
);

it('of which there is only one kind is sent only once, whatever is remembered', async () => {
	const { send, sent } = sendingFor();
	await send('this');
	expect(await send(undefined)).toEqual([{ json: { again: ITEMS[0]?.json } }]);
	expect(sent).toEqual(['this']);
});

it('is not sent again when an older version has sent it, which did not note what it asked for', async () => {
	const item = context();
	remember(item, { state: 'sent' });
	const { send, sent } = sendingFor(item);
	expect(await send('this')).toBe('It is not known');
	expect(sent).toEqual([]);
});

it('is sent when an older version has remembered the success of something unknown', async () => {
	const item = context();
	remember(item, { state: 'accepted', submissions: [], at: 0 });
	const { send } = sendingFor(item);
	expect(await send('this')).toBe(ITEMS);
});

it('is sent once when it is asked for twice at the same time', async () => {
	const { send, sent } = sendingFor();
	expect(await Promise.all([send('this'), send('this')])).toEqual([ITEMS, ITEMS]);
	expect(sent).toEqual(['this']);
});

it('that waited for its turn when an item beside it failed is sent by the next try', async () => {
	const { send } = sendingFor();
	await send('this', new Abandoned());
	expect(await send('this')).toBe(ITEMS);
});
