/** Answers to a submit, and states of tasks and bots: where the id and the state stand. */

import { taskIdOf } from '../../../../nodes/shared/api/undocumented/idNames';
import {
	deliveredIn,
	isRefused,
	saysNotAccepted,
	stateIn,
	SUBMISSION_LIST_NAMES,
	SUBMISSION_NAMES,
	submissionsIn,
	type SubmissionKind,
} from '../../../../nodes/shared/api/undocumented/submissions';

const NAMES = ['data', 'task', 'result', 'item', 'bot', 'meeting'];

describe('The answer to a submit', () => {
	it.each([
		[{ task_id: '7f3c', status: 'pending' }],
		[{ bot_id: 'b1', data: { task_id: '7f3c' } }],
		[{ id: '7f3c' }],
		[{ id: 'r1', data: { id: '7f3c' } }],
		[{ id: '7f3c', status: 'ok', item: { id: 'video_5' } }],
		[{ id: '7f3c', status: 'ok', data: 'v2.1' }],
		[{ message: 'accepted' }],
		[{}],
		[{ task_id: '', status: 'pending' }],
		[{ value: '7f3c', status: 'pending' }],
	])('%j stays as it is', (answer) => expect(submissionsIn(answer, 'link')).toEqual([answer]));

	it.each([
		{ jsonrpc: '2.0', id: 1, result: { id: '7f3c' } },
		{ id: 'req-1', status: 'ok', data: { id: '7f3c' } },
		{ jsonrpc: '2.0', id: 1, result: { taskId: '7f3c' } },
		{ id: 'req-1', status: 'success', task: { task_id: '7f3c' } },
	])('has the id of the task, not that of the request: %j', (answer) => {
		const [task] = submissionsIn(answer, 'link');
		expect(taskIdOf(task ?? {})).toBe('7f3c');
	});

	it.each([
		['7f3c', '7f3c'],
		[7, 7],
		['a.b:c-1_d', 'a.b:c-1_d'],
		[' 7f3c\n', '7f3c'],
		['1'.repeat(128), '1'.repeat(128)],
	])('may be the bare id %j', (answer, id) => {
		expect(submissionsIn(answer, 'link')).toEqual([{ task_id: id }]);
		expect(submissionsIn(answer, 'bot')).toEqual([{ bot_id: id }]);
	});

	it.each([
		{ task: { task_id: '7f3c', status: 'pending' }, items: [{ detail: 'subtitles ignored' }] },
		{ data: { task_id: '7f3c' }, results: [{ error: 'no speakers' }] },
		{ task: 'abc1', items: [{ detail: 'x' }] },
		{ id: '7f3c', results: [{ error: 'chapter 2: no audio' }, { error: 'chapter 3' }] },
	])('is one task beside a list of remarks: %j', (answer) => {
		const [task, ...others] = submissionsIn(answer, 'link');
		expect(others).toEqual([]);
		expect(task?.task_id ?? task?.id).toMatch(/^(7f3c|abc1)$/);
	});

	it.each([{ id: 'req-1' }, { status: 'processing' }])(
		'gives a refused element no id or status from beside the list: %j',
		(beside) => {
			const answer = { ...beside, tasks: [{ task_id: '7f3c' }, { error: 'private' }] };
			const [task, refused] = submissionsIn(answer, 'link');
			expect(task).toMatchObject({ task_id: '7f3c' });
			expect(refused).toEqual({ error: 'private' });
			expect(isRefused(refused)).toBe(true);
		},
	);

	it('gives a refused element what stands beside the list and is of all of them', () => {
		const answer = { bot_id: '', batch: 4, tasks: [{ task_id: '7f3c' }, { error: 'private' }] };
		expect(submissionsIn(answer, 'link')[1]).toEqual({ batch: 4, error: 'private' });
	});

	it.each([null, '', '0', 'none'])('may be a list beside a task_id that means none: %j', (none) => {
		const answer = { task_id: none, tasks: [{ task_id: '7f3c' }, { task_id: '8a4d' }] };
		expect(submissionsIn(answer, 'link').map(({ task_id: id }) => id)).toEqual(['7f3c', '8a4d']);
	});

	it.each(['accepted', 'job 7', '1'.repeat(129), true, 0, 1.5])('%j is no id', (answer) => {
		expect(submissionsIn(answer, 'link')).toEqual([{ value: answer }]);
	});

	it.each(NAMES)('may have the task or bot under "%s"', (name) => {
		const read = (inner: unknown) => submissionsIn({ ok: true, [name]: inner }, 'link');
		expect(read({ task_id: '7f3c' })).toEqual([{ ok: true, task_id: '7f3c' }]);
		expect(read({ bot_id: 'b1' })).toEqual([{ ok: true, bot_id: 'b1' }]);
		expect(read({ uuid: '7f3c' })).toEqual([{ ok: true, uuid: '7f3c' }]);
		expect(read('7f3c')).toEqual([{ ok: true, task_id: '7f3c' }]);
		expect(submissionsIn({ [name]: 'b1' }, 'bot')).toEqual([{ bot_id: 'b1' }]);
		expect(SUBMISSION_NAMES).toContain(name);
	});

	it('has a documented id one level down rather than a plain id of the request', () => {
		const answer = { id: 'r1', data: { id: 'x1' }, task: { task_id: '7f3c' } };
		expect(submissionsIn(answer, 'link')).toEqual([
			{ id: 'r1', data: { id: 'x1' }, task_id: '7f3c' },
		]);
	});

	it('that is a list has one task for each element', () => {
		expect(submissionsIn([{ task_id: 'a' }, 'b2'], 'link')).toEqual([
			{ task_id: 'a' },
			{ task_id: 'b2' },
		]);
		expect(submissionsIn([{ task_id: 'a' }], 'link')).toEqual([{ task_id: 'a' }]);
		expect(submissionsIn([], 'link')).toEqual([{}]);
	});

	it.each([
		...['tasks', 'items', 'data', 'results', 'content', 'value', 'records', '_embedded'],
		...['bots', 'meetings', 'task_ids', 'bot_ids'],
	])('may have a list of several under "%s"', (name) => {
		expect(submissionsIn({ batch: 4, [name]: [{ id: 'a' }, 'b2', { x: 1 }] }, 'link')).toEqual([
			{ batch: 4, id: 'a' },
			{ batch: 4, task_id: 'b2' },
			{ batch: 4, x: 1 },
		]);
		expect(SUBMISSION_LIST_NAMES).toContain(name);
	});

	describe('may have a list of all tasks of a link beside the id of the first', () => {
		const ids = (answer: object, kind: SubmissionKind = 'link') =>
			submissionsIn(answer, kind).map(taskIdOf);

		it.each([
			[{ task_id: 'a1', task_ids: ['a1', 'b2'] }],
			[{ task_id: 'a1', tasks: [{ id: 'a1' }, { id: 'b2' }] }],
			[{ data: { task_id: 'a1', tasks: [{ task_id: 'a1' }, { task_id: 'b2' }] } }],
			[{ task_id: 7, tasks: [{ task_id: '7' }, { task_id: 'b2' }] }],
			[{ success: true, data: { id: 'a1', tasks: [{ id: 'a1' }, { id: 'b2' }] } }],
			[{ result: { id: 'a1', items: ['a1', 'b2'] } }],
			[{ task_id: 'a1', data: { tasks: [{ task_id: 'a1' }, { task_id: 'b2' }] } }],
		])('%j', (answer) => expect(ids(answer)[1]).toBe('b2'));

		it.each([{ id: 'a1' }, { task_id: 'a1', webhook_secret: null }])(
			'and the secret and status beside it are those of the first: %j',
			(element) => {
				const answer = { status: 'awaiting_balance', webhook_secret: 's', task_id: 'a1' };
				const [first] = submissionsIn({ ...answer, tasks: [element, { id: 'b2' }] }, 'link');
				expect(first).toMatchObject({ status: 'awaiting_balance', webhook_secret: 's' });
			},
		);

		it.each([
			{ status: 'pending' },
			{ task_id: null, title: 'second' },
			{ title: 'second', status: 'rejected' },
			{ status: 'failed', message: 'Private' },
			{ success: false, message: 'Private' },
		])('of which one has no id: %j', (other) => {
			const tasks = [{ task_id: 'a1' }, other];
			expect(submissionsIn({ task_id: 'a1', tasks }, 'link')).toHaveLength(2);
		});

		it('but no remarks', () => {
			const answer = { task_id: 'a1', items: [{ task_id: 'a1' }, { note: 'late' }] };
			expect(ids(answer)).toEqual(['a1']);
		});

		it('of which some are refused', () => {
			const answer = { task_id: 'a1', items: [{ task_id: 'a1' }, { error: 'Private' }] };
			expect(submissionsIn(answer, 'link')).toEqual(answer.items);
		});

		it.each([
			[{ task_id: 'b2' }, ['s', 's']],
			[{ task_id: 'b2', webhook_secret: 'own' }, ['s', 'own']],
			[{ error: 'Private' }, ['s', undefined]],
		])('and the secret beside it is that of each without its own, of %j', (other, expected) => {
			const answer = { task_id: 'a1', webhook_secret: 's', tasks: [{ task_id: 'a1' }, other] };
			const secrets = submissionsIn(answer, 'link').map((task) => task.webhook_secret);
			expect(secrets).toEqual(expected);
		});

		it('and is that of the first alone if another one has its own', () => {
			const tasks = [{ id: 'a1' }, { id: 'b2', webhook_secret: 'own' }, { id: 'c3' }];
			const all = submissionsIn({ task_id: 'a1', webhook_secret: 's', tasks }, 'link');
			expect(all.map((task) => task.webhook_secret)).toEqual(['s', 'own', undefined]);
		});

		it.each(['file', 'bot'] as const)('but not of a %s, which is only one', (kind) => {
			const tasks = [{ task_id: 'a1' }, { task_id: 'b2' }];
			expect(ids({ task_id: 'a1', tasks }, kind)).toEqual(['a1']);
		});
	});

	it.each(NAMES)('may have the list of several under "%s", if no id stands beside it', (name) => {
		const read = (inner: object) => submissionsIn({ ok: true, [name]: inner }, 'link');
		expect(read({ batch: 4, tasks: [{ id: 'a1' }, 'b2'] })).toEqual([
			{ ok: true, batch: 4, id: 'a1' },
			{ ok: true, batch: 4, task_id: 'b2' },
		]);
		const beside = { task_id: 'a1', [name]: { tasks: [{ id: 'x1' }, { id: 'x2' }] } };
		expect(submissionsIn(beside, 'link')).toEqual([beside]);
	});

	it.each<[SubmissionKind, object]>([
		['file', { data: { task: { task_id: 'a1' }, tasks: [{ task_id: 'z9' }] } }],
		['link', { data: { task: { task_id: 'a1' }, items: [{ id: 'preset-1' }] } }],
		['bot', { data: { bot: { bot_id: 'b1' }, meetings: [{ id: 'm1' }] } }],
		['link', { id: '7f3c', status: 'success', data: { items: [{ id: 'preset-1' }] } }],
	])('of a %s is not read from a list that may be of something else: %j', (kind, answer) => {
		expect(submissionsIn(answer, kind)).toEqual([answer]);
	});

	it('of a link that is one task around others has these', () => {
		const answer = { task: { task_id: 'p1' }, tasks: [{ task_id: 'c1' }, { task_id: 'c2' }] };
		expect(submissionsIn(answer, 'link').map(taskIdOf)).toEqual(['c1', 'c2']);
	});

	it('may have a list of what the service refused', () => {
		const answer = { data: [{ error: 'Private' }, { detail: 'Private' }] };
		expect(submissionsIn(answer, 'link')).toEqual(answer.data);
	});

	it.each([
		[{ error: '', detail: [] }],
		[{ error: false, detail: null }],
		[{ message: 'Private' }],
		[{ error: 'Slow', status: 'PENDING' }],
		[{ error: 'Slow', id: 'a' }],
		['Private'],
		[null],
	])('does not refuse with %j', (element) => expect(isRefused(element)).toBe(false));

	it.each([
		{ status: 'rejected' },
		{ status: 'FAILED', message: 'Private' },
		{ success: false },
		{ status: 'error' },
	])('refuses with %j', (element) => expect(isRefused(element)).toBe(true));

	it.each([
		{ error: 'Private' },
		{ detail: 'Private' },
		{ success: false },
		{ detail: 'Private', status: 'error' },
	])('says that nothing is accepted: %j', (answer) => expect(saysNotAccepted(answer)).toBe(true));

	it.each([
		{},
		{ message: 'Accepted' },
		{ success: false, status: 'pending' },
		{ error: 'Slow', status: 'processing' },
		{ detail: 'Waits for balance', task_id: '7f3c' },
	])('does not say that nothing is accepted: %j', (answer) => {
		expect(saysNotAccepted(answer)).toBe(false);
	});

	it.each([
		[{ task_id: 'a', items: [{ id: 'b' }] }],
		[{ bot_id: 'a', items: [{ id: 'b' }] }],
		[{ tags: [{ id: 'b' }] }],
		[{ items: ['word'] }],
		[{ items: [] }],
	])('%j is one task', (answer) => expect(submissionsIn(answer, 'link')).toEqual([answer]));
});

describe('The state of a task or bot', () => {
	const state = (answer: unknown) => stateIn(answer, '7f3c');

	it.each([
		[{ task_id: '7f3c', status: 'processing' }],
		[{ status: 'processing' }],
		[{ task_id: '7f3c', status: 'processing', result: { status: 'ok' } }],
		[{ bot_id: '7f3c', status: 'recording', task: { task_id: 'a', status: 'pending' } }],
		[{ bot_id: '7f3c', status: 'odd', data: { id: 'x' } }],
		[{ bot_id: '7f3c', status: 'recording', data: { id: 'x', status: 'completed' } }],
		[{ id: '7f3c', status: 'completed', result: { status: 'ok', id: 'x' } }],
		[{ task_id: '7f3c', data: { task_id: '7f3c' } }],
		[{ task_id: '7f3c', status: 'queued', meeting: { id: 'm1', status: 'failed' } }],
		[{ task_id: '7f3c', status: 'transcribing', meeting: { status: 'completed' } }],
		[{ task_id: '7f3c', status: 'success', data: { bot_id: 'b1', status: 'failed' } }],
		[{ id: '7f3c', status: 'starting', bot: { bot_id: 'b1', status: 'failed' } }],
		[{ status: 'queued', meeting: { id: 'm1', status: 'failed' } }],
		[{ status: 'queued', bot: { id: 'b1', status: 'failed' } }],
		[{ status: 'queued', item: { id: 'f1', status: 'failed' } }],
		[{ status: 'failed', meeting: { id: 'm1', status: 'completed' } }],
		[{ status: 'unsuccessful', meeting: { id: 'm1', status: 'completed' } }],
		[
			{
				task_id: '7f3c',
				status: 'queued',
				meeting: { bot_id: 'b1', status: 'failed' },
				task: { id: 'x' },
			},
		],
		[{}],
	])('%j is the answer itself', (answer) => expect(state(answer)).toEqual(answer));

	it.each([200, '200', '200 OK', 'success', 'ok', 'found'])(
		'is in the envelope with the status %j, whatever id its row has',
		(status) => {
			for (const ids of [{ task_id: '7f3c' }, { id: '7f3c' }, {}]) {
				for (const row of [{ id: 5512 }, {}]) {
					const read = state({ status, ...ids, data: { ...row, status: 'completed' } });
					expect(read.status).toBe('completed');
				}
			}
		},
	);

	it.each([
		{ status: 200, task_id: '7f3c', item: { status: 'completed' } },
		{ status: 'success', task_id: '7f3c', item: { status: 'completed' } },
		{ status: 'found', item: { status: 'completed' } },
	])('is in the envelope %j, whose item has no id', (answer) => {
		expect(state(answer).status).toBe('completed');
	});

	it.each(NAMES)('may be under "%s", in a list too', (name) => {
		const inner = { task_id: '7f3c', status: 'COMPLETED' };
		const read = { ok: true, task_id: '7f3c', status: 'completed' };
		expect(state({ ok: true, [name]: inner })).toEqual(read);
		expect(state({ ok: true, [name]: [inner] })).toEqual(read);
		expect(state({ status: 'success', [name]: inner })).toEqual({
			task_id: '7f3c',
			status: 'completed',
		});
		expect(state({ [name]: { status: 'pending' } })).toEqual({ status: 'pending' });
	});

	it('is under the name with a documented id rather than under one with a status', () => {
		const answer = { data: { status: 'ok' }, task: { task_id: '7f3c', status: 'failed' } };
		expect(state(answer)).toEqual({ data: { status: 'ok' }, task_id: '7f3c', status: 'failed' });
	});

	it('is under the name with a documented id, also if that is the id of another one', () => {
		const answer = { data: { status: 'ok' }, task: { task_id: 'a', status: 'failed' } };
		expect(state(answer)).toMatchObject({ task_id: 'a', status: 'failed' });
	});

	it.each([
		['the id of the request beside it', { id: 'r1', task: { task_id: '7f3c', status: 'failed' } }],
		[
			'a status of the request beside it',
			{ id: 'r1', status: 'completed', task: { task_id: '7f3c', status: 'failed' } },
		],
		['a status without an id', { status: 'completed', task: { id: '7f3c', status: 'failed' } }],
		[
			'an unknown status of the request',
			{ task_id: '7f3c', status: 'success', data: { status: 'failed' } },
		],
		['a code of the request', { task_id: '7f3c', status: 200, data: { status: 'failed' } }],
		[
			'an unknown status and the same id beside it',
			{ task_id: '7f3c', status: 'accepted', data: { id: '7f3c', status: 'failed' } },
		],
		[
			'another bot or task beside it',
			{
				status: 'success',
				meeting: { bot_id: 'b1', status: 'completed' },
				task: { id: '7f3c', status: 'failed' },
			},
		],
	])('counts with %s', (_, answer) => expect(state(answer)).toMatchObject({ status: 'failed' }));

	it('in a list of several is that of the task or bot with the id', () => {
		const other = { task_id: 'a', status: 'failed' };
		for (const name of ['bot_id', 'task_id', 'id', 'taskId', 'uuid']) {
			const own = { [name]: '7f3c', status: 'pending' };
			expect(state([other, own])).toEqual(own);
			expect(state({ data: [other, own] })).toMatchObject(own);
		}
		expect(stateIn([other, { task_id: 7, status: 'pending' }], '7')).toMatchObject({ task_id: 7 });
		expect(state([other, { task_id: 'b', status: 'failed' }])).toEqual({});
		expect(state([null, 'x', { status: 'pending' }])).toEqual({ status: 'pending' });
	});

	it.each([['OK'], [null], [undefined], [[]], [7]])('is not in %j', (answer) =>
		expect(state(answer)).toEqual({}),
	);

	it('is read as the document writes it', () => {
		expect(state({ status: 'FAILED' })).toEqual({ status: 'failed' });
	});
});

describe('The body of a delivery', () => {
	const TASK = { task_id: '7f3c', status: 'completed' };

	it.each<[object, object]>([
		[
			{ type: 'event', data: TASK },
			{ type: 'event', ...TASK },
		],
		[{ meeting: { bot_id: 7, task_id: '7f3c' } }, { bot_id: 7, task_id: '7f3c' }],
		[{ status: 'ok', task: TASK }, TASK],
	])('may have its ids in an envelope: %j', (body, opened) => {
		expect(deliveredIn(body as never)).toEqual(opened);
	});

	it.each([
		TASK,
		{ ...TASK, data: { task_id: 'other' } },
		{ bot_id: 'b1', task: TASK },
		{ data: { id: '7f3c' } },
		{ data: [TASK] },
		{ data: '7f3c' },
		{},
	])('is left as it is if it has an id itself, or none is inside: %j', (body) => {
		expect(deliveredIn(body)).toBe(body);
	});
});
