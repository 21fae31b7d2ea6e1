/**
 * The credential's 'Base URL' is accepted with or without a trailing slash and with or without
 * `/api/v1` (service document, "Versioning": every path starts with /api/v1).
 */
export function apiRoot(baseUrl: string): string {
	const root = baseUrl
		.trim()
		.replace(/\/+$/, '')
		.replace(/\/api\/v1$/, '');
	return `${root}/api/v1`;
}

/** The same as {@link apiRoot}, where n8n takes only an expression. */
export const API_ROOT_EXPRESSION =
	'={{ ($credentials.baseUrl ?? "").trim().replace(/\\/+$/, "").replace(/\\/api\\/v1$/, "") }}/api/v1';
