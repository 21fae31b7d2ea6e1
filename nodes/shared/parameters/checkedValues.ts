import type { IDataObject, NodeOperationError } from 'n8n-workflow';

import { isObject, strictJson } from '../jsonValues';
import { accident, isAccident } from './accidentalText';
import { refuse, type WithNode } from './refuse';
import { checkNotRounded } from './roundedNumber';
import { copyOf, jsonListIn } from './jsonText';

/**
 * Reads the parameters of every operation. An expression can return values that the panel does not
 * allow: nothing, a whole row, a number as text. An empty value means "not set". A value of the
 * wrong kind is refused before anything is sent; the error names the parameter as the panel shows
 * it. Values are copied, so input items stay unchanged.
 */

/** Whether a value is empty: undefined, null, NaN, or a text of blanks only. */
export function isNothing(value: unknown): value is undefined | null | '' {
	return (
		value === undefined ||
		value === null ||
		Number.isNaN(value) ||
		(typeof value === 'string' && value.trim() === '')
	);
}

/** The value; throws if it is undefined. */
export function required<T>(context: WithNode, value: T | undefined, displayName: string): T {
	if (value !== undefined) return value;
	throw refuse(
		context,
		`The parameter '${displayName}' is empty`,
		'Enter a value. If it comes from an expression, check that the step before has the field.',
	);
}

/** A trimmed text, or a number as text. */
export function textIn(context: WithNode, value: unknown, displayName: string): string | undefined {
	if (isNothing(value)) return undefined;
	checkNotRounded(context, value, displayName);
	const isText = typeof value === 'string' || Number.isFinite(value);
	if (!isText) throw wrongKind(context, value, displayName, 'has to be a text');
	const text = String(value).trim();
	if (isAccident(text)) throw accident(context, text, displayName);
	return text;
}

/** Either from `min` to `max`, or `above` a value and at most `max`. */
interface Range {
	min?: number;
	above?: number;
	max?: number;
	whole?: boolean;
}

/** A number, also written as text, as spreadsheets often give it. */
export function numberIn(
	context: WithNode,
	value: unknown,
	displayName: string,
	{ min, above = -Infinity, max = Infinity, whole = false }: Range,
): number | undefined {
	if (isNothing(value)) return undefined;
	const isText = typeof value === 'string' && /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(value.trim());
	const number = isText || typeof value === 'number' ? Number(value) : NaN;
	const isInRange = number >= (min ?? -Infinity) && number > above && number <= max;
	const isWanted = whole ? Number.isSafeInteger(number) : Number.isFinite(number);
	if (isInRange && isWanted) return number;
	const range = number > max ? `of at most ${max}` : `above ${above}`;
	const rule = min === undefined ? range : `from ${min} to ${max}`;
	const noun = whole ? 'a whole number' : 'a number';
	throw wrongKind(context, value, displayName, `has to be ${noun} ${rule}`);
}

/** One of the values of a list. */
export function choiceIn<T extends string>(
	context: WithNode,
	value: unknown,
	displayName: string,
	choices: readonly T[],
): T | undefined {
	if (isNothing(value)) return undefined;
	const chosen = choices.find((choice) => choice === value);
	if (chosen !== undefined) return chosen;
	throw wrongKind(context, value, displayName, `has to be ${alternatives(choices)}`);
}

/** Several values of a list: an array, a JSON array, or a text with commas. An empty list means not set. */
export function choicesIn<T extends string>(
	context: WithNode,
	value: unknown,
	displayName: string,
	choices: readonly T[],
): T[] | undefined {
	if (isNothing(value)) return undefined;
	const given = typeof value === 'string' ? (jsonListIn(value) ?? value.split(',')) : value;
	if (!Array.isArray(given)) {
		throw wrongKind(context, value, displayName, `has to be a list of ${alternatives(choices)}`);
	}
	const chosen = given
		.map((one: unknown) => (typeof one === 'string' ? one.trim() : one))
		.map((one) => choiceIn(context, one, displayName, choices))
		.filter((one) => one !== undefined);
	return chosen.length > 0 ? chosen : undefined;
}

/** True or false, also as text. */
export function booleanIn(
	context: WithNode,
	value: unknown,
	displayName: string,
): boolean | undefined {
	if (isNothing(value)) return undefined;
	if (typeof value === 'boolean') return value;
	const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
	if (text === 'true' || text === 'false') return text === 'true';
	throw wrongKind(context, value, displayName, 'has to be true or false');
}

/** A collection such as 'Options', which may be one expression. Its members are not checked. */
export function collectionIn(context: WithNode, value: unknown, displayName: string): IDataObject {
	if (isNothing(value)) return {};
	if (isObject(value)) return value;
	throw wrongKind(context, value, displayName, 'has to be an object');
}

/**
 * A copy of a JSON object, which n8n gives as text or, from an expression, as the object itself.
 * Leaves out fields that are undefined or NaN.
 */
export function jsonObjectIn(
	context: WithNode,
	value: unknown,
	displayName: string,
): IDataObject | undefined {
	if (isNothing(value)) return undefined;
	const object = copyOf(typeof value === 'string' ? strictJson(value) : value, (text) => {
		if (isAccident(text)) throw accident(context, text, displayName);
	});
	if (object) return object;
	throw refuse(
		context,
		`The parameter '${displayName}' is not a JSON object`,
		'Enter an object such as { "name": "value" }.',
	);
}

/** The error for a value of the wrong kind, e.g. `'Limit' has to be a number, but is a list`. */
export function wrongKind(
	context: WithNode,
	value: unknown,
	displayName: string,
	rule: string,
): NodeOperationError {
	return refuse(
		context,
		`'${displayName}' ${rule}, but is ${valueInMessage(value)}`,
		'Correct the value. If it comes from an expression, check what the expression gives.',
	);
}

/** A value in an error message. Objects are only named, because they may hold secrets. */
function valueInMessage(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object' || typeof value === 'function') return 'an object';
	return `'${String(value).slice(0, 80)}'`;
}

/** E.g. `txt, srt or vtt`. */
function alternatives(choices: readonly string[]): string {
	return choices.length > 1
		? `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
		: choices.join();
}
