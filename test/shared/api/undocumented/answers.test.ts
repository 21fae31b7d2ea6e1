/** What an answer with a success status says of what was asked. */
import {
	saysNo,
	saysNotEnded,
	saysOnlyNo,
} from '../../../../nodes/shared/api/undocumented/answers';

const LOCKED = 'The dictionary is locked';

describe('A success', () => {
	it.each([
		{ success: false },
		{ success: 'false' },
		{ success: 0 },
		{ ok: false },
		{ error: LOCKED },
		{ service_error: LOCKED },
		{ error: { code: 423 } },
		{ error: true },
		{ status: 'error', message: LOCKED },
		{ status: 'Fail' },
		{ status: 400, message: LOCKED },
		{ status: 599 },
		{ status: 423, error: 'Locked' },
		{ code: 423, message: LOCKED },
		{ code: '500' },
		{ bot_id: '1', status: 'recording', error: 'The bot is recording' },
		{ detail: { error_code: 'locked', message: LOCKED } },
	])('%j says that nothing was done', (answer) => {
		expect([saysNo(answer), saysNotEnded(answer)]).toEqual([true, true]);
	});

	it.each([
		{},
		{ message: 'Saved' },
		{ detail: 'Saved' },
		{ detail: {} },
		{ error: null },
		{ error: '' },
		{ error: false },
		{ error: {} },
		{ error: [] },
		{ status: 'ok' },
		{ status: 'no error' },
		{ status: 600 },
		{ code: 200, message: 'OK' },
		{ code: 0 },
		{ code: 'locked' },
		{ success: true, code: 404 },
		{ success: true, error: 'none' },
		{ ok: 1, status: 'error' },
		{ terms: ['a'], error: 'Some terms are too long' },
		{ task_id: '1', status: 'cancelled', error: 'Cancelled by the user' },
		{ task_id: '1', status: 'failed', error: 'Cancelled by the user' },
		{ bot_id: '1', status: 'stopped', error: 'Stopped by the user' },
		{ bot_id: '1', cancelled: false, stopped: true },
	])('%j does not', (answer) => {
		expect([saysNo(answer), saysNotEnded(answer)]).toEqual([false, false]);
	});

	it.each([
		{ success: false },
		{ ok: 0, message: LOCKED },
		{ success: false, error: LOCKED },
		{ success: false, service_error: LOCKED, requestId: 'r1' },
		{ status: 'error', message: LOCKED },
		{ detail: { error_code: 'locked', message: LOCKED } },
		{ data: { success: false } },
	])('%j says that nothing was done, and no more', (answer) => {
		expect(saysOnlyNo(answer)).toBe(true);
	});

	it.each([
		{ error: LOCKED },
		{ status: 'pending', error: LOCKED },
		{ detail: LOCKED },
		{ status: 'error', api_key: 'K2', message: 'The mail could not be sent' },
		{ data: { api_key: 'K2', ok: false } },
		{ success: false, transcript_ref: 'abc' },
		{ success: false, recovery_code: 'K2' },
		{ success: false, code_of_key: 'K2' },
		{ ok: false, data: 'abc' },
		{ detail: { error_code: 0, message: 'OK' } },
		{ status: 20000, message: 'OK' },
		[{ term: 'a', ok: false }],
	])('%j does not say only that', (answer) => expect(saysOnlyNo(answer)).toBe(false));

	it.each([
		{ data: { cancelled: false } },
		{ deleted: 0 },
		{ success: true, data: { cancelled: false } },
		{ result: { success: false } },
		[{ cancelled: false }],
	])('%j says in an envelope or a list that nothing was ended', (answer) => {
		expect(saysNotEnded(answer)).toBe(true);
	});

	it.each([
		{ data: { task_id: '1', status: 'cancelled', error: 'Cancelled by the user' } },
		{ success: true, data: {} },
		{ success: true, data: { count: 2, error: 'one term is a duplicate' } },
		{ data: { count: 2, ok: 0 } },
		{ result: 'stopped' },
		[{ term: 'a', error: 'duplicate' }],
		[
			{ term: 'a', ok: true },
			{ term: 'b', ok: false },
		],
		[],
	])('%j does not say so', (answer) => expect(saysNotEnded(answer)).toBe(false));

	it.each([{ deleted: false }, { cancelled: false }, { canceled: 'false' }])(
		'%j says so only of a cancellation or DELETE',
		(answer) => {
			expect([saysNo(answer), saysNotEnded(answer)]).toEqual([false, true]);
		},
	);
});
