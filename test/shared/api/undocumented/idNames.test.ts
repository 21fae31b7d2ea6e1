/** Ids, whose names and types the service document does not always show. */
// Also covers answers.ts, dictionaryChars.ts, linkField.ts, nodes/shared/api/sizeLimits.ts.

import { objectsIn } from '../../../../nodes/shared/api/undocumented/answers';
import {
	idIn,
	isNoId,
	listedTaskId,
	taskIdOf,
} from '../../../../nodes/shared/api/undocumented/idNames';
import { DICTIONARY_LIMIT_CHARS, MAX_FILE_BYTES } from '../../../../nodes/shared/api/sizeLimits';
import { dictionaryChars } from '../../../../nodes/shared/api/undocumented/dictionaryChars';
import { LINK_FIELD } from '../../../../nodes/shared/api/undocumented/linkField';

describe('An id', () => {
	it.each([
		['7f3c', '7f3c'],
		['00', '00'],
		['n', 'n'],
		[7, '7'],
		[-7, '-7'],
		[Number.MAX_SAFE_INTEGER, '9007199254740991'],
	])('%j is %j', (value, id) => expect(idIn(value)).toBe(id));

	it.each([
		'',
		' ',
		'None',
		'nil',
		'n/a',
		'N/A',
		'NA',
		'-',
		'0',
		'False',
		'.',
		' .. ',
		'00000000-0000-0000-0000-000000000000',
		0,
		1.5,
		NaN,
		Number.MAX_SAFE_INTEGER + 1,
		true,
		null,
		undefined,
		{},
		['7'],
	])('is not %j', (value) => expect(idIn(value)).toBeUndefined());
});

describe('The id of a task', () => {
	it.each(['task_id', 'id', 'taskId', 'uuid'])('may be in "%s"', (name) => {
		expect(taskIdOf({ [name]: '7f3c' })).toBe('7f3c');
		expect(listedTaskId({ [name]: '7f3c' })).toBe('7f3c');
	});

	it('is in "task_id" first', () => {
		expect(taskIdOf({ id: 'a', task_id: 'b' })).toBe('b');
		expect(taskIdOf({ task_id: null, id: 'a' })).toBe('a');
		expect(listedTaskId({ id: 'a', task_id: 'b' })).toBe('b');
	});

	it('is in "task_id" alone where the answer is about a bot', () => {
		expect(taskIdOf({ bot_id: 'b1', id: 'b1' })).toBeUndefined();
		expect(taskIdOf({ bot_id: 'b1', task_id: '7f3c' })).toBe('7f3c');
		for (const botId of [null, '', 0]) expect(taskIdOf({ bot_id: botId, id: '7f3c' })).toBe('7f3c');
	});

	it('in a list may be beside that of a bot, but is not the id of the bot', () => {
		expect(listedTaskId({ bot_id: 'b1', id: '7f3c' })).toBe('7f3c');
		expect(listedTaskId({ bot_id: 'b1', id: 'b1', uuid: '7f3c' })).toBe('7f3c');
		expect(listedTaskId({ bot_id: 7, id: 7 })).toBeUndefined();
		expect(listedTaskId({ bot_id: 7, task_id: 7 })).toBe('7');
		expect(listedTaskId({ status: 'pending' })).toBeUndefined();
	});
});

describe('An answer as a list of objects', () => {
	it.each<[unknown, object[]]>([
		[{ a: 1 }, [{ a: 1 }]],
		[
			[{ a: 1 }, { b: 2 }],
			[{ a: 1 }, { b: 2 }],
		],
		['OK', [{ value: 'OK' }]],
		[
			[7, 'x'],
			[{ value: 7 }, { value: 'x' }],
		],
		[false, [{ value: false }]],
		[0, [{ value: 0 }]],
		[[[1]], [{ value: [1] }]],
		['', [{}]],
		[null, [{}]],
		[undefined, [{}]],
		[[], [{}]],
		[
			[null, []],
			[{}, {}],
		],
	])('%j is %j', (answer, objects) => expect(objectsIn(answer)).toStrictEqual(objects));
});

describe('What is assumed of requests', () => {
	it('a dictionary is counted in code points, without separators', () => {
		expect(dictionaryChars([])).toBe(0);
		expect(dictionaryChars(['n8n', 'Ёлка', '😀'])).toBe(8);
		expect(DICTIONARY_LIMIT_CHARS).toBe(20_000);
	});

	it('8 GB are binary, and the link is in "url"', () => {
		expect([MAX_FILE_BYTES, LINK_FIELD]).toEqual([8_589_934_592, 'url']);
	});
});

it('a long text of blanks, which anybody may send, is read at once', () => {
	expect(isNoId(`${' '.repeat(999_000)}x`)).toBe(false);
	expect(isNoId(` ${'-'.repeat(10)} `)).toBe(true);
});
