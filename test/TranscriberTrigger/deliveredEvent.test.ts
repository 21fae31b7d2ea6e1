/** Service document, "Events": what a delivery says has ended, and how. */

import {
	eventIn,
	eventNameOf,
	EVENTS,
	includesStatus,
	letterOf,
	storedNames,
} from '../../nodes/TranscriberTrigger/deliveredEvent';

describe('The stored names of a delivery', () => {
	it('are those of its task and its bot, each with its kind and as a bare id', () => {
		expect(storedNames({ task_id: '7f3c', bot_id: 'b1' })).toEqual([
			{ taskId: '7f3c', name: 'task 7f3c' },
			{ taskId: '7f3c', name: '7f3c' },
			{ botId: 'b1', name: 'bot b1' },
			{ botId: 'b1', name: 'b1' },
		]);
		expect(storedNames({ bot_id: 7 })).toEqual([
			{ botId: '7', name: 'bot 7' },
			{ botId: '7', name: '7' },
		]);
	});

	it('has the bare id once for the bot, if the task has the same id', () => {
		expect(storedNames({ task_id: '7', bot_id: '7' })).toEqual([
			{ taskId: '7', name: 'task 7' },
			{ botId: '7', name: '7' },
			{ botId: '7', name: 'bot 7' },
			{ botId: '7', name: '7' },
		]);
	});

	it.each([undefined, {}, { task_id: null, bot_id: '' }])('are none in %j', (body) =>
		expect(storedNames(body)).toEqual([]),
	);
});

describe('An id in a delivery', () => {
	const idIn = (task_id: unknown) => storedNames({ task_id })[1]?.name;

	it.each([
		['7f3c', '7f3c'],
		['..7', '..7'],
		[7, '7'],
		['x'.repeat(256), 'x'.repeat(256)],
	])('may be %j', (value, id) => expect(idIn(value)).toBe(id));

	it.each([
		'',
		' ',
		'.',
		'..',
		' .. ',
		'None',
		'null',
		'n/a',
		0,
		1.5,
		NaN,
		Infinity,
		true,
		{},
		['7'],
		'x'.repeat(257),
	])('is not %j', (value) => expect(idIn(value)).toBeUndefined());
});

describe('A delivery', () => {
	it.each(['completed', 'failed', 'cancelled', 'canceled'])('with "%s" is an ending', (status) => {
		const body = { task_id: '7f3c', status };
		expect(eventIn(body)).toEqual({ body, taskId: '7f3c', botId: undefined, status });
		expect(eventIn({ bot_id: 'b1', event: 'meeting', status })).toMatchObject({
			botId: 'b1',
			status,
		});
	});

	it('has its status as the document writes it', () => {
		expect(eventIn({ task_id: '7f3c', status: 'COMPLETED' })?.status).toBe('completed');
	});

	it.each([{}, { status: null }, { event: null, result_url: null }])(
		'of a transcription may have no status (%j)',
		(more) => {
			const body = { task_id: '7f3c', ...more };
			expect(eventIn(body)).toStrictEqual({ body, taskId: '7f3c', botId: undefined });
		},
	);

	it('of a transcription keeps a result_url of any type, because none is documented', () => {
		const body = { task_id: '7f3c', result_url: {} };
		expect(eventIn(body)).toStrictEqual({ body, taskId: '7f3c', botId: undefined });
	});

	it('of a transcription keeps an event of any type, because none is documented', () => {
		const body = { task_id: '7f3c', event: { type: 'transcription.completed' } };
		expect(eventIn(body)).toStrictEqual({ body, taskId: '7f3c', botId: undefined });
	});

	it.each(['done', 2, 200, { code: 'completed' }])(
		'of a transcription with the unknown status %j is unclear, and does not output it',
		(status) => {
			expect(eventIn({ task_id: '7f3c', status, more: 1 })).toStrictEqual({
				body: { task_id: '7f3c', more: 1 },
				taskId: '7f3c',
				botId: undefined,
				isUnclear: true,
			});
		},
	);

	it.each([
		[undefined],
		[{}],
		[{ status: 'completed' }],
		[{ task_id: '7f3c', status: 'processing' }],
		[{ task_id: '7f3c', status: 'Pending' }],
		[{ bot_id: 'b1' }],
		[{ bot_id: 'b1', status: 'joining' }],
		[{ task_id: '7f3c', bot_id: 'b1', status: 'done' }],
		[{ task_id: '7f3c', bot_id: 'b1', status: 7 }],
		[{ task_id: '7f3c', bot_id: 'b1', event: 7, status: 'completed' }],
		[{ bot_id: 'b1', status: 'completed', result_url: {} }],
		[{ task_id: {}, bot_id: 'b1', status: 'completed' }],
		[{ task_id: '7f3c', bot_id: true, status: 'completed' }],
		[{ task_id: '..', status: 'completed' }],
	])('%j is none that the document shows', (body) => expect(eventIn(body)).toBeUndefined());

	it.each([
		{ task_id: '7f3c', bot_id: '' },
		{ task_id: '7f3c', bot_id: ' ' },
		{ task_id: '7f3c', bot_id: 0 },
		{ task_id: '7f3c', bot_id: false },
		{ task_id: '7f3c', bot_id: null },
		{ task_id: '', bot_id: 'b1' },
		{ task_id: 0, bot_id: 'b1' },
	])('%j has one id, and the other is empty', (ids) => {
		expect(eventIn({ ...ids, status: 'completed' })).toBeDefined();
	});

	it.each([
		[
			{ task_id: '7f3c', bot_id: 'None', title: 'None' },
			{ task_id: '7f3c', title: 'None' },
		],
		[
			{ task_id: 0, bot_id: 'b1', note: '' },
			{ bot_id: 'b1', note: '' },
		],
	])('%j has no placeholder for an id in its fields', (given, kept) => {
		const status = { status: 'completed' };
		expect(eventIn({ ...given, ...status })?.body).toEqual({ ...kept, ...status });
	});

	it('loses only the fields that are nested deeper than n8n can save', () => {
		const nested = (levels: number) => {
			let value: unknown = 'end';
			for (let level = 0; level < levels; level++) value = level % 2 ? [value, null] : { value };
			return value;
		};
		const body = { task_id: '7f3c', status: 'failed', flat: [1, 'a', null], deep: nested(100) };
		expect(eventIn({ ...body, deeper: nested(101) })?.body).toEqual(body);
	});
});

describe('The event of a delivery', () => {
	const nameOf = (body: { event?: string }, status: string, botId?: string) =>
		eventNameOf({ body, botId }, status);

	it.each([
		['completed', 'transcriptionCompleted', 'meetingCompleted'],
		['failed', 'transcriptionFailed', 'meetingFailed'],
		['cancelled', 'transcriptionFailed', 'meetingFailed'],
	])('%s is %s, and %s of a meeting', (status, transcription, meeting) => {
		expect(nameOf({}, status)).toBe(transcription);
		expect(nameOf({ event: 'my meeting' }, status)).toBe(transcription);
		expect(nameOf({}, status, 'b1')).toBe(meeting);
		expect(nameOf({ event: 'meeting.ended' }, status)).toBe(meeting);
		expect(EVENTS).toEqual(expect.arrayContaining([transcription, meeting]));
	});
});

describe('An ending in the store', () => {
	it('has a letter for its status', () => {
		const statuses = [undefined, 'completed', 'failed', 'cancelled', 'canceled'];
		expect(statuses.map(letterOf)).toEqual(['?', 'c', 'f', 'x', 'x']);
	});

	it.each([
		['c', 'completed', true],
		['c', 'failed', false],
		['fc', 'completed', true],
		['c', undefined, true],
		['?', 'failed', true],
		['', 'failed', false],
	])('%j with a delivery of %s is a repeat: %s', (letters, status, isRepeat) => {
		expect(includesStatus(letters, status)).toBe(isRepeat);
	});
});
