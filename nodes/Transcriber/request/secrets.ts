/** Shorter than any key. What is shorter could be a word of a transcript, which must not be altered. */
const SHORTEST_KEY = 8;

/** The service's own words, should it repeat the API key in them. */
export function withoutKey(text: string, apiKey: string): string {
	return apiKey.length < SHORTEST_KEY ? text : text.replaceAll(apiKey, '***');
}

/**
 * Whether a longer key begins, ends or goes on with this one, as a new key may do with the old one.
 * To mask the old one would destroy the new one.
 */
export function holdsLongerKey(answer: unknown, apiKey: string): boolean {
	const key = apiKey.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
	const longer = new RegExp(`[\\w-]${key}|${key}([\\w-]|[.:/+~=][\\w-])`);
	return longer.test(typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? ''));
}

/**
 * An answer as it may be output and saved: the document leaves open what the account and others
 * hold, and lists `webhook_secret` among the fields of a meeting bot.
 */
export function withoutSecrets(value: unknown, apiKey: string, keepWebhookSecret = false): unknown {
	if (typeof value === 'string') return withoutKey(value, apiKey);
	if (Array.isArray(value)) {
		return value.map((inner) => withoutSecrets(inner, apiKey, keepWebhookSecret));
	}
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => keepWebhookSecret || name !== 'webhook_secret')
			.map(([name, inner]) => [name, withoutSecrets(inner, apiKey, keepWebhookSecret)]),
	);
}
