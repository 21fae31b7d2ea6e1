import { idIn } from '../api/undocumented/idNames';

/**
 * The id in a delivery (see `idIn`). Undefined if a delivery with it is refused: it is longer than 256
 * characters.
 */
export function deliveredId(value: unknown): string | undefined {
	const id = idIn(value);
	return id !== undefined && id.length <= 256 ? id : undefined;
}
