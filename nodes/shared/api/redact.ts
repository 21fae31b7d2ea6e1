/** Shorter keys are not masked: no real key is so short, and a transcript must not be altered. */
const SHORTEST_KEY = 8;

/** Masks the API key, plain or URL-encoded, in a text of the service. */
export function withoutApiKey(text: string, apiKey: string): string {
	if (apiKey.length < SHORTEST_KEY) return text;
	return text.replaceAll(apiKey, '***').replaceAll(encodeURIComponent(apiKey), '***');
}

/** `webhook_secret` of the service document, and other likely spellings, e.g. `webhookSigningSecret`. */
const SECRET_NAME = /^webhook.*secret$/i;

/** An object with such a name may hold a `secret`. */
const WEBHOOK_NAME = /^webhook/i;

interface Copying {
	from: object;
	to: unknown[] | Record<string, unknown>;
	/** Whether `from` is the answer itself, or an element of an answer that is a list. */
	isTop: boolean;
	/** Whether `from` is an object whose name begins with "webhook", or is in a list with such a name. */
	isWebhook: boolean;
}

/**
 * Whether the answer holds a longer key that contains this one, as a new key may contain the old
 * key, e.g. `v2.old` or `old|2`. Masking the old key would destroy the new key.
 */
export function holdsLongerKey(answer: unknown, apiKey: string): boolean {
	const key = apiKey.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	const longer = new RegExp(`[\\w-][.:/+~|]?${key}|${key}[.:/+~=|]?[\\w-]`);
	return namesAndTextsIn(answer).some((text) => longer.test(text));
}

/** All texts in a value, including field names. Not recursive, like {@link withoutSecrets}. */
function namesAndTextsIn(value: unknown): string[] {
	const texts: string[] = [];
	const seen = new Set<unknown>([value]);
	for (const one of seen) {
		if (typeof one === 'string') texts.push(one);
		if (!isPlain(one)) continue;
		for (const [name, inner] of Object.entries(one)) {
			texts.push(name);
			seen.add(inner);
		}
	}
	return texts;
}

/**
 * A copy of an answer that may be output and saved: masks the API key, also in field names, and
 * leaves out `webhook_secret`. `keepWebhookSecret` keeps the one at the top level, for a caller
 * that seals or outputs it. A deeper one is kept only with `everywhere`. Not recursive, because an
 * answer may be nested too deeply for the stack.
 */
export function withoutSecrets(
	value: unknown,
	apiKey: string,
	keepWebhookSecret: boolean | 'everywhere' = false,
): unknown {
	const copies = new Map<object, unknown>();
	const todo: Copying[] = [];
	const copyOf = (original: unknown, isTop: boolean, isWebhook: boolean): unknown => {
		if (typeof original === 'string') return withoutApiKey(original, apiKey);
		if (!isPlain(original)) return original;
		if (copies.has(original)) return copies.get(original);
		const to = Array.isArray(original) ? [] : {};
		copies.set(original, to);
		todo.push({ from: original, to, isTop, isWebhook });
		return to;
	};
	const copy = copyOf(value, true, false);
	for (const { from, to, isTop, isWebhook } of todo) {
		if (Array.isArray(to)) {
			for (const inner of from as unknown[]) to.push(copyOf(inner, isTop, isWebhook));
			continue;
		}
		for (const [name, inner] of Object.entries(from)) {
			const isOwn = isTop && name === 'webhook_secret';
			const isKept = keepWebhookSecret === 'everywhere' || (keepWebhookSecret && isOwn);
			const isSecret = SECRET_NAME.test(name) || (isWebhook && /^secret$/i.test(name));
			if ((isSecret && !isKept) || name === '__proto__') continue;
			to[withoutApiKey(name, apiKey)] = copyOf(inner, false, WEBHOOK_NAME.test(name));
		}
	}
	return copy;
}

function isPlain(value: unknown): value is object {
	if (typeof value !== 'object' || value === null) return false;
	return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}
