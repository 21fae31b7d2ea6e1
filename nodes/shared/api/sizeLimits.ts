/** Service document, "Limits". */

/** The most Unicode characters (code points) of all terms of the dictionary. */
export const DICTIONARY_LIMIT_CHARS = 20_000;

/** "8 GB" is taken as binary, the larger meaning, so that no allowed file is refused. */
export const MAX_FILE_BYTES = 8 * 1024 ** 3;
