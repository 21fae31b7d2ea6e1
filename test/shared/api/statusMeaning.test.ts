/** Service document, "Task states": the documented words, and what else a service may write. */

import {
	awaitsBalance,
	hasEnded,
	isCancelled,
	isInProgress,
	isUnknownStatus,
	startsIn,
	statusIn,
	statusWord,
	statusWithoutTask,
	withStatus,
} from '../../../nodes/shared/api/statusMeaning';

const ENDED = ['completed', 'failed', 'cancelled', 'canceled', 'cancelled_by_user', 'CANCELLED'];
const IN_PROGRESS = ['pending', 'processing', 'awaiting_balance'];
const UNKNOWN = ['queued', 'done', 'REVOKED', 'not cancelled', 3];
const NONE = [undefined, null, ''];

describe('A status', () => {
	it.each(ENDED)('%s is final', (status) => {
		expect([hasEnded(status), isInProgress(status), isUnknownStatus(status)]).toEqual([
			true,
			false,
			false,
		]);
	});

	it.each(IN_PROGRESS)('%s is in progress', (status) => {
		expect([hasEnded(status), isInProgress(status), isUnknownStatus(status)]).toEqual([
			false,
			true,
			false,
		]);
	});

	it.each(UNKNOWN)('%s is known to nobody', (status) => {
		expect([hasEnded(status), isInProgress(status), isUnknownStatus(status)]).toEqual([
			false,
			false,
			true,
		]);
	});

	it.each(NONE)('%j is none at all', (status) => {
		expect([hasEnded(status), isInProgress(status), isUnknownStatus(status)]).toEqual([
			false,
			false,
			false,
		]);
	});

	it('is that of a cancelled task only if it is a text that begins with "cancel"', () => {
		const statuses = ['cancelled', 'Canceled', 'uncancelled', 'failed', ['cancelled'], undefined];
		expect(statuses.map(isCancelled)).toEqual([true, true, false, false, false, false]);
	});

	it.each([
		['COMPLETED', 'completed'],
		[' Failed\n', 'failed'],
		['Awaiting_Balance', 'awaiting_balance'],
		['pending', 'pending'],
		['Processing', 'processing'],
		['Queued', 'Queued'],
		[' CANCELLED ', ' CANCELLED '],
		[3, 3],
		[null, null],
		[undefined, undefined],
	])('%j is read as %j', (given, read) => {
		expect(statusIn(given)).toBe(read);
		expect(withStatus({ status: given, task_id: '7f3c' })).toEqual({
			status: read,
			task_id: '7f3c',
		});
	});

	it('is not added to a state that has none', () => {
		expect(withStatus({ task_id: '7f3c' })).toStrictEqual({ task_id: '7f3c' });
	});

	it('"completed" of a bot without a task is not the end', () => {
		const said = statusWithoutTask({ status: 'completed' });
		expect(said).toBe('completed, but without a task yet');
		expect([hasEnded(said), statusWithoutTask({ status: 'joining' })]).toEqual([false, 'joining']);
	});
});

describe('A task waits for balance', () => {
	it.each([
		...[true, 1, 'true', 'TRUE', '1'].map((awaiting_balance) => ({ awaiting_balance })),
		{ queue_state: 'awaiting_balance' },
		{ status: 'awaiting_balance' },
	])('that says %j', (task) => expect(awaitsBalance(task)).toBe(true));

	it.each([
		{},
		...[false, 0, 'false', '', null, {}].map((awaiting_balance) => ({ awaiting_balance })),
		{ awaiting_balance: 'no' },
		{ queue_state: 'queued', status: 'pending' },
	])('but not one that says %j', (task) => expect(awaitsBalance(task)).toBe(false));
});

describe('The start of a bot', () => {
	const NOON = Date.UTC(2030, 0, 31, 12);

	it.each([
		'2030-01-31T12:00:00Z',
		' 2030-01-31T12:00:00Z\n',
		'2030-01-31T12:00:00z',
		'2030-01-31T15:00:00+03:00',
		'2030-01-31T15:00:00+0300',
		'2030-01-31T07:00:00-05:00',
		...['2030-01-31 15:00:00+03', '2030-01-31 15:00:00+03:00', '2030-01-31 15:00+0300'],
		...['2030-01-31 07:00:00-05', '2030-01-31 12:00:00Z'],
		NOON,
		NOON / 1000,
	])('%s has one reading', (start) => {
		expect(startsIn({ scheduled_start_at: start })).toStrictEqual([NOON]);
	});

	it.each(['2030-01-31T12:00:00', '2030-01-31 12:00:00', '2030-01-31T12:00:00 '])(
		'%j, without an offset, is read in UTC first, and then in the time zone of n8n',
		(start) => {
			const local = new Date(2030, 0, 31, 12).getTime();
			expect(startsIn({ scheduled_start_at: start })).toStrictEqual([NOON, local]);
		},
	);

	it.each([undefined, null, '', 'soon', '12.01.2030 12:00', '0001-01-01T00:00:00Z', 0])(
		'%j is unknown',
		(start) => {
			expect(startsIn({ scheduled_start_at: start })).toStrictEqual([]);
		},
	);
});

it.each([
	['processing', 'processing'],
	[3, '3'],
	['', undefined],
	[null, undefined],
	[{}, undefined],
	[['failed'], undefined],
])('The status %j is shown as %j', (given, shown) => expect(statusWord(given)).toBe(shown));
