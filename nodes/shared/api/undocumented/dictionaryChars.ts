/** Dictionary size: the Unicode characters (code points) of all terms, without separators. */
export function dictionaryChars(terms: string[]): number {
	return terms.reduce((sum, term) => sum + [...term].length, 0);
}
