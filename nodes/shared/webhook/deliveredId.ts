import { idIn } from '../api/undocumented/idNames';

/**
 * The id in a delivery (see `idIn`). Undefined if a delivery with it is refused: it is longer than 256
 * characters, or would change the path of a URL.
 */
export function deliveredId(value: unknown): string | undefined {
	const id = idIn(value);
	if (id === undefined || id.length > 256) return undefined;
	return ['.', '..'].includes(id.trim()) ? undefined : id;
}
