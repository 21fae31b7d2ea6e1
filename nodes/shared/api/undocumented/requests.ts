/** POST /transcribe-url: the request field for the link. Others are as in POST /transcribe. */
export const LINK_FIELD = 'url';

/** Dictionary size: the Unicode characters (code points) of all terms, without separators. */
export function dictionaryChars(terms: string[]): number {
	return terms.reduce((sum, term) => sum + [...term].length, 0);
}

export const DICTIONARY_LIMIT_CHARS = 20_000;

/** "8 GB" is taken as binary, the larger meaning, so that no allowed file is refused. */
export const MAX_FILE_BYTES = 8 * 1024 ** 3;
