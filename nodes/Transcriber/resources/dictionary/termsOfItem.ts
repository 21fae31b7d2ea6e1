import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { messageOf } from '../../../shared/asError';
import { refuse } from '../../../shared/parameters/refuse';
import { readTerms } from './terms';

/**
 * The terms of any item of the run, in their order. n8n gives an item only its own parameters, so
 * for other items the expressions are evaluated. An unreadable item stops the whole sync, because
 * without its terms the dictionary would lose them.
 */
export function termsOfItem(context: IExecutePaginationFunctions, item: number): string[] {
	if (item === context.getItemIndex()) {
		return readTerms(context, context.getNodeParameter('terms', ''));
	}
	let value: unknown;
	try {
		value = evaluated(context, context.getNode().parameters.terms, item);
	} catch (error) {
		throw refuse(
			context,
			`'Terms' of item ${item} cannot be read: ${messageOf(error)}`,
			'Correct the expression or the item. The dictionary was left as it is, because without these terms it would lose them.',
		);
	}
	return readTerms(context, value, item);
}

/** A stored parameter as n8n resolves it for an item: an expression, or a list that has some. */
function evaluated(context: IExecutePaginationFunctions, raw: unknown, item: number): unknown {
	if (Array.isArray(raw)) return raw.map((member) => evaluated(context, member, item));
	const isExpression = typeof raw === 'string' && raw.startsWith('=');
	return isExpression ? context.evaluateExpression(raw.slice(1), item) : raw;
}
