import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { isNothing, isUnevaluated, textIn, unevaluated } from './checkedValues';
import { refuse } from './refuse';

/** What JavaScript writes in a text for a value that is missing, and Luxon for a date that is none. */
const MISSING = /undefined|null|NaN|Invalid DateTime/g;

/** A value that an expression reads: `$json.id`, `$binary.data.fileName`, `$('Sheet').item.json.id`, without a method at its end. */
const READ =
	/\$(?:json|binary|item\.json|input\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\])\.json|(?:\(|node\[)(?:'[^']*'|"[^"]*")[)\]](?:\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\]))?\.json)(?:\??\.\w+(?!\w|\()|\[(?:\d+|'[^']*'|"[^"]*")\])*/g;

/** How strictly a text is checked. */
interface Check {
	/** The item of which `value` is. Default: the item of the context. */
	item?: number;
	/**
	 * In a key, a link or a code such a word is wrong wherever it comes from, unless the data has it. In
	 * other texts it counts only if the expression reads a value that is missing.
	 */
	isExact?: boolean;
}

/**
 * The same as `textIn`, for a text that costs money or data if it is wrong. Refuses an expression that
 * n8n has not evaluated, and what an expression makes of a missing value: "https://example.com/undefined".
 * `entered` is the parameter as the user has entered it.
 */
export function joinedTextIn(
	context: IExecutePaginationFunctions,
	entered: unknown,
	value: unknown,
	displayName: string,
	check: Check = {},
): string | undefined {
	const text = textIn(context, value, displayName);
	if (text !== undefined) checkJoined(context, entered, text, displayName, check);
	return text;
}

/** Refuses a text as {@link joinedTextIn} does. */
export function checkJoined(
	context: IExecutePaginationFunctions,
	entered: unknown,
	text: string,
	displayName: string,
	{ item = context.getItemIndex(), isExact = false }: Check = {},
): void {
	if (isUnevaluated(entered, text, isExact)) throw unevaluated(context, text, displayName);
	const words = new Set(text.match(MISSING) ?? []);
	if (words.size === 0 || !isExpression(entered)) return;
	const read = (entered.match(READ) ?? []).map((path) => valueOf(context, path, item));
	const isMissing = read.some((value) => isNothing(value));
	const changesLetters = /\.to\w*Case\(/.test(entered);
	const meant = [...literalsOf(entered), ...read.flatMap(textsIn)];
	const isMeant = (word: string, texts: string[]) =>
		texts.some((one) =>
			changesLetters ? one.toLowerCase().includes(word.toLowerCase()) : one.includes(word),
		);
	const word = [...words].find((one) => {
		if (isMeant(one, meant)) return false;
		// An id may have such letters in it.
		const isAlone = new RegExp(`(?<![A-Za-z0-9])${one}(?![A-Za-z0-9])`).test(text);
		if (isMissing) return isExact || isAlone;
		// A model may say such a word.
		const isOfModel = entered.includes('$fromAI');
		const isOfItem = isMeant(one, textsIn(context.getInputData().json));
		return isExact && isAlone && !isOfModel && !isOfItem;
	});
	if (word === undefined) return;
	throw refuse(
		context,
		`'${displayName}' has '${word}' in it, which is a missing value made into text: '${text.slice(0, 80)}'`,
		'Check each part of the expression, and name fields that the item has. Nothing was sent.',
	);
}

/** Refuses a JSON object as {@link joinedTextIn} does a text. */
export function checkJoinedJson(
	context: IExecutePaginationFunctions,
	entered: unknown,
	object: IDataObject,
	displayName: string,
): void {
	const isTyped = typeof entered === 'string' && !isExpression(entered);
	checkJoined(context, entered, isTyped ? entered : textsIn(object).join(' '), displayName);
}

/**
 * Whether an expression has parts in braces, and none of them gives anything: `file-{{ $json.id }}`. A
 * part with a condition may give nothing on purpose.
 */
export function hasOnlyEmptyParts(context: IExecutePaginationFunctions, entered: unknown): boolean {
	const parts = isExpression(entered) ? partsOf(entered) : [];
	const hasCondition = parts.some((part) => part.replace(/\?\?|\?\./g, '').includes('?'));
	if (parts.length === 0 || hasCondition) return false;
	const values = parts.map((part) => valueOf(context, part.slice(2, -2), context.getItemIndex()));
	return values.every((value) => isNothing(value) || (Array.isArray(value) && value.length === 0));
}

/** A member of a collection as the user has entered it; undefined if the whole collection is an expression. */
export function enteredIn(
	context: IExecutePaginationFunctions,
	collection: string,
	name: string,
): unknown {
	const entered = context.getNode().parameters[collection];
	const isCollection = typeof entered === 'object' && entered !== null && !Array.isArray(entered);
	return isCollection ? (entered as IDataObject)[name] : undefined;
}

function isExpression(entered: unknown): entered is string {
	return typeof entered === 'string' && entered.startsWith('=');
}

/** The parts in braces. */
function partsOf(expression: string): string[] {
	return expression.match(/\{\{.*?\}\}/gs) ?? [];
}

/** The text outside of the braces, and the texts in quotes within them. */
function literalsOf(expression: string): string[] {
	const outside = expression.slice(1).split(/\{\{.*?\}\}/s);
	return [...outside, ...(expression.match(/'[^']*'|"[^"]*"|`[^`]*`/g) ?? [])].map(
		// What a template literal puts in is no literal.
		(literal) => literal.replace(/\$\{[^}]*\}/g, ''),
	);
}

/** A value that an expression reads; undefined if it cannot be read. */
function valueOf(context: IExecutePaginationFunctions, path: string, item: number): unknown {
	try {
		return context.evaluateExpression(`{{ ${path} }}`, item);
	} catch {
		return undefined;
	}
}

/** The texts in a value. Works without recursion: a value may be nested almost as deep as the stack. */
function textsIn(value: unknown): string[] {
	const todo = new Set([value]);
	const texts: string[] = [];
	for (const one of todo) {
		if (typeof one === 'string') texts.push(one);
		if (typeof one === 'object' && one !== null) Object.values(one).forEach((two) => todo.add(two));
	}
	return texts;
}
