/** Copies of answers without secrets, and what counts as a secret in them. */
// Also covers redact.ts, nodes/shared/jsonValues.ts.

import { masked, withoutSecrets, withoutSecretsInText } from '../../../nodes/shared/api/redact';
import { jsonOf } from '../../../nodes/shared/jsonValues';
import { atLength } from '../../support/long';

const KEY = 'key+of/1';

const php = (text: string) => text.replaceAll('/', '\\/');

describe('The API key in a text', () => {
	it('is masked wherever it stands, URL-encoded too', () => {
		expect(masked(`a ${KEY} b ${KEY}`, { apiKey: KEY })).toBe('a *** b ***');
		expect(masked(`?key=${encodeURIComponent(KEY)}`, { apiKey: KEY })).toBe('?key=***');
	});

	it.each([
		['percent-encoded in small letters', (key: string) => encodeURIComponent(key).toLowerCase()],
		['percent-encoded twice', (key: string) => encodeURIComponent(encodeURIComponent(key))],
		['in JSON as PHP writes it', php],
		['in JSON within JSON', (key: string) => key.replaceAll('/', '\\\\\\/')],
		['in JSON as Java writes it', (key: string) => key.replaceAll('+', '\\u002B')],
		['in JSON as PHP writes it, percent-encoded', (key: string) => encodeURIComponent(php(key))],
		['in HTML', (key: string) => key.replaceAll('/', '&#x2F;').replaceAll('+', '&#43;')],
		['in HTML within HTML', (key: string) => key.replaceAll('+', '&amp;amp;#43;')],
	])('is masked %s', (_how, write) => {
		expect(masked(`a "${write(KEY)}" b`, { apiKey: KEY })).toBe('a "***" b');
	});

	it('is looked for in a long text that could be its beginning, without blocking n8n', () => {
		for (const unit of ['\\', '%25', 'a', '/', '&#0', '&amp;', '%5C']) {
			const text = unit.repeat(atLength(1_000_000, 400_000));
			expect(masked(text, { apiKey: '/\\%&aaaaaaaa' })).toBe(text);
			expect(masked(text, { webhookSecret: '\\\\\\server\\share\\secret' })).toBe(text);
		}
	});

	it('is left alone if it is too short to be one', () => {
		expect(masked('text 1234567', { apiKey: '1234567' })).toBe('text 1234567');
		expect(masked('text 12345678', { apiKey: '12345678' })).toBe('text ***');
	});
});

it.each([
	[
		'task_id=7&webhook_secret=whsec_1&status=pending',
		'task_id=7&webhook_secret=***&status=pending',
	],
	['status: pending\nwebhook_secret: a&b\n', 'status: pending\nwebhook_secret: ***\n'],
	['{"webhook_secret":"k3&9zq@hidden#1","task', '{"webhook_secret":"***","task'],
	['webhook_secret="k3&9zq" status="pending"', 'webhook_secret="***" status="pending"'],
])('a text in place of JSON that answers a submit shows no secret: %j', (value, shown) => {
	expect(withoutSecretsInText({ value })).toEqual({ value: shown });
});

describe("The credential's Webhook Secret", () => {
	const webhookSecret = 'whsec of this account';

	const html = (text: string) =>
		text
			.replaceAll('&', '&amp;')
			.replaceAll('<', '&lt;')
			.replaceAll('>', '&gt;')
			.replaceAll('"', '&quot;')
			.replaceAll("'", '&apos;');
	const json = (text: string) => JSON.stringify(text).slice(1, -1);
	it.each([
		['in HTML', html],
		['in HTML within HTML', (text: string) => html(html(text))],
		['in JSON', json],
		['in JSON within JSON', (text: string) => json(json(text))],
		['percent-encoded', encodeURIComponent],
		[
			'in JSON without letters of other alphabets',
			(text: string) => text.replace('ü', '\\u00fc').replace('😀', '\\ud83d\\ude00'),
		],
	])('is masked %s, whatever signs it has', (_how, write) => {
		const secret = `C:\\\\my <"words"> & 'signs' für 😀`;
		expect(masked(`a ${write(secret)} b`, { webhookSecret: secret })).toBe('a *** b');
	});

	it('is masked beside the API key, wherever it stands', () => {
		const answer = { signing_secret: webhookSecret, note: [`${KEY} ${webhookSecret}`] };
		expect(withoutSecrets(answer, { apiKey: KEY, webhookSecret })).toEqual({
			signing_secret: '***',
			note: ['*** ***'],
		});
		expect(masked('no password', { webhookSecret: 'password' })).toBe('no password');
	});

	it('is kept where it is the secret of a submission, which a caller seals or outputs', () => {
		const answer = { task_id: '1', webhook_secret: webhookSecret };
		expect(withoutSecrets(answer, { apiKey: KEY, webhookSecret }, true)).toEqual(answer);
	});

	it('is masked in a form, where "+" stands for a blank', () => {
		const form = new URLSearchParams({ secret: webhookSecret }).toString();
		expect(masked(form, { webhookSecret })).toBe('secret=***');
	});

	it('is masked as a whole if the API key is a part of it', () => {
		const secrets = { apiKey: KEY, webhookSecret: `secret-${KEY}-of-this-account` };
		expect(masked(`a ${secrets.webhookSecret} b ${KEY}`, secrets)).toBe('a *** b ***');
	});
});

describe('A copy that masks only words of their own', () => {
	const copyOf = (answer: unknown) => withoutSecrets(answer, { apiKey: KEY }, 'everywhere', true);

	it.each([
		...[`x${KEY}`, `-${KEY}`, `${KEY}x`, `${KEY}-`, `${KEY}.x`, `${KEY}:x`, `${KEY}~x`],
		...[`v2.${KEY}`, `v2:${KEY}`, `2|${KEY}`, `${KEY}|2`, `v2$${KEY}`, `v2::${KEY}`, `{2}${KEY}`],
		...[`v2.${KEY.replace('/', '\\/')}`, `v2.${KEY.replace('/', '&#x2F;')}`],
	])('keeps %j, which may be the new key', (text) => {
		const answer = { data: [{ api_key: text, [text]: 1 }] };
		expect(copyOf(answer)).toEqual(answer);
	});

	it.each([
		[KEY, '***'],
		[`${KEY}. Next`, '***. Next'],
		[`was ${KEY} before`, 'was *** before'],
		[`{"old":"${KEY}"}`, '{"old":"***"}'],
		[`<p>${KEY}</p>`, '<p>***</p>'],
	])('has no %j', (text, copied) => {
		expect(copyOf({ [text]: text })).toEqual({ [copied]: copied });
	});
});

describe('A copy of an answer', () => {
	it('has no webhook_secret of the answer in another field either', () => {
		const answer = { webhook_secret: 'whsec_0123456789', note: 'Verify with whsec_0123456789' };
		expect(withoutSecrets(answer, {})).toEqual({ note: 'Verify with ***' });
		expect(withoutSecrets(answer, {}, 'everywhere')).toEqual(answer);
	});

	it('has everything but secrets', () => {
		const date = new Date(0);
		const answer = { a: [1, null, { b: `is ${KEY}` }], [`field ${KEY}`]: true, date };
		const copy = withoutSecrets(answer, { apiKey: KEY });
		expect(copy).toStrictEqual({ a: [1, null, { b: 'is ***' }], 'field ***': true, date });
		expect(answer.a).toStrictEqual([1, null, { b: `is ${KEY}` }]);
		expect(withoutSecrets(KEY, { apiKey: KEY })).toBe('***');
		expect([withoutSecrets(7, { apiKey: KEY }), withoutSecrets(null, { apiKey: KEY })]).toEqual([
			7,
			null,
		]);
	});

	it.each([
		'webhook_secret',
		'webhookSecret',
		'webhook-secret',
		'Webhook_Secret',
		'webhook_signing_secret',
		'last_webhook_secret',
	])('has no %s, at any depth', (name) => {
		expect(
			withoutSecrets({ id: 1, [name]: 's', in: [{ [name]: 's' }] }, { apiKey: KEY }),
		).toStrictEqual({
			id: 1,
			in: [{}],
		});
	});

	it.each(['webhook_secrets', 'secret', 'signing_secret'])('keeps %s', (name) => {
		const answer = { [name]: 's', speaker: { [name]: 's' } };
		expect(withoutSecrets(answer, { apiKey: KEY })).toStrictEqual(answer);
	});

	it('keeps whether there is a secret of a webhook, and a count under such a name', () => {
		const answer = { has_webhook_secret: true, webhook: { has_secret: false }, webhook_secret: 3 };
		expect(withoutSecrets(answer, { apiKey: KEY })).toStrictEqual(answer);
	});

	it('has no API key as a part of a longer word', () => {
		expect(withoutSecrets([`x${KEY}y`], { apiKey: KEY })).toStrictEqual(['x***y']);
	});

	it.each([17, { of: 'the task' }])('keeps the secret at the top also if it is %j', (secret) => {
		const answer = { webhook_secret: secret };
		expect(withoutSecrets(answer, { apiKey: KEY }, true)).toStrictEqual(answer);
	});

	it('has no API key in the secret at the top', () => {
		const answer = { webhook_secret: `of ${KEY}` };
		expect(withoutSecrets(answer, { apiKey: KEY }, true)).toStrictEqual({
			webhook_secret: 'of ***',
		});
	});

	it('keeps the secret at the top, or every one, for a caller that needs it', () => {
		const one = { webhook_secret: 's', in: { webhook_secret: 't' }, webhookSecret: 'u' };
		expect(withoutSecrets(one, { apiKey: KEY }, true)).toStrictEqual({
			webhook_secret: 's',
			in: {},
		});
		expect(withoutSecrets([one], { apiKey: KEY }, true)).toStrictEqual([
			{ webhook_secret: 's', in: {} },
		]);
		expect(withoutSecrets(one, { apiKey: KEY }, 'everywhere')).toStrictEqual(one);
	});

	it('has no field that would change the prototype', () => {
		const answer = JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as unknown;
		const copy = withoutSecrets(answer, { apiKey: KEY });
		expect(copy).toStrictEqual({ b: 2 });
		expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
	});

	it('may contain itself, or be nested deeper than the stack', () => {
		const loop: Record<string, unknown> = {};
		loop.self = loop;
		const copy = withoutSecrets(loop, { apiKey: KEY }) as Record<string, unknown>;
		expect(copy.self).toBe(copy);
		let deep: unknown = 'end';
		for (let level = 0; level < 50_000; level++) deep = [deep];
		expect(Array.isArray(withoutSecrets(deep, { apiKey: KEY }))).toBe(true);
		expect(jsonOf(deep)).toBe('');
	});
});

it('JSON of a value for a message', () => {
	expect(jsonOf({ a: 1 })).toBe('{"a":1}');
	expect(jsonOf({ a: 1 }, '\t')).toBe('{\n\t"a": 1\n}');
	expect(jsonOf(undefined)).toBe('');
});
