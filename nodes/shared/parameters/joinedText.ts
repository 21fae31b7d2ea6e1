import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isNothing, textIn } from './checkedValues';
import { refuse } from './refuse';

/** A word that JavaScript writes for a value that is missing, in a longer text. */
const MISSING = /(?<![\p{L}\p{N}])(undefined|null|NaN)(?![\p{L}\p{N}])/u;

/**
 * The same as `textIn`, for a text that costs money if it is wrong. Refuses the text of an expression
 * that joins texts of which one is missing: "https://example.com/undefined". `entered` is the parameter
 * as the user has entered it. The word may stand in the expression or in the item: then it is meant.
 */
export function joinedTextIn(
	context: IExecutePaginationFunctions,
	entered: unknown,
	value: unknown,
	displayName: string,
): string | undefined {
	const text = textIn(context, value, displayName);
	const word = text === undefined || !joins(entered) ? undefined : MISSING.exec(text)?.[1];
	if (word === undefined || String(entered).includes(word)) return text;
	if (JSON.stringify(context.getInputData().json).includes(word)) return text;
	throw refuse(
		context,
		`'${displayName}' has '${word}' in it, which is a missing value made into text: '${text?.slice(0, 80)}'`,
		'Check each part of the expression, and name fields that the item has. Nothing was sent.',
	);
}

/** Whether something is an expression that puts its text together from parts. */
function joins(entered: unknown): entered is string {
	if (typeof entered !== 'string' || !entered.startsWith('=')) return false;
	return /[+`]|\.(concat|join)\(/.test(entered) || !/^=\s*\{\{[^{}]*\}\}\s*$/.test(entered);
}

/** Whether an expression has parts in braces, and none of them gives anything: `file-{{ $json.id }}`. */
export function hasOnlyEmptyParts(context: IExecutePaginationFunctions, entered: unknown): boolean {
	const parts = joins(entered) ? (entered.match(/\{\{.*?\}\}/gs) ?? []) : [];
	const item = context.getItemIndex();
	return (
		parts.length > 0 && parts.every((part) => isNothing(context.evaluateExpression(part, item)))
	);
}

/** A member of a collection as the user has entered it; undefined if the whole collection is an expression. */
export function enteredIn(
	context: IExecutePaginationFunctions,
	collection: string,
	name: string,
): unknown {
	const entered = context.getNode().parameters[collection];
	return typeof entered === 'object' && entered !== null && !Array.isArray(entered)
		? (entered as Record<string, unknown>)[name]
		: undefined;
}
