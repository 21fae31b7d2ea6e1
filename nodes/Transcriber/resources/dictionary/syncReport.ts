import type { IDataObject } from 'n8n-workflow';

import { DICTIONARY_LIMIT_CHARS } from '../../../shared/api/sizeLimits';
import { dictionaryChars } from '../../../shared/api/undocumented/dictionaryChars';
import { isYes, numberOf } from '../../../shared/jsonValues';

/** Whether the dictionary is inherited from the team owner. */
export function isInherited({ inherited_from_team_owner: inherited }: IDataObject): boolean {
	return isYes(inherited);
}

/** The order counts: the service applies only the first `limit_terms` terms. */
export function isSame(one: string[], other: string[]): boolean {
	return one.length === other.length && one.every((term, index) => term === other[index]);
}

/** The fields of the dictionary that the service counts. */
const FIGURES = [
	'count',
	'chars',
	'limit_chars',
	'limit_terms',
	'ignored_terms',
	'inherited_from_team_owner',
];

/** What Sync did, and the resulting dictionary (with 'Dry Run': what it would be). */
export function report(
	old: string[],
	before: IDataObject,
	{ terms: wanted, ...said }: IDataObject & { terms: string[] },
): IDataObject {
	const [had, has] = [new Set(old), new Set(wanted)];
	const kept = wanted.filter((term) => had.has(term));
	const inherited = isInherited(before);
	const limitTerms = numberOf(before.limit_terms) ?? 0;
	// The figures of the service are more accurate.
	const figures = Object.fromEntries(
		Object.entries(said).filter(([name]) => FIGURES.includes(name)),
	);
	return {
		added: wanted.filter((term) => !had.has(term)),
		removed: old.filter((term) => !has.has(term)),
		unchanged: kept,
		reordered: !isSame(
			kept,
			old.filter((term) => has.has(term)),
		),
		count: wanted.length,
		chars: dictionaryChars(wanted),
		limit_chars: before.limit_chars ?? DICTIONARY_LIMIT_CHARS,
		limit_terms: before.limit_terms,
		ignored_terms: limitTerms > 0 ? wanted.slice(limitTerms) : undefined,
		...figures,
		...(inherited ? { inherited_from_team_owner: true, note: INHERITED } : {}),
	};
}

const INHERITED =
	"Before this sync you had no dictionary of your own and used the team owner's list, which is what the terms were compared with. The owner's list itself is never changed; once you have terms of your own, they apply to you in its place.";
