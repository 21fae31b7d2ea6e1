/** Anything that was thrown, as an Error. */
export function asError(thrown: unknown): Error {
	return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
	return asError(thrown).message;
}
