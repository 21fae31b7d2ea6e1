/**
 * Blanks, line ends, zero-width signs and byte order marks at the ends: they come along when a
 * credential is pasted, and nobody sees them in the field.
 */
const UNSEEN =
	'[\\s\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]';

const AT_THE_ENDS = new RegExp(`^${UNSEEN}+|${UNSEEN}+$`, 'g');

/**
 * The replacements that make the API root of 'Base URL', in this order. A colon before a number
 * begins a port; any other colon ends a scheme.
 */
const TO_ROOT: Array<[RegExp, string]> = [
	[AT_THE_ENDS, ''],
	[/(\/+api\/v1)?\/*$/, ''],
	[/^(?!$|[a-z][a-z\d+.-]*:(?!\d))\/*/i, 'https://'],
];

/** A field of the credential without the invisible signs that were pasted along. */
export function pasted(text: unknown): string {
	return String(text ?? '').replace(AT_THE_ENDS, '');
}

/**
 * The credential's 'Base URL' is accepted with or without `https://` in front, a trailing slash,
 * and `/api/v1` at the end (service document, "Versioning": every path starts with /api/v1).
 */
export function apiRoot(baseUrl: unknown): string {
	const root = TO_ROOT.reduce(
		(text, [found, by]) => text.replace(found, by),
		String(baseUrl ?? ''),
	);
	return `${root}/api/v1`;
}

const REPLACEMENTS = TO_ROOT.map(([found, by]) => `.replace(${found}, "${by}")`).join('');

/** The same as {@link apiRoot}, where n8n takes only an expression. */
export const API_ROOT_EXPRESSION = `={{ ("" + ($credentials.baseUrl ?? ""))${REPLACEMENTS} }}/api/v1`;

/** The API key as {@link pasted} gives it, where n8n takes only an expression. */
export const API_KEY_EXPRESSION = `={{ ("" + ($credentials.apiKey ?? "")).replace(${AT_THE_ENDS}, "") }}`;
