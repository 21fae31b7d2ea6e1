import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { DICTIONARY_LIMIT_CHARS } from '../../../shared/api/sizeLimits';
import { dictionaryChars } from '../../../shared/api/undocumented/dictionaryChars';
import { refuse } from '../../../shared/parameters/refuse';
import { isInherited } from './syncReport';

/**
 * The terms of the dictionary. Throws if the answer has no list, because writing would then lose
 * terms.
 */
export function termsIn(context: IExecutePaginationFunctions, { terms }: IDataObject): string[] {
	if (Array.isArray(terms) && terms.every((term) => ['string', 'number'].includes(typeof term))) {
		return terms.map(String);
	}
	throw refuse(
		context,
		'The answer of the service holds no list of terms, so the dictionary was left as it is',
		'Look at the answer with Dictionary: Get. To write the dictionary without comparing it, use Dictionary: Replace.',
	);
}

/** Refuses a dictionary over the limit that the service names, or else over the documented one. */
export function checkSize(
	context: IExecutePaginationFunctions,
	terms: string[],
	{ limit_chars: limit }: IDataObject,
): void {
	const most = typeof limit === 'number' && limit > 0 ? limit : DICTIONARY_LIMIT_CHARS;
	const chars = dictionaryChars(terms);
	if (chars <= most) return;
	throw refuse(
		context,
		`The dictionary would have ${chars} characters, but it holds at most ${most}`,
		`Remove terms with at least ${chars - most} characters in total. Nothing was changed.`,
	);
}

/** Writes the whole dictionary. */
export function replacement(terms: string[]) {
	return { method: 'PUT', body: { terms } } as const;
}

/**
 * Sends only the missing terms, so that terms added by others at the same time stay. For a user who
 * inherits, the owner's terms are sent too: they stop applying once the user has a term.
 */
export function addition(old: string[], wanted: string[], before: IDataObject) {
	const had = new Set(isInherited(before) ? [] : old);
	return { method: 'POST', body: { terms: wanted.filter((term) => !had.has(term)) } } as const;
}
