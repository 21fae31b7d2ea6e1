import { NodeApiError } from 'n8n-workflow';

/**
 * `noTurn`, `blocked`, `unknownHost`, `unreachable`: the request was not sent. `broken`, `timeout`: it is
 * unknown whether it arrived, unless the problem says `isUnsent`. `storage`: the connection of n8n to its own
 * storage broke while the file was read.
 */
export type Transport =
	| 'noTurn'
	| 'blocked'
	| 'unknownHost'
	| 'unreachable'
	| 'broken'
	| 'timeout'
	| 'tls'
	| 'notJson'
	| 'redirect'
	| 'unreadableFile'
	| 'storage';

/** The code of an error of n8n's storage: `ECONNRESET` alone would name the connection to the service. */
export const STORAGE_BROKE = 'ESTORAGE';

/**
 * The kind of a connection error, by its code from Node.js, TLS or axios, and whether the connection
 * was being made.
 */
export function transportOf(code: string, isConnecting = false): Transport {
	// An address that is none, or has a scheme that axios does not know (credentials may hold anything).
	if (/^(ENOTFOUND|ERR_INVALID_URL|ERR_BAD_REQUEST)$/.test(code)) return 'unknownHost';
	if (/^(ECONNREFUSED|EAI_AGAIN)$/.test(code)) return 'unreachable';
	// The way to the server can also be lost after the request was sent.
	if (/^(EHOSTUNREACH|ENETUNREACH)$/.test(code)) return isConnecting ? 'unreachable' : 'broken';
	if (/^(ENOENT|EACCES|EPERM|EIO|EISDIR|EMFILE|ENFILE)$/.test(code)) {
		// Too many open files, or a firewall; otherwise it is the file, which is read while it is sent.
		return isConnecting ? 'unreachable' : 'unreadableFile';
	}
	if (code === STORAGE_BROKE) return 'storage';
	if (/CERT|TLS|SSL|SELF_SIGNED|EPROTO|UNABLE_TO_VERIFY/.test(code)) return 'tls';
	// ERR_CANCELED: we aborted an idle upload. A cancelled execution is handled earlier.
	if (/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_CANCELED)$/.test(code)) return 'timeout';
	return 'broken';
}

/** What an error of n8n's storage is about: the connection to it, such as to S3, or the file. */
export function storageFault(error: unknown): 'storage' | 'unreadableFile' {
	const code = codeOf(error);
	return code === undefined || transportOf(code) === 'unreadableFile'
		? 'unreadableFile'
		: 'storage';
}

/**
 * Whether the server's certificate was refused, which Node.js checks before it sends a request. Not
 * EPROTO, which can occur at any time.
 */
export function isAboutCertificate(code: string): boolean {
	return /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|^INVALID_CA$|^INVALID_PURPOSE$/.test(code);
}

/** The code of a connection error, even if n8n has wrapped it several times. */
export function codeOf(error: unknown): string | undefined {
	// n8n 1 keeps the code of a broken connection as `httpCode` only.
	const codes = layersOf(error).flatMap(({ code, httpCode }) => [code, nameIn(httpCode)]);
	const code = codes.find((one): one is string => typeof one === 'string');
	if (code !== undefined) return code;
	// n8n's error for a file that it has deleted has no code.
	if (error instanceof Error && error.message === 'File not found') return 'ENOENT';
	const words = error instanceof NodeApiError ? error.messages.join(' ') : String(error);
	// Nor has the error for an HTTP proxy that ends the connection instead of opening a tunnel.
	if (words.includes('CONNECT response')) return 'ECONNREFUSED';
	return /\b(E[A-Z]{4,}|[A-Z_]*CERT[A-Z_]*)\b/.exec(words)?.[1];
}

function nameIn(httpCode: unknown): string | undefined {
	return typeof httpCode === 'string' && /^[A-Z]/.test(httpCode) ? httpCode : undefined;
}

/** What Node.js, axios and n8n say of an error. `errors` has one for each address that was tried. */
interface ErrorLayer {
	code?: unknown;
	httpCode?: unknown;
	name?: unknown;
	syscall?: unknown;
	message?: unknown;
	errors?: unknown;
	cause?: unknown;
	errorResponse?: unknown;
}

/** An error and what it wraps, the outermost first. */
function layersOf(error: unknown): ErrorLayer[] {
	const layers: ErrorLayer[] = [];
	let current = error as ErrorLayer | undefined;
	while (current && layers.length < 5) {
		layers.push(current);
		current = (current.cause ?? current.errorResponse) as typeof current;
	}
	return layers;
}

/** Whether n8n refuses to call the address (N8N_SSRF_PROTECTION_ENABLED), before anything is sent. */
export function isBlockedByN8n(error: unknown): boolean {
	return layersOf(error).some(({ name }) => String(name).startsWith('SsrfBlocked'));
}

/** Whether a connection failed while it was being made, so that nothing was sent. */
export function wasConnecting(error: unknown, code: string): boolean {
	return layersOf(error).some(
		({ syscall, message, errors }) =>
			syscall === 'connect' ||
			syscall === 'getaddrinfo' ||
			Array.isArray(errors) ||
			String(message).startsWith(`connect ${code}`) ||
			String(message).includes('before secure TLS connection was established'),
	);
}
