/**
 * Blanks, line ends, zero-width characters and byte order marks. Users paste them along with a
 * credential and cannot see them in the field.
 */
const UNSEEN =
	'[\\s\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]';

const AT_THE_ENDS = new RegExp(`^${UNSEEN}+|${UNSEEN}+$`, 'g');

/**
 * The replacements that turn 'Base URL' into the API root, in this order. A colon before a number
 * starts a port; any other colon ends a scheme.
 */
const TO_ROOT: Array<[RegExp, string]> = [
	[AT_THE_ENDS, ''],
	[/(\/+api\/v1)?\/*$/, ''],
	[/^(?!$|[a-z][a-z\d+.-]*:(?!\d))\/*/i, 'https://'],
];

/** A field of the credential without invisible characters at its ends. */
export function pasted(text: unknown): string {
	return String(text ?? '').replace(AT_THE_ENDS, '');
}

/**
 * The API root for the credential's 'Base URL', which may have or lack `https://`, a trailing slash
 * and `/api/v1` (service document, "Versioning": every path starts with /api/v1).
 */
export function apiRoot(baseUrl: unknown): string {
	const root = TO_ROOT.reduce(
		(text, [found, by]) => text.replace(found, by),
		String(baseUrl ?? ''),
	);
	return `${root}/api/v1`;
}

const REPLACEMENTS = TO_ROOT.map(([found, by]) => `.replace(${found}, "${by}")`).join('');

/** The same as {@link apiRoot}, for places where n8n takes only an expression. */
export const API_ROOT_EXPRESSION = `={{ ("" + ($credentials.baseUrl ?? ""))${REPLACEMENTS} }}/api/v1`;

/** The API key as from {@link pasted}, for places where n8n takes only an expression. */
export const API_KEY_EXPRESSION = `={{ ("" + ($credentials.apiKey ?? "")).replace(${AT_THE_ENDS}, "") }}`;
