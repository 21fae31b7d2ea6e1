/** Shorter than any key. What is shorter could be a word of a transcript, which must not be altered. */
const SHORTEST_KEY = 8;

/** The service's own words, should it repeat the API key in them, as it is or URL-encoded. */
export function withoutKey(text: string, apiKey: string): string {
	if (apiKey.length < SHORTEST_KEY) return text;
	return text.replaceAll(apiKey, '***').replaceAll(encodeURIComponent(apiKey), '***');
}

/** The field of the service document, and how other shapes of an answer could write it. */
const SECRET_NAME = /^webhook[_-]?secret$/i;

interface Copying {
	from: object;
	to: unknown[] | Record<string, unknown>;
	/** The answer itself, or an element of the list that it is. */
	isTop: boolean;
}

/**
 * Whether a longer key begins, ends or goes on with this one, as a new key may do with the old one.
 * To mask the old one would destroy the new one.
 */
export function holdsLongerKey(answer: unknown, apiKey: string): boolean {
	const key = apiKey.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	const longer = new RegExp(`[\\w-]${key}|${key}([\\w-]|[.:/+~=][\\w-])`);
	return textsIn(answer).some((text) => longer.test(text));
}

/** JSON for messages and comparisons; '' of what is nested deeper than the stack. */
export function jsonOf(value: unknown, indent?: string): string {
	try {
		return JSON.stringify(value, null, indent) ?? '';
	} catch {
		return '';
	}
}

/** All texts in a value, the names of fields too. Works without recursion, as below. */
function textsIn(value: unknown): string[] {
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
 * An answer as it may be output and saved: a copy in which the API key is masked, also in names, and
 * `webhook_secret` is left out. `keepWebhookSecret` keeps that of the answer itself, for the caller
 * that seals or outputs it; a deeper one has no user, and stays only with `everywhere`. Works without
 * recursion, because an answer may be nested deeper than the stack.
 */
export function withoutSecrets(
	value: unknown,
	apiKey: string,
	keepWebhookSecret: boolean | 'everywhere' = false,
): unknown {
	const copies = new Map<object, unknown>();
	const todo: Copying[] = [];
	const copyOf = (original: unknown, isTop: boolean): unknown => {
		if (typeof original === 'string') return withoutKey(original, apiKey);
		if (!isPlain(original)) return original;
		if (copies.has(original)) return copies.get(original);
		const to = Array.isArray(original) ? [] : {};
		copies.set(original, to);
		todo.push({ from: original, to, isTop });
		return to;
	};
	const copy = copyOf(value, true);
	for (const { from, to, isTop } of todo) {
		if (Array.isArray(to)) {
			for (const inner of from as unknown[]) to.push(copyOf(inner, isTop));
			continue;
		}
		for (const [name, inner] of Object.entries(from)) {
			const isOwn = isTop && name === 'webhook_secret';
			const isKept = keepWebhookSecret === 'everywhere' || (keepWebhookSecret && isOwn);
			if ((SECRET_NAME.test(name) && !isKept) || name === '__proto__') continue;
			to[withoutKey(name, apiKey)] = copyOf(inner, false);
		}
	}
	return copy;
}

function isPlain(value: unknown): value is object {
	if (typeof value !== 'object' || value === null) return false;
	return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}
