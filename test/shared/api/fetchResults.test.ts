/** GET /tasks/{id}/result of a finished task: the order of the output, and what happens if the result is not there. */

import {
	fetchResults,
	NotThereYet,
	SILENT,
	transcript,
} from '../../../nodes/shared/api/fetchResults';
import type { Caller } from '../../../nodes/shared/api/types';
import { itemContext } from '../../support/itemContext';
import { additionalDataFor } from '../../support/n8n';
import { serviceForTests } from '../../support/service';
import { contextsWith } from '../n8nInternals/contexts';

const service = serviceForTests();
beforeEach(() => jest.replaceProperty(SILENT, 'pauseMs', 0));

/** Nothing was said, or the parts follow. */
const BLANK = { text: null, segments: null };

const answers = (...bodies: unknown[]) =>
	bodies.forEach((body) =>
		service
			.running()
			.fault({ match: {}, times: 1, action: { kind: 'respond', status: 200, body } }),
	);
const forItem = () => itemContext({}, { credentials: service.credentials() });
const fetched = async (caller: Caller = forItem()) => await fetchResults(caller, '7f3c');

it('A transcript begins with what is read first, and ends with the long segments', () => {
	const result = { segments: [], language: 'ru', speakers: ['A'], summary: 'Short', text: 'Hello' };
	const facts = { progress: 100, status: 'completed', bot_id: 'b1', task_id: '7f3c' };
	const names = ['text', 'summary', 'speakers', 'task_id', 'bot_id', 'status'];
	expect(Object.keys(transcript(result, facts))).toEqual([
		...names,
		'progress',
		'language',
		'segments',
	]);
});

it('An answer without a result is an error at once, which says that the task is not lost', async () => {
	answers({}, { task_id: '7f3c', status: 'completed' }, { text: 'Hello' });
	const fetching = fetched();
	await expect(fetching).rejects.toBeInstanceOf(NotThereYet);
	await expect(fetching).rejects.toMatchObject({
		message: 'The answer of the service holds no result of task 7f3c',
		description: expect.stringContaining('The task is not lost'),
	});
	expect(service.lines()).toHaveLength(1);
});

it('An answer with empty parts is asked for once more, also for a call of a webhook', async () => {
	const { webhookCall } = contextsWith(additionalDataFor(service.credentials()));
	for (const caller of [forItem(), webhookCall as unknown as Caller]) {
		answers(BLANK, { task_id: '7f3c', status: 'completed' }, { text: 'Hello' });
		expect(await fetched(caller)).toEqual([{ text: 'Hello' }]);
	}
});

it('An empty text beside an error is asked for once more, and then counts: nothing may have been said', async () => {
	const empty = { text: '', segments: [], success: false, error: 'The storage is away' };
	answers(empty, { text: 'Hello' });
	expect(await fetched()).toEqual([{ text: 'Hello' }]);
	answers(empty, empty);
	expect(await fetched()).toEqual([empty]);
});

it('A result that is gone when it is asked for once more is an error', async () => {
	answers(BLANK, { task_id: '7f3c', status: 'completed' }, {});
	await expect(fetched()).rejects.toBeInstanceOf(NotThereYet);
});

it('A text in place of the result is no answer of the service, neither at first nor later', async () => {
	const isOther = { problem: { transport: 'notJson' } };
	answers('OK');
	await expect(fetched()).rejects.toMatchObject(isOther);
	answers(BLANK, { task_id: '7f3c', status: 'completed' }, 'OK');
	await expect(fetched()).rejects.toMatchObject(isOther);
});

it.each([
	{ status: 'processing', text: '' },
	{ status: 'PENDING', text: '', segments: [], message: 'Not ready' },
	{ status: 'processing', text: 'Hello, and', segments: [] },
	{ result: { status: 'processing', text: 'Hello, and' } },
	{ status: 'failed', text: '', error: 'Storage' },
])(
	'A result that says itself that it comes later is asked for once more, and then counts: %j',
	async (body) => {
		const whole = { text: 'Hello, and welcome', status: 'completed' };
		answers(body, whole);
		expect(await fetched()).toEqual([whole]);
		answers(body, body);
		expect(await fetched()).toHaveLength(1);
	},
);

it.each([
	{ status: 'completed', text: '' },
	{ status: 'failed', text: 'Hello' },
	{ status: 'archived', text: 'Hello' },
])('A result with a status that says nothing of the kind counts: %j', async (body) => {
	answers(body);
	expect(await fetched()).toEqual([body]);
});
