import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { DICTIONARY_LIMIT_CHARS, dictionaryChars } from '../../../shared/api/undocumented/requests';
import { refuse } from '../../../shared/parameters/refuse';
import { messageOf } from '../../../shared/thrown';
import { readTerms } from './terms';

/**
 * The terms of any item of the run, in their order. n8n gives an item only its own parameters, so
 * for other items the expression is evaluated. An unreadable item stops the whole sync, because
 * without its terms the dictionary would lose them.
 */
export function termsOfItem(context: IExecutePaginationFunctions, item: number): string[] {
	const raw = context.getNode().parameters.terms;
	if (item === context.getItemIndex() || typeof raw !== 'string' || !raw.startsWith('=')) {
		return readTerms(context, context.getNodeParameter('terms', ''));
	}
	let value: unknown;
	try {
		value = context.evaluateExpression(raw.slice(1), item);
	} catch (error) {
		throw refuse(
			context,
			`'Terms' of item ${item} cannot be read: ${messageOf(error)}`,
			'Correct the expression or the item. The dictionary was left as it is, because without these terms it would lose them.',
		);
	}
	return readTerms(context, value, item);
}

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
