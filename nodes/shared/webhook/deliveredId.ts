/**
 * The id in a delivery, which may come as a number, but not as 0 (see `idIn`). Undefined if a delivery
 * with it is refused: it is longer than 256 characters, or would change the path of a URL.
 */
export function deliveredId(value: unknown): string | undefined {
	const isNumber = Number.isFinite(value) && value !== 0;
	const id = isNumber ? String(value) : value;
	if (typeof id !== 'string' || id.length > 256) return undefined;
	return ['', '.', '..'].includes(id.trim()) ? undefined : id;
}
