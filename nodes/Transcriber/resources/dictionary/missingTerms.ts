import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { DICTIONARY_LIMIT_CHARS } from '../../../shared/api/sizeLimits';
import { callService } from '../../../shared/api/callService';
import { saysNoTerms } from '../../../shared/api/undocumented/answers';
import { dictionaryChars } from '../../../shared/api/undocumented/dictionaryChars';
import { numberOf } from '../../../shared/jsonValues';
import { refuse } from '../../../shared/parameters/refuse';
import { isInherited } from './syncReport';
import { distinct } from './terms';

/**
 * The terms of the dictionary (service document, "Dictionary"). Throws if the answer has no list, because
 * writing would then lose terms. The document does not show in which list a team member sees the owner's
 * terms: in `terms`, or only among those that are applied and ignored.
 */
export function termsIn(context: IExecutePaginationFunctions, answer: IDataObject): string[] {
	const terms = listIn(answer.terms);
	const isElsewhere = isInherited(answer) && (terms ?? []).length === 0;
	if (saysNoTerms(answer)) throw isElsewhere ? withoutOwnersTerms(context) : withoutTerms(context);
	if (terms && !isElsewhere) return terms;
	const applied = listIn(answer.effective_terms);
	if (isElsewhere && applied) return [...applied, ...(listIn(answer.ignored_terms) ?? [])];
	throw isElsewhere ? withoutOwnersTerms(context) : withoutTerms(context);
}

function withoutOwnersTerms(context: IExecutePaginationFunctions): Error {
	return refuse(
		context,
		"You use the team owner's dictionary, and the answer of the service does not show its terms, so nothing was written",
		"Your first own term takes the place of the owner's list. Write all terms that are to apply with Dictionary: Add.",
	);
}

function withoutTerms(context: IExecutePaginationFunctions): Error {
	return refuse(
		context,
		'The answer of the service holds no list of terms, so the dictionary was left as it is',
		'Look at the answer with Dictionary: Get. Dictionary: Add writes without comparing, and removes nothing.',
	);
}

function listIn(value: unknown): string[] | undefined {
	if (!Array.isArray(value)) return undefined;
	const isList = value.every((term) => ['string', 'number'].includes(typeof term));
	return isList ? value.map(String) : undefined;
}

/** Refuses a dictionary over the limit that the service names, or else over the documented one. */
export function checkSize(
	context: IExecutePaginationFunctions,
	terms: string[],
	{ limit_chars: limit }: IDataObject,
): void {
	const given = numberOf(limit) ?? 0;
	const most = given > 0 ? given : DICTIONARY_LIMIT_CHARS;
	// The service may store two spellings of a term as one.
	const spelled = new Map(terms.map((term) => [comparable(term), term]));
	const chars = dictionaryChars([...spelled.values()]);
	if (chars <= most) return;
	throw refuse(
		context,
		`The dictionary would have ${chars} characters, but it holds at most ${most}`,
		`Remove terms with at least ${chars - most} characters in total. Nothing was changed.`,
	);
}

/**
 * The dictionary after a write, with what the service says of it. The answer to a write is
 * undocumented: if it has a list that lacks some of the terms that were sent, the dictionary itself
 * decides. If that cannot be read, the answer does. `old`: the dictionary before.
 */
export async function dictionaryAfterWrite(
	context: IExecutePaginationFunctions,
	{ old, wanted, sent }: { old: string[]; wanted: string[]; sent: string[] },
	answer: IDataObject,
): Promise<IDataObject & { terms: string[] }> {
	const lacked = lacking(answer, sent);
	if (lacked.length === 0) {
		// The answer may list only what was added, and count that.
		const listed = Array.isArray(answer.terms) ? answer.terms.map(String) : [];
		if (listed.length === 0 || lacking(answer, wanted).length > 0) return { terms: wanted };
		const terms = asSpelled(wanted, listed, old);
		// If nothing was new, it may be the list from before the write, and so may its figures.
		const mayBeOld = lacking({ terms: old }, sent).length === 0;
		return mayBeOld && listed.length !== terms.length ? { terms } : { ...answer, terms };
	}
	const read = callService(context, { method: 'GET', url: '/dictionary' });
	const now = await read.catch((): IDataObject => ({}));
	const { terms } = now;
	if (!Array.isArray(terms) || saysNoTerms(now))
		return { terms: wanted.filter((term) => !lacked.includes(term)) };
	const listed = terms.map(String);
	const isStored = lacking(now, wanted).length === 0;
	return { ...now, terms: isStored ? asSpelled(wanted, listed, old) : listed };
}

/**
 * The wanted terms that the service lists, in the order of the user. The service may store a term with other
 * capitals, and two spellings as one: then the spelling that it lists counts, or the one that the dictionary had
 * before, or else the first of the user.
 */
function asSpelled(wanted: string[], listed: string[], old: string[]): string[] {
	const places = listed.map(comparable);
	const takePlace = (term: string) => {
		const place = places.indexOf(comparable(term));
		if (place >= 0) places.splice(place, 1);
		return place >= 0;
	};
	const has = new Set(listed);
	const exact = new Set(wanted.filter((term) => has.has(term) && takePlace(term)));
	const kept = new Map(old.filter((term) => has.has(term)).map((term) => [comparable(term), term]));
	const spelled = wanted
		.filter((term) => exact.has(term) || takePlace(term))
		.map((term) => (exact.has(term) ? term : (kept.get(comparable(term)) ?? term)));
	return distinct(spelled);
}

/**
 * The terms of the input. Those that differ only in blanks or code points are one: with plain blanks if the
 * dictionary has it so, or else as the dictionary has one of them, or else the first of the user.
 */
export function asStored(terms: string[], old: string[]): string[] {
	const had = new Set(old);
	const spelled = new Map<string, string>();
	for (const term of terms) {
		const plain = withPlainBlanks(term);
		const known = spelled.get(plain) ?? (had.has(plain) ? plain : term);
		spelled.set(plain, had.has(known) || !had.has(term) ? known : term);
	}
	return [...spelled.values()];
}

/** The terms that a list of the service lacks; none if there is no list. */
export function lacking({ terms }: IDataObject, sent: string[]): string[] {
	if (!Array.isArray(terms)) return [];
	const has = new Set(terms.map(comparable));
	return sent.filter((term) => !has.has(comparable(term)));
}

/** The service may store a term with other capitals, blanks or code points. */
function comparable(term: unknown): string {
	return withPlainBlanks(String(term)).toLowerCase();
}

function withPlainBlanks(term: string): string {
	// Not NFKC: CO2 and CO₂ are two terms.
	return term.normalize('NFC').replace(/\s+/g, ' ').trim();
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
