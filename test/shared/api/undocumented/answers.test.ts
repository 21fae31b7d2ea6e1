/** What an answer with a success status says of what was asked. */
import { saysNo, saysNotEnded } from '../../../../nodes/shared/api/undocumented/answers';

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
		{ status: 423, error: 'Locked' },
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

	it.each([{ deleted: false }, { cancelled: false }, { canceled: 'false' }])(
		'%j says so only of a cancellation or DELETE',
		(answer) => {
			expect([saysNo(answer), saysNotEnded(answer)]).toEqual([false, true]);
		},
	);
});
