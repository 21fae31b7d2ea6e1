/** Copies of answers without secrets, and what counts as a secret in them. */
// Also covers redact.ts, nodes/shared/jsonValues.ts.

import { holdsLongerKey, withoutApiKey, withoutSecrets } from '../../../nodes/shared/api/redact';
import { jsonOf } from '../../../nodes/shared/jsonValues';

const KEY = 'key+of/1';

describe('The API key in a text', () => {
	it('is masked wherever it stands, URL-encoded too', () => {
		expect(withoutApiKey(`a ${KEY} b ${KEY}`, KEY)).toBe('a *** b ***');
		expect(withoutApiKey(`?key=${encodeURIComponent(KEY)}`, KEY)).toBe('?key=***');
	});

	it('is left alone if it is too short to be one', () => {
		expect(withoutApiKey('text 1234567', '1234567')).toBe('text 1234567');
		expect(withoutApiKey('text 12345678', '12345678')).toBe('text ***');
	});
});

describe('A longer key that contains this one', () => {
	it.each([
		...[`x${KEY}`, `-${KEY}`, `${KEY}x`, `${KEY}-`, `${KEY}.x`, `${KEY}:x`, `${KEY}~x`],
		...[`v2.${KEY}`, `v2:${KEY}`, `2|${KEY}`, `${KEY}|2`],
	])('is in %j', (text) => {
		expect(holdsLongerKey({ data: [{ api_key: text }] }, KEY)).toBe(true);
		expect(holdsLongerKey({ [text]: 1 }, KEY)).toBe(true);
		expect(holdsLongerKey(text, KEY)).toBe(true);
	});

	it.each([KEY, `${KEY}. Next`, ` ${KEY} `, `"${KEY}"`, 'keyyof/1x', 7, null])(
		'is not in %j',
		(text) => expect(holdsLongerKey({ text }, KEY)).toBe(false),
	);

	it('is looked for in an answer that contains itself', () => {
		const answer: Record<string, unknown> = { text: 'x' };
		answer.self = answer;
		expect(holdsLongerKey(answer, KEY)).toBe(false);
	});
});

describe('A copy of an answer', () => {
	it('has everything but secrets', () => {
		const date = new Date(0);
		const answer = { a: [1, null, { b: `is ${KEY}` }], [`field ${KEY}`]: true, date };
		const copy = withoutSecrets(answer, KEY);
		expect(copy).toStrictEqual({ a: [1, null, { b: 'is ***' }], 'field ***': true, date });
		expect(answer.a).toStrictEqual([1, null, { b: `is ${KEY}` }]);
		expect(withoutSecrets(KEY, KEY)).toBe('***');
		expect([withoutSecrets(7, KEY), withoutSecrets(null, KEY)]).toEqual([7, null]);
	});

	it.each([
		'webhook_secret',
		'webhookSecret',
		'webhook-secret',
		'Webhook_Secret',
		'webhook_signing_secret',
	])('has no %s, at any depth', (name) => {
		expect(withoutSecrets({ id: 1, [name]: 's', in: [{ [name]: 's' }] }, KEY)).toStrictEqual({
			id: 1,
			in: [{}],
		});
	});

	it.each(['my_webhook_secret', 'webhook_secrets', 'secret'])('keeps %s', (name) => {
		expect(withoutSecrets({ [name]: 's' }, KEY)).toStrictEqual({ [name]: 's' });
	});

	it('keeps the secret at the top, or every one, for a caller that needs it', () => {
		const one = { webhook_secret: 's', in: { webhook_secret: 't' }, webhookSecret: 'u' };
		expect(withoutSecrets(one, KEY, true)).toStrictEqual({ webhook_secret: 's', in: {} });
		expect(withoutSecrets([one], KEY, true)).toStrictEqual([{ webhook_secret: 's', in: {} }]);
		expect(withoutSecrets(one, KEY, 'everywhere')).toStrictEqual(one);
	});

	it('has no field that would change the prototype', () => {
		const answer = JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as unknown;
		const copy = withoutSecrets(answer, KEY);
		expect(copy).toStrictEqual({ b: 2 });
		expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
	});

	it('may contain itself, or be nested deeper than the stack', () => {
		const loop: Record<string, unknown> = {};
		loop.self = loop;
		const copy = withoutSecrets(loop, KEY) as Record<string, unknown>;
		expect(copy.self).toBe(copy);
		let deep: unknown = 'end';
		for (let level = 0; level < 50_000; level++) deep = [deep];
		expect(Array.isArray(withoutSecrets(deep, KEY))).toBe(true);
		expect(jsonOf(deep)).toBe('');
	});
});

it('JSON of a value for a message', () => {
	expect(jsonOf({ a: 1 })).toBe('{"a":1}');
	expect(jsonOf({ a: 1 }, '\t')).toBe('{\n\t"a": 1\n}');
	expect(jsonOf(undefined)).toBe('');
});
