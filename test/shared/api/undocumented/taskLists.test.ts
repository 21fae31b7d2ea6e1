/** GET /tasks, whose answer the service document does not show. */

import {
	dateOf,
	DATE_NAMES,
	CREATED_NAMES,
	holdsNothing,
	LIST_NAMES,
	PAGE_SIZES,
	tasksIn,
	TITLE_NAMES,
	titleOf,
} from '../../../../nodes/shared/api/undocumented/taskLists';

const TASK = { task_id: '7f3c', status: 'COMPLETED' };
const READ = { task_id: '7f3c', status: 'completed' };

describe('The list of tasks', () => {
	it('may be the answer itself', () => expect(tasksIn([TASK])).toEqual([READ]));

	it.each([...['tasks', 'items', 'data', 'results', 'content', 'value', 'records', '_embedded']])(
		'may be under "%s", and one level deeper',
		(name) => {
			expect(tasksIn({ total: 1, [name]: [TASK] })).toEqual([READ]);
			expect(tasksIn({ [name]: { tasks: [TASK] } })).toEqual([READ]);
			expect(LIST_NAMES).toContain(name);
		},
	);

	it('is the one that holds tasks, where another name holds none', () => {
		expect(tasksIn({ tasks: null, data: [TASK] })).toEqual([READ]);
	});

	it('is the one that an answer shows beside an error', () => {
		expect(tasksIn({ tasks: [TASK], error: 'A shard is away' })).toEqual([READ]);
	});

	it.each([
		[[]],
		[{ code: 200, data: null }],
		[{ code: 0, tasks: [] }],
		[{ code: 404, message: 'No tasks found', data: [] }],
		[{ success: false, message: 'No tasks found', tasks: [] }],
		[{ error: 'No tasks', data: null }],
		[{ tasks: [] }],
		[{ data: { items: [] } }],
		[{ tasks: null }],
	])('%j has no tasks', (answer) => expect(tasksIn(answer)).toEqual([]));

	it.each([
		[{}],
		[{ message: 'ok' }],
		['tasks'],
		[null],
		[undefined],
		[7],
		[{ data: { items: { records: [TASK] } } }],
		[{ code: 500, message: 'The database is down', data: null }],
		[{ status: 503, tasks: [] }],
		[{ code: '429', message: 'Too many requests', items: [] }],
	])('%j is no list', (answer) => expect(tasksIn(answer)).toBeUndefined());
});

describe('A success without a list means that there are no more tasks', () => {
	it.each([[{}], [{ tasks: null, total: 0 }]])('in %j', (answer) =>
		expect(holdsNothing(answer)).toBe(true),
	);

	it.each([
		[{ message: 'ok' }],
		[{ tasks: [] }],
		[{ other: null }],
		[{ code: 429, message: 'Too many requests', data: null }],
	])('but not in %j', (answer) => expect(holdsNothing(answer)).toBe(false));
});

describe('The date of a task', () => {
	const TIME = Date.UTC(2026, 10, 22, 12);

	it.each(['created_at', 'createdAt', 'created', 'submitted_at', 'date', 'started_at'])(
		'may be in "%s", as a text or a number',
		(name) => {
			expect(dateOf({ [name]: '2026-11-22T12:00:00Z' })).toBe(TIME);
			expect(dateOf({ [name]: TIME })).toBe(TIME);
			expect(dateOf({ [name]: TIME / 1000 })).toBe(TIME);
			expect(DATE_NAMES).toContain(name);
		},
	);

	it('is the first that can be read', () => {
		expect(dateOf({ created_at: 'today', date: TIME, started_at: TIME + 1 })).toBe(TIME);
		expect(dateOf({ created_at: null })).toBeUndefined();
		expect(dateOf({ created_at: Number.MAX_SAFE_INTEGER })).toBeUndefined();
	});

	it.each(['03.12.2026 10:15:00', '03/12/2026 10:15', '12/03/2026', 'March 2026'])(
		'is not in %j, because the day may come first',
		(created_at) => expect(dateOf({ created_at })).toBeUndefined(),
	);

	it.each([
		'2026-11-22 12:00:00Z',
		'2026-11-22T15:00:00+03:00',
		'2026-11-22T12:00Z',
		'Sun, 22 Nov 2026 12:00:00 GMT',
		'Sun Nov 22 2026 12:00:00 GMT+0000',
		'22-Nov-2026 12:00:00Z',
	])('is in %j', (created_at) => expect(dateOf({ created_at })).toBe(TIME));

	it('of its making is never that of the recording itself', () => {
		expect(CREATED_NAMES).toEqual(['created_at', 'createdAt', 'created', 'submitted_at']);
		expect(dateOf({ date: TIME, started_at: TIME }, CREATED_NAMES)).toBeUndefined();
	});
});

describe('The name of a recording', () => {
	it.each(['file_name', 'filename', 'original_filename', 'title', 'name'])(
		'may be in "%s"',
		(name) => {
			expect(titleOf({ [name]: 'talk.mp3' })).toBe('talk.mp3');
			expect(TITLE_NAMES).toContain(name);
		},
	);

	it('is the first text that is not blank', () => {
		expect(titleOf({ file_name: ' ', filename: 7, title: 'Talk', name: 'x' })).toBe('Talk');
		expect(titleOf({ file_name: null })).toBeUndefined();
	});
});

it('The page sizes to try become smaller', () => expect(PAGE_SIZES).toEqual([100, 50, 20, 10]));
