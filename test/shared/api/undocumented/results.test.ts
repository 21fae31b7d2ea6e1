/** GET /tasks/{id}/result and /export, whose answers the service document does not show. */

import {
	documentIn,
	hasBlankParts,
	holdsContent,
	resultIn,
	resultsIn,
	silentResultIn,
	silentResultsIn,
	STATE_NAMES,
} from '../../../../nodes/shared/api/undocumented/results';

const LONG = 'x'.repeat(101);
const SILENT = { text: null, segments: null, summary: null, speakers: null };

describe('A result', () => {
	it.each([
		{ text: 'Hello' },
		{ text: '' },
		{ segments: [{ start: 0 }] },
		{ summary: 'Short', text: null },
		{ speakers: ['A'] },
		{ ...SILENT, text: '' },
	])('%j is the answer itself', (answer) => {
		expect(resultIn(answer)).toBe(answer);
		expect(resultIn([answer])).toBe(answer);
		expect(silentResultIn(answer)).toBeUndefined();
	});

	it.each(['result', 'data', 'transcript'])('may be under "%s"', (name) => {
		const result = { text: 'Hello' };
		expect(resultIn({ task_id: '7f3c', [name]: result })).toBe(result);
		expect(resultIn({ ...SILENT, [name]: result })).toBe(result);
	});

	it.each([
		{ words: ['Hello'] },
		{ transcription: 'Hello' },
		{ task_id: '7f3c', status: 'completed', utterances: {} },
		{ ...SILENT, words: [{ word: 'Hello' }] },
		{ ...SILENT, words: { a: 1 } },
		{ ...SILENT, transcription: LONG },
		{ result: 'Hello' },
	])('%j is kept whole, because an unknown field may be the transcript', (answer) => {
		expect(resultIn(answer)).toBe(answer);
	});

	it.each([
		[{}],
		[undefined],
		[null],
		['Hello'],
		[[]],
		[[{ text: 'a' }, { text: 'b' }]],
		[SILENT],
		[{ text: null }],
		[{ ...SILENT, language: 'ru', duration: 4, words: [] }],
		[{ ...SILENT, model: 'x'.repeat(100) }],
		[{ data: SILENT, words: ['Hello'] }],
		[{ words: null }],
		[{ task: { id: '7f3c', status: 'completed' } }],
		[{ ...SILENT, task: { id: '7f3c', status: 'completed' } }],
		[{ data: { status: 'processing' }, result: {} }],
		[Object.fromEntries(STATE_NAMES.map((name) => [name, LONG]))],
	])('is not in %j', (answer) => expect(resultIn(answer)).toBeUndefined());
});

describe('A recording in which nothing was said', () => {
	it.each([
		SILENT,
		{ text: null },
		{ segments: [], summary: '' },
		{ ...SILENT, status: 'completed' },
		{ ...SILENT, status: 'COMPLETED', task_id: '7f3c', error: null, detail: '', message: [] },
	])('%j has an empty text', (answer) => {
		expect(silentResultIn(answer)).toEqual({ ...answer, text: '' });
		expect(silentResultIn([answer])).toEqual({ ...answer, text: '' });
	});

	it('may be under another name', () => {
		const answer = { status: 'completed', data: { ...SILENT, language: 'ru' } };
		expect(silentResultIn(answer)).toEqual({ ...SILENT, language: 'ru', text: '' });
	});

	it.each([
		[{}],
		[null],
		[{ status: 'completed' }],
		[{ ...SILENT, status: 'processing' }],
		[{ ...SILENT, status: 'done' }],
		[{ ...SILENT, error: 'Not ready' }],
		[{ ...SILENT, detail: 'Not ready' }],
		[{ ...SILENT, message: 'Not ready' }],
		[{ status: 'processing', data: SILENT }],
		[{ ...SILENT, words: ['Hello'] }],
	])('is not what %j says', (answer) => expect(silentResultIn(answer)).toBeUndefined());
});

describe('A list of results', () => {
	it('has each of them', () => {
		const all = [{ text: 'One' }, { words: ['Two'] }];
		expect(resultsIn(all)).toEqual(all);
		expect(resultsIn([{ text: 'One' }])).toEqual([{ text: 'One' }]);
		expect(resultsIn({ data: { text: 'One' } })).toEqual([{ text: 'One' }]);
	});

	it('may have silent ones', () => {
		const all = [{ text: 'One' }, SILENT];
		expect(resultsIn(all)).toBeUndefined();
		expect(silentResultsIn(all)).toEqual([{ text: 'One' }, { ...SILENT, text: '' }]);
		expect(silentResultsIn(SILENT)).toEqual([{ ...SILENT, text: '' }]);
	});

	it.each([[[]], [[{ text: 'One' }, {}]], [['', null]], [['Hello']], [null], ['Hello']])(
		'is not %j',
		(answer) => {
			expect(resultsIn(answer)).toBeUndefined();
			expect(silentResultsIn(answer)).toBeUndefined();
		},
	);
});

describe('The parts of a result may follow', () => {
	it.each([
		[SILENT],
		[[SILENT]],
		[{ ...SILENT, words: ['Hello'] }],
		[{ data: SILENT }],
		[[{ text: 'One' }, SILENT]],
		[{ ...SILENT, text: '', success: false }],
		[{ ...SILENT, text: '', error: 'The storage is away' }],
	])('after %j', (answer) => expect(hasBlankParts(answer)).toBe(true));

	it.each([
		[{ text: 'Hello' }],
		[{ ...SILENT, text: '' }],
		[{ text: 'Hello', error: 'No summary' }],
		[{ words: ['Hello'] }],
		[[{ text: 'One' }, { text: 'Two' }]],
		[null],
	])('but not after %j', (answer) => expect(hasBlankParts(answer)).toBe(false));
});

describe('An answer holds more than the state of a task', () => {
	it.each([[{ text: 'Hello' }], [{ status: 'completed', words: 0 }], [{ other: '' }]])(
		'if it is %j',
		(answer) => expect(holdsContent(answer)).toBe(true),
	);

	it.each([[{}], [{ words: null }], [{ words: undefined }]])('but not if it is %j', (answer) =>
		expect(holdsContent(answer)).toBe(false),
	);

	it.each([
		...['task_id', 'id', 'status', 'progress', 'stage', 'queue_position', 'queue_total'],
		...['queue_state', 'awaiting_balance', 'error', 'detail', 'message', 'code', 'success', 'ok'],
	])('but "%s" is a part of the state', (name) => {
		expect(holdsContent({ [name]: 'x' })).toBe(false);
	});
});

describe('An exported document', () => {
	it('is the text in "content", which may be empty', () => {
		expect(documentIn({ content: '1\n00:00' }, 'srt')).toBe('1\n00:00');
		expect(documentIn({ content: '' }, 'txt')).toBe('');
		expect(documentIn([{ content: '1\n00:00' }], 'srt')).toBe('1\n00:00');
	});

	it('is no blank text where JSON is the format, because that is no JSON', () => {
		expect(documentIn({ content: '{"text": "Hello"}' }, 'json')).toBe('{"text": "Hello"}');
		expect(documentIn({ content: '' }, 'json')).toBeUndefined();
		expect(documentIn({ content: ' \n' }, 'json')).toBeUndefined();
		expect(documentIn({ content: ' \n' }, 'srt')).toBe(' \n');
	});

	it('is none of several in a list, because the others would be lost', () => {
		expect(documentIn([{ content: 'a' }, { content: 'b' }], 'srt')).toBeUndefined();
	});

	it('may come as parsed JSON where JSON is the format', () => {
		expect(documentIn({ content: { text: 'Hello' } }, 'json')).toBe('{\n\t"text": "Hello"\n}');
		expect(documentIn({ content: [1] }, 'json')).toBe('[\n\t1\n]');
		expect(documentIn({ content: { text: 'Hello' } }, 'txt')).toBeUndefined();
	});

	it.each([
		[{}],
		[null],
		['text'],
		[[{ content: 'a' }, { content: 'b' }]],
		[{ content: null }],
		[{ content: {} }],
		[{ content: [] }],
	])('is not in %j', (answer) => expect(documentIn(answer, 'json')).toBeUndefined());

	it('may come in a list of one, and then says its format: a list may also be the document itself', () => {
		const document = { format: 'json', content: { text: 'Hello' } };
		expect(documentIn([document], 'json')).toBe('{\n\t"text": "Hello"\n}');
		expect(documentIn([{ start: 0, end: 5, content: 'Hello' }], 'json')).toBeUndefined();
	});

	it('is no number', () => expect(documentIn({ content: 7 }, 'json')).toBeUndefined());
});
