import type { IDataObject, IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { isNothing, isUnevaluated, textIn, unevaluated } from './checkedValues';
import { refuse, type WithNode } from './refuse';

/**
 * What JavaScript writes in a text for a value that is missing or a date that is none. "NaN" may stand in an
 * id by chance, so it counts only as a word.
 */
const MISSING = /undefined|null|Invalid Date|(?<![A-Za-z0-9])NaN(?![A-Za-z0-9])/g;

/** The same in a text for people: "null" counts only as a word, and not as a value in JSON. */
const MISSING_IN_PROSE =
	/undefined|(?<![A-Za-z0-9]|"\s?:\s?|[,[]\s?)null(?![A-Za-z0-9])|Invalid Date|(?<![A-Za-z0-9])NaN(?![A-Za-z0-9])/g;

/** A value that an expression reads: `$json.id`, `$binary.data.fileName`, `$('Sheet').item.json.id`, without a method at its end. */
const READ =
	/\$(?:json|binary|item\.json|input\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\])\??\.json|(?:\(|node\[|items\()(?:'[^']*'|"[^"]*")[)\]](?:\??\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\])|\[\d+\])?\??\.json)(?:\s*\??\.[\p{L}\p{N}_$]+(?![\p{L}\p{N}_$]|\()|\[(?:\d+|'[^']*'|"[^"]*")\])*/gu;

/** A part of an expression that reads what comes into the node. */
const READS_INPUT = /\$(?:json|binary|input|item|items|node)\b|\$\(/;

/** A part that may give nothing on purpose. A fallback (`??`, `||`) is no such part. */
const IS_OPTIONAL = /\?|&&|\$if\(|\.filter\(/;

/** What an n8n context can tell of the input. A trigger that is published has none. */
type Context = WithNode &
	Partial<
		Pick<
			IExecutePaginationFunctions,
			'evaluateExpression' | 'getExecuteData' | 'getInputData' | 'getItemIndex'
		>
	>;

/** How a text is checked. */
interface Check {
	/** The item of which the text is. Default: the item of the context. */
	item?: number;
	/** The text is a key, a link or a code. */
	isExact?: boolean;
}

/**
 * The same as `textIn`, for a text that costs money or data if it is wrong. Refuses an expression that
 * n8n has not evaluated, and what an expression makes of a missing value: "https://example.com/undefined".
 * `entered` is the parameter as the user has entered it.
 */
export function joinedTextIn(
	context: Context,
	entered: unknown,
	value: unknown,
	displayName: string,
	check: Check = {},
): string | undefined {
	const text = textIn(context, value, displayName);
	if (text !== undefined) checkJoined(context, entered, [text], displayName, check);
	return text;
}

/**
 * Refuses texts as {@link joinedTextIn} does. A word such as "undefined" may stand in a text if it stands in
 * the expression as a text, or in the data, or if an AI agent may have said it.
 */
export function checkJoined(
	context: Context,
	entered: unknown,
	texts: string[],
	displayName: string,
	{ item = context.getItemIndex?.() ?? 0, isExact = false }: Check = {},
): void {
	const raw = texts.find((text) => isUnevaluated(entered, text, isExact));
	if (raw !== undefined) throw unevaluated(context, raw, displayName);
	if (!isExpression(entered) || entered.includes('$fromAI')) return;
	const found = texts.flatMap((text) =>
		[...text.matchAll(isExact ? MISSING : MISSING_IN_PROSE)].map(({ 0: word, index }) => {
			const isAlone = !/[A-Za-z0-9]/.test(
				text.charAt(index - 1) + text.charAt(index + word.length),
			);
			return { text, word, pattern: patternOf(word, isAlone) };
		}),
	);
	if (found.length === 0) return;
	const meant = [
		...literalsOf(entered),
		...(entered.match(READ) ?? []).flatMap((path) => textsIn(valueOf(context, path, item))),
		...(isExact ? textsOfItems([inputOf(context, item)]) : []),
	];
	const isMeant = (pattern: string) =>
		contains(meant, pattern) || (!isExact && isInAnyItem(context, pattern));
	const accidents = new Set(
		[...new Set(found.map(({ pattern }) => pattern))].filter((pattern) => !isMeant(pattern)),
	);
	const wrong = found.find(({ pattern }) => accidents.has(pattern));
	if (wrong === undefined) return;
	throw refuse(
		context,
		`'${displayName}' has '${wrong.word}' in it, which is a missing value made into text: '${wrong.text.slice(0, 80)}'`,
		'Check each part of the expression, and name fields that the item has. Nothing was sent.',
	);
}

/** Refuses a JSON object as {@link joinedTextIn} does a text. */
export function checkJoinedJson(
	context: Context,
	entered: unknown,
	object: IDataObject,
	displayName: string,
): void {
	const isTyped = typeof entered === 'string' && !isExpression(entered);
	checkJoined(context, entered, isTyped ? [entered] : textsIn(object), displayName);
}

/**
 * Whether no part of an expression that reads the input gives anything, so that the text is the same for
 * every item: `file-{{ $json.id }}`.
 */
export function hasOnlyEmptyParts(
	context: IExecutePaginationFunctions,
	entered: unknown,
	item = context.getItemIndex(),
): boolean {
	const parts = partsOfInput(entered);
	return parts.length > 0 && parts.every((part) => isEmptyPart(context, part, item));
}

/** Whether a part of an expression that reads the input, and has no fallback, gives nothing. */
export function hasEmptyPart(context: IExecutePaginationFunctions, entered: unknown): boolean {
	return partsOfInput(entered).some(
		(part) => !/\?\?|\|\|/.test(part) && isEmptyPart(context, part, context.getItemIndex()),
	);
}

/** The parts in braces that read the input, without those that may give nothing on purpose. */
function partsOfInput(entered: unknown): string[] {
	const parts = isExpression(entered) ? partsOf(entered) : [];
	return parts.filter(
		(part) => READS_INPUT.test(part) && !IS_OPTIONAL.test(part.replace(/\?\?|\?\./g, '')),
	);
}

function isEmptyPart(context: Context, part: string, item: number): boolean {
	const value = valueOf(context, part.slice(2, -2), item);
	return isNothing(value) || (Array.isArray(value) && value.length === 0);
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
	const quoted = expression.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/gs) ?? [];
	// What a template literal puts in is no literal.
	return [...outside, ...quoted.map((literal) => literal.replace(/\$\{[^}]*\}/g, ''))];
}

/** The pattern of a word, which stands alone or within other letters. */
function patternOf(word: string, isAlone: boolean): string {
	return isAlone ? `(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])` : word;
}

function contains(texts: string[], pattern: string): boolean {
	const regExp = new RegExp(pattern, 'i');
	return texts.some((text) => regExp.test(text));
}

/** A value that an expression reads; undefined if it cannot be read. */
function valueOf(context: Context, path: string, item: number): unknown {
	try {
		return context.evaluateExpression?.(`{{ ${path} }}`, item);
	} catch {
		return undefined;
	}
}

function inputsOf(context: Context): INodeExecutionData[] {
	return context.getExecuteData?.().data.main?.[0] ?? [];
}

function inputOf(context: Context, item: number): INodeExecutionData | undefined {
	const own = context.getInputData?.() as INodeExecutionData | undefined;
	return inputsOf(context)[item] ?? own;
}

/** The texts of the items' fields, and the names of their files. */
function textsOfItems(items: Array<INodeExecutionData | undefined>): string[] {
	return textsIn(
		items.map((item) => [
			item?.json,
			Object.values(item?.binary ?? {}).map(({ fileName }) => fileName),
		]),
	);
}

/** Whether a pattern is in the input of a run: a run can have thousands of items, each with a text to check. */
const inInput = new WeakMap<INodeExecutionData[], Map<string, boolean>>();

function isInAnyItem(context: Context, pattern: string): boolean {
	const items = inputsOf(context);
	const known = inInput.get(items) ?? new Map<string, boolean>();
	inInput.set(items, known);
	const isThere = known.get(pattern) ?? contains(textsOfItems(items), pattern);
	known.set(pattern, isThere);
	return isThere;
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
