/** POST /transcribe-url: the request field for the link. Others are as in POST /transcribe. */
export const LINK_FIELD = 'url';

/** Dictionary size: the Unicode characters (code points) of all terms, without separators. */
export function dictionaryChars(terms: string[]): number {
	return terms.reduce((sum, term) => sum + [...term].length, 0);
}
