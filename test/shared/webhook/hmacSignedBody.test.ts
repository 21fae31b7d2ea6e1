/** Service document, "Authentication": webhook signing; and how secrets are sealed. */
// Also covers answerInTime.ts, handOverEnvelope.ts, sealedSecret.ts.

import crypto, { createCipheriv, createHmac, hkdfSync } from 'node:crypto';

import type { IWebhookFunctions } from 'n8n-workflow';

import {
	FRESH_MS,
	openHandOvers,
	sealHandOvers,
} from '../../../nodes/shared/webhook/handOverEnvelope';
import { Undecided, decidedBy } from '../../../nodes/shared/webhook/answerInTime';
import { seal, unseal } from '../../../nodes/shared/webhook/sealedSecret';
import {
	deliveryFrom,
	isSignedWith,
	isWellFormed,
	jsonBodyFrom,
	respond,
} from '../../../nodes/shared/webhook/hmacSignedBody';
import { additionalDataFor } from '../../support/n8n';
import { contextsWith } from '../n8nInternals/contexts';

/** Made with another implementation: printf '%s' "$body" | openssl dgst -sha256 -hmac "$secret" */
const VECTORS: Array<[body: string, secret: string, digest: string]> = [
	[
		'{"task_id":"7f3c"}',
		'whsec_1',
		'd14bdbe1fc50e548b62fa302acd152a55c0348b7c47a86c8186a6a96fb6169db',
	],
	['', 'whsec_1', '8ceccb8bb0dcfcf2e6926915c3f16b0f51dc972a9d15f0e9d34a7565b4016981'],
	[
		'{"task_id":"7f3c","title":"Совещание — 5 €"}',
		'ключ',
		'ff191db0b884e0826e15a22c8c3cf8326afd5b4ade374d4f157730cc20d7ac6c',
	],
	[
		'{"task_id":"7f3c"}\n',
		'a secret that is longer than the sixty-four bytes of one block of SHA-256',
		'd751ba9d3bc15d2ebed75bbca1597bfa6ea2ac32461d40bece0ffdc930148d83',
	],
];

/** printf '\xff\xfe\x00' | openssl dgst -sha256 -hmac whsec_1 */
const BYTES_THAT_ARE_NO_TEXT = '1068793a24e7e096067d5c68c7631d7c6f8dbbd1dadec109af44a4da4efb5911';

const signed = (raw: Buffer | string, digest: string) => ({
	raw: Buffer.from(raw),
	signature: `sha256=${digest}`,
});

describe('HMAC-SHA256 over the raw body with webhook_secret as the key', () => {
	it.each(VECTORS)('%j with %j, as openssl signs it', (body, secret, digest) => {
		expect(isSignedWith(secret, signed(body, digest))).toBe(true);
		expect(isSignedWith(`${secret}x`, signed(body, digest))).toBe(false);
		expect(isSignedWith(secret, signed(`${body} `, digest))).toBe(false);
	});

	it('is over bytes, not over text', () => {
		const raw = Buffer.from([0xff, 0xfe, 0x00]);
		expect(isSignedWith('whsec_1', signed(raw, BYTES_THAT_ARE_NO_TEXT))).toBe(true);
		const asText = Buffer.from(raw.toString('utf8'));
		expect(isSignedWith('whsec_1', signed(asText, BYTES_THAT_ARE_NO_TEXT))).toBe(false);
	});

	it('reads the digits of the digest in capitals too', () => {
		const [[body, secret, digest]] = VECTORS as [[string, string, string]];
		expect(isSignedWith(secret, signed(body, digest.toUpperCase()))).toBe(true);
	});

	it.each(['', ' ', '\t\n', '\u00a0\ufeff'])('a blank secret (%j) verifies nothing', (secret) => {
		const raw = Buffer.from('{"task_id":"7f3c"}');
		const digest = createHmac('sha256', secret).update(raw).digest('hex');
		expect(isSignedWith(secret, signed(raw, digest))).toBe(false);
	});

	it('a signature that differs in its first byte is compared in constant time', () => {
		const [[body, secret, digest]] = VECTORS as [[string, string, string]];
		const given = `00${digest.slice(2)}`;
		// No result shows how long a comparison takes.
		const compare = jest.spyOn(crypto, 'timingSafeEqual');
		isSignedWith(secret, signed(body, given));
		const compared = compare.mock.calls
			.flat()
			.map((one) => Buffer.from(one as Buffer).toString('hex'));
		compare.mockRestore();
		expect(compared).toEqual([digest, given]);
	});

	it('every single flipped bit of signature or body is noticed', () => {
		const [[body, secret, digest]] = VECTORS as [[string, string, string]];
		for (let bit = 0; bit < 256; bit++) {
			const changed = Buffer.from(digest, 'hex');
			changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
			expect(isSignedWith(secret, signed(body, changed.toString('hex')))).toBe(false);
		}
		for (let bit = 0; bit < body.length * 8; bit++) {
			const changed = Buffer.from(body);
			changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
			expect(isSignedWith(secret, signed(changed, digest))).toBe(false);
		}
	});
});

describe('The header has the form sha256=<64 hex digits>', () => {
	const digest = 'a'.repeat(64);
	it('and nothing else', () => {
		expect(isWellFormed(`sha256=${digest}`)).toBe(true);
		expect(isWellFormed(`sha256=${digest.toUpperCase()}`)).toBe(true);
	});

	it.each([
		['missing', undefined],
		['empty', ''],
		['no prefix', digest],
		['another algorithm', `sha1=${digest}`],
		['prefix in capitals', `SHA256=${digest}`],
		['too short', `sha256=${digest.slice(1)}`],
		['too long', `sha256=${digest}a`],
		['a space in front', ` sha256=${digest}`],
		['a line break at the end', `sha256=${digest}\n`],
		['not hex', `sha256=${'g'.repeat(64)}`],
		['base64', `sha256=${Buffer.alloc(32).toString('base64')}`],
		['two, as Node joins a header that came twice', `sha256=${digest}, sha256=${digest}`],
		['a list', [`sha256=${digest}`]],
	])('%s', (_, signature) => expect(isWellFormed(signature)).toBe(false));
});

describe('A call', () => {
	const SIGNED = { 'x-service-signature': `sha256=${'a'.repeat(64)}` };
	const TOO_LARGE = { refused: 413, message: 'The body is too large' };
	const nowhere = { baseUrl: 'http://127.0.0.1:9', apiKey: 'test-api-key' };

	/** A call as n8n's server hands it over: whoever wants the body has to have it read. */
	function call(headers: object, body: Buffer | Error, more: object = {}) {
		const request = {
			headers,
			isRead: false,
			rawBody: undefined as Buffer | undefined,
			readRawBody: async () => {
				request.isRead = true;
				if (body instanceof Error) throw body;
				request.rawBody = await Promise.resolve(body);
			},
		};
		const additionalData = additionalDataFor(nowhere, { httpRequest: request, ...more });
		const context = contextsWith(additionalData).webhookCall as unknown as IWebhookFunctions;
		return { request, context };
	}
	const bodyOf = (size: number) => Buffer.from(JSON.stringify('x'.repeat(size - 2)));

	it('has its bytes and its JSON, also if n8n has not read the body', async () => {
		const raw = Buffer.from('{"task_id":"7f3c"}');
		const body = { task_id: '7f3c' };
		const signature = SIGNED['x-service-signature'];
		const { context } = call(SIGNED, raw);
		expect(await deliveryFrom(context)).toEqual({ raw, signature, body });
		// Now the body has been read.
		expect(await deliveryFrom(context)).toEqual({ raw, signature, body });
		expect(await jsonBodyFrom(call({}, raw).context)).toEqual({ body });
	});

	it('whose body cannot be read has none', async () => {
		const { context } = call(SIGNED, new Error('request aborted'));
		expect(await deliveryFrom(context)).toMatchObject({ raw: Buffer.alloc(0), body: undefined });
		expect(await jsonBodyFrom(call({}, new Error('request aborted')).context)).toEqual({
			body: {},
		});
	});

	it('that says it is larger than 1 MB is refused, and not read', async () => {
		const length = { 'content-length': '1000001' };
		const { context, request } = call({ ...SIGNED, ...length }, Buffer.alloc(0));
		expect([await deliveryFrom(context), await jsonBodyFrom(context)]).toEqual([
			TOO_LARGE,
			TOO_LARGE,
		]);
		expect(request.isRead).toBe(false);
	});

	it('that does not say how large it is may have 1 MB, and not more', async () => {
		expect(await deliveryFrom(call(SIGNED, bodyOf(1_000_001)).context)).toEqual(TOO_LARGE);
		expect(await deliveryFrom(call(SIGNED, bodyOf(1_000_000)).context)).toHaveProperty('raw');
	});

	it('without a signature is refused, and not read', async () => {
		const { context, request } = call({}, Buffer.from('{}'));
		expect(await deliveryFrom(context)).toEqual({ refused: 401, message: 'Signature refused' });
		expect(request.isRead).toBe(false);
	});

	it('that is answered here is not answered by n8n as well', () => {
		const answers: unknown[] = [];
		const httpResponse = {
			status: (code: number) => ({ json: (body: unknown) => answers.push(code, body) }),
		};
		const { context } = call({}, Buffer.alloc(0), { httpResponse });
		expect(respond(context, 503, 'Later')).toEqual({ noWebhookResponse: true });
		expect(answers).toEqual([503, { message: 'Later' }]);
	});
});

describe('Deciding an answer', () => {
	it('takes what is decided in time', async () => {
		expect(await decidedBy(Promise.resolve('yes'), Date.now() + 10_000)).toBe('yes');
	});

	it('is undecided at the deadline, so that the service delivers again', async () => {
		const never = new Promise(() => {});
		await expect(decidedBy(never, Date.now() + 10)).rejects.toBeInstanceOf(Undecided);
	});
});

describe('Secrets at rest and in motion', () => {
	const KEY = 'api-key-1';
	let sealed = '';
	beforeAll(() => (sealed = seal(KEY, 'stored secret', '7f3c', 'whsec_1')));

	it('are sealed with AES-256-GCM under a key derived (HKDF-SHA256) from the API key', () => {
		const bytes = Buffer.from(sealed, 'base64url');
		const key = Buffer.from(hkdfSync('sha256', KEY, 'n8n-nodes-transcriber', 'stored secret', 32));
		const cipher = createCipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
		cipher.setAAD(Buffer.from('7f3c'));
		const text = Buffer.concat([cipher.update('whsec_1'), cipher.final()]);
		expect(bytes.subarray(28)).toEqual(text);
		expect(bytes.subarray(12, 28)).toEqual(cipher.getAuthTag());
		expect(sealed).not.toContain('whsec');
	});

	it('open again with the same API key, for the same use and place', () =>
		expect(unseal(KEY, 'stored secret', '7f3c', sealed)).toBe('whsec_1'));

	it.each<[string, string, string, string, (text: string) => string]>([
		['another API key', 'api-key-2', 'stored secret', '7f3c', (text) => text],
		['another use', KEY, 'hand-over', '7f3c', (text) => text],
		['another task', KEY, 'stored secret', '8a4d', (text) => text],
		[
			'a changed text',
			KEY,
			'stored secret',
			'7f3c',
			(text) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`,
		],
		['a text cut short', KEY, 'stored secret', '7f3c', (text) => text.slice(0, -2)],
		['nothing', KEY, 'stored secret', '7f3c', () => ''],
	])('do not open with %s', (_, key, purpose, binding, change) => {
		expect(unseal(key, purpose, binding, change(sealed))).toBeUndefined();
	});

	it('open as an empty text if they are one, but not with a part of the authentication tag', () => {
		const empty = Buffer.from(seal(KEY, 'stored secret', '7f3c', ''), 'base64url');
		const opened = (bytes: number) =>
			unseal(KEY, 'stored secret', '7f3c', empty.subarray(0, bytes).toString('base64url'));
		expect(opened(28)).toBe('');
		expect([12, 16, 20, 24, 27].map(opened)).toEqual(Array(5).fill(undefined));
	});

	it('may hold any text, for a task with any id', () => {
		const text = 'ключ 😀';
		expect(unseal(KEY, 'stored secret', 'задача', seal(KEY, 'stored secret', 'задача', text))).toBe(
			text,
		);
	});

	it('no two seals of the same secret are the same', () =>
		expect(seal(KEY, 'stored secret', '7f3c', 'whsec_1')).not.toBe(sealed));
});

describe('A hand-over', () => {
	const KEY = 'api-key-1';
	const TRIGGER = 'https://n8n.example.com/webhook/3f2a/transcriber';
	const pairs = [
		{ id: '7f3c', secret: 'whsec_1' },
		{ id: '8a4d', secret: 'whsec_2' },
	];
	afterEach(() => jest.useRealTimers());

	it('opens at the address it was sealed for, be it written as test or production address', () => {
		const sealed = sealHandOvers(KEY, TRIGGER, pairs);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toEqual(pairs);
		const test = 'http://localhost:5678/webhook-test/3f2a/transcriber/';
		expect(openHandOvers(KEY, test, sealed)).toEqual(pairs);
	});

	it('opens at no other trigger and with no other API key', () => {
		const sealed = sealHandOvers(KEY, TRIGGER, pairs);
		expect(openHandOvers(KEY, TRIGGER.replace('3f2a', '3f2b'), sealed)).toBeUndefined();
		expect(openHandOvers('api-key-2', TRIGGER, sealed)).toBeUndefined();
	});

	it('is fresh for 10 minutes', () => {
		jest.useFakeTimers({ now: Date.now(), doNotFake: ['nextTick', 'setImmediate'] });
		const sealed = sealHandOvers(KEY, TRIGGER, pairs);
		jest.setSystemTime(Date.now() + FRESH_MS - 1);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toEqual(pairs);
		jest.setSystemTime(Date.now() + 1);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toBe('stale');
		expect(FRESH_MS).toBe(600_000);
	});

	it('that claims to be good for longer than that is refused', () => {
		const text = JSON.stringify({ handOvers: pairs, expires: Date.now() + 2 * FRESH_MS });
		const sealed = seal(KEY, 'hand-over', '3f2a/transcriber', text);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toBe('stale');
	});

	it.each(['', ' ', '\t'])(
		'opens with no blank API key (%j), whoever sealed it with that',
		(key) => {
			const sealed = sealHandOvers(key, TRIGGER, pairs);
			expect(openHandOvers(key, TRIGGER, sealed)).toBeUndefined();
		},
	);

	it('opens if the clocks of the two sides differ by up to a minute', () => {
		jest.useFakeTimers({ now: Date.now(), doNotFake: ['nextTick', 'setImmediate'] });
		const sealed = sealHandOvers(KEY, TRIGGER, pairs);
		jest.setSystemTime(Date.now() - 60_000);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toEqual(pairs);
		jest.setSystemTime(Date.now() - 1);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toBe('stale');
	});

	it.each([
		{ id: '7f3c', kind: 'task' as const, secret: 'a' },
		{ id: '7f3c', kind: 'bot' as const, secret: 'a' },
		{ id: '7f3c', secret: 'a' },
		{ id: '7f3c', kind: 'task' as const },
	])('may be %j: the kind and the secret may be missing', (handOver) => {
		const sealed = sealHandOvers(KEY, TRIGGER, [handOver]);
		expect(openHandOvers(KEY, TRIGGER, sealed)).toEqual([handOver]);
	});

	it('with a blank secret counts as one without', () => {
		const handOvers = [...pairs, { id: '7f3d', secret: '' }, { id: '7f3e', secret: ' ' }];
		const sealed = sealHandOvers(KEY, TRIGGER, handOvers);
		const opened = [...pairs, { id: '7f3d' }, { id: '7f3e' }];
		expect(openHandOvers(KEY, TRIGGER, sealed)).toEqual(opened);
	});

	it('without an id, of an unknown kind, or with a secret that is no text, is refused', () => {
		const expires = Date.now() + 1000;
		const whole = (handOvers: unknown) => JSON.stringify({ handOvers, expires });
		const good = { id: '7f3c', secret: 'a' };
		const broken = [
			1,
			null,
			{},
			{ secret: 'a' },
			{ id: 7, secret: 'a' },
			{ id: '7f3c', secret: null },
			{ id: '7f3c', secret: 7 },
			{ id: '7f3c', secret: 'a', kind: '' },
			{ id: '7f3c', secret: 'a', kind: 'other' },
		];
		const texts = broken.flatMap((one) => [whole(one), whole([one]), whole([good, one])]);
		for (const text of ['{}', 'null', '[]', '1', '{', ...texts]) {
			const sealed = seal(KEY, 'hand-over', '3f2a/transcriber', text);
			expect(openHandOvers(KEY, TRIGGER, sealed)).toBeUndefined();
		}
	});
});
