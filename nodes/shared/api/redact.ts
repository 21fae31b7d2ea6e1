/** The values of a credential that are shown nowhere. */
export interface Secrets {
	apiKey?: string;
	webhookSecret?: string;
}

/**
 * Shorter values are not masked: no real one is so short, and a transcript must not be altered. A
 * Webhook Secret may be the user's own words.
 */
const SHORTEST: Required<{ [Name in keyof Secrets]: number }> = { apiKey: 8, webhookSecret: 16 };

/** Masks the secrets in a text of the service, also URL-encoded, or as JSON or HTML writes them. */
export function masked(text: string, secrets: Secrets): string {
	return maskOf(secrets)(text);
}

/** `onlyAlone`: leaves a secret that is a part of a longer word. */
function maskOf(secrets: Secrets, onlyAlone = false): (text: string) => string {
	const names = ['apiKey', 'webhookSecret'] as const;
	const values = names.flatMap((name) => {
		const { [name]: value = '' } = secrets;
		return value.length < SHORTEST[name] ? [] : [value];
	});
	if (values.length === 0) return (text) => text;
	// The longer one first, because it may contain the other.
	values.sort((one, other) => other.length - one.length);
	const spellings = values.map(spellingsOf).join('|');
	const pattern = new RegExp(
		onlyAlone ? `${BEFORE_WORD}(?:${spellings})${AFTER_WORD}` : spellings,
		'g',
	);
	return (text) => text.replace(pattern, '***');
}

const BEFORE_WORD = '(?<=^|[\\s"\'`>])';
const AFTER_WORD = '(?=$|[\\s"\'`<\\\\]|[.,;:!?](?:\\s|$))';

/** A pattern of what encoders make of a value. They leave letters and digits unchanged. */
function spellingsOf(value: string): string {
	// Backslashes count as one run: several patterns in a row for them would take long on a text of backslashes.
	const parts = value.match(/[a-z\d]+|\\+|[^a-z\d\\]/giu) ?? [];
	return parts.map((part) => (/^[a-z\d]/i.test(part) ? part : encoded(part))).join('');
}

/** A backslash that JSON has put before a character, also URL-encoded. */
const ESCAPE = '(?:\\\\|%(?:25){0,3}5[cC])';

const ENTITIES: Record<string, string> = {
	'&': 'amp',
	'<': 'lt',
	'>': 'gt',
	'"': 'quot',
	"'": 'apos',
};

/** The repetitions are bounded, because foreign text must not make the search slow. */
function encoded(char: string): string {
	if (char.startsWith('\\')) return `${ESCAPE}{${char.length},${8 * char.length}}`;
	const code = char.codePointAt(0) ?? 0;
	const inBytes = Buffer.from(char).toString('hex').match(/../g) ?? [];
	const inUnits = Buffer.from(char, 'utf16le').swap16().toString('hex').match(/.{4}/g) ?? [];
	const entity = '&(?:amp;){0,3}';
	return `(?:${ESCAPE}{0,8}(?:${[
		literal(char),
		inBytes.map((hex) => `%(?:25){0,3}${anyCase(hex)}`).join(''),
		`${entity}#[xX]0{0,6}${anyCase(code.toString(16))};`,
		`${entity}#0{0,6}${code};`,
		...(char in ENTITIES ? [`${entity}${ENTITIES[char]};`] : []),
		...(char === ' ' ? ['\\+'] : []),
	].join('|')})|${inUnits.map((hex) => `${ESCAPE}{1,8}u${anyCase(hex)}`).join('')})`;
}

function literal(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function anyCase(hex: string): string {
	return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** `webhook_secret` of the service document, and other likely spellings, e.g. `webhookSigningSecret`. */
const SECRET_NAME = /webhook.*secret$/i;

/** What is in an object with such a name may be a secret, e.g. `signing_secret`. */
const WEBHOOK_NAME = /webhook/i;

/** Masks what a text calls a secret: `webhook_secret=…`. For an answer to a submit that is no JSON. */
export function withoutNamedSecrets(text: string): string {
	const named = /(secret["'\s\\]*([:=])[\s\\]*["']?)([^"',\s}]*)/gi;
	return text.replace(named, (_, name: string, sign: string, value: string) => {
		// In a form, the next field begins after "&".
		const [, ...others] = sign === '=' && /^[^"']*$/.test(name) ? value.split('&') : [];
		return [`${name}***`, ...others].join('&');
	});
}

/** An answer to a submit without the secrets in a text that came in place of JSON: `{ value }`. */
export function withoutSecretsInText<T extends { value?: unknown }>(answer: T): T {
	const { value } = answer;
	return typeof value === 'string' ? { ...answer, value: withoutNamedSecrets(value) } : answer;
}

interface Copying {
	from: object;
	to: unknown[] | Record<string, unknown>;
	/** Whether `from` is the answer itself, or an element of an answer that is a list. */
	isTop: boolean;
	/** Whether `from`, or what it is in, has a name with "webhook" in it. */
	isWebhook: boolean;
}

/**
 * A copy of an answer that may be output and saved: masks the secrets, also in field names, and leaves out
 * `webhook_secret`. `keepWebhookSecret` keeps the one at the top level, for a caller that seals or outputs
 * it, even if the credential has the same one, and masks it wherever else it stands. A deeper one is kept
 * only with `everywhere`. With `onlyAlone`, a longer word that contains a secret stays: a new API key may
 * contain the old one, e.g. `v2.old`. Not recursive, because an answer may be nested too deeply for the
 * stack.
 */
export function withoutSecrets(
	value: unknown,
	secrets: Secrets,
	keepWebhookSecret: boolean | 'everywhere' = false,
	onlyAlone = false,
): unknown {
	const copies = new Map<object, unknown>();
	const todo: Copying[] = [];
	const own = keepWebhookSecret === 'everywhere' ? [] : ownSecretsIn(value);
	const masks = [secrets, ...own].map((each) => maskOf(each, onlyAlone));
	const mask = (text: string) => masks.reduce((rest, one) => one(rest), text);
	const copyOf = (original: unknown, isTop: boolean, isWebhook: boolean): unknown => {
		if (typeof original === 'string') return mask(original);
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
			const isNamedSecret = SECRET_NAME.test(name) || (isWebhook && /secret$/i.test(name));
			// That there is one, or how many, is no secret.
			const isSecret = isNamedSecret && !['boolean', 'number'].includes(typeof inner);
			if ((isSecret && !isKept) || name === '__proto__') continue;
			to[mask(name)] =
				isSecret && typeof inner === 'string'
					? masked(inner, { apiKey: secrets.apiKey })
					: copyOf(inner, false, isWebhook || WEBHOOK_NAME.test(name));
		}
	}
	return copy;
}

/** The secret of each submission in an answer. The answer may repeat it in another field. */
function ownSecretsIn(answer: unknown): Secrets[] {
	const submissions: unknown[] = Array.isArray(answer) ? answer : [answer];
	return submissions.flatMap((submission) => {
		const { webhook_secret: secret } = isPlain(submission)
			? (submission as { webhook_secret?: unknown })
			: {};
		return typeof secret === 'string' ? [{ webhookSecret: secret }] : [];
	});
}

function isPlain(value: unknown): value is object {
	return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}
