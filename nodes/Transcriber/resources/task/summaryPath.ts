/**
 * Whether a path that the user has entered begins with a slash and stays below /api/v1. Uses the URL
 * parser, because it also interprets `%2e`, backslashes and tabs.
 */
export function staysBelowApi(path: string): boolean {
	if (!/^\/[^/\\]/.test(path) || /(^|\/)\.\.?(\/|$)/.test(path)) return false;
	return new URL(`http://service/api/v1${path}`).pathname.startsWith('/api/v1/');
}

/**
 * Whether a path leads to a documented endpoint that another operation guards: Rotate asks for
 * confirmation, and Send Bot for consent. Servers also decode characters and merge slashes.
 */
export function isAnotherOperation(path: string): boolean {
	const { pathname } = new URL(`http://service/api/v1${path}`);
	const decoded = pathname.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
		String.fromCharCode(parseInt(code, 16)),
	);
	const plain = decoded.replace(/[/\\]+/g, '/').replace(/\/\.(?=\/)/g, '');
	return (
		/(^|\/)\.\.(\/|$)/.test(plain) ||
		/^\/api\/v1\/(account|api-key|dictionary|meeting|transcribe|transcribe-url)(\/|$)/i.test(
			plain,
		) ||
		/^\/api\/v1\/tasks\/[^/]+\/cancel\/?$/i.test(plain)
	);
}
