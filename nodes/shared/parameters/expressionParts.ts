import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { isNothing } from './checkedValues';
import type { WithNode } from './refuse';

/** A step that an expression names: `$('Sheet')`, `$items("Sheet")`, `$node['Sheet']`, `$node.Sheet`. */
const NAMED_STEP =
	/\$(?:node\[|items\(|\()\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)|\$node\.([\p{L}\p{N}_$]+)/gu;

/** An address up to its query. */
const BEFORE_QUERY = /^(?:\{\{.*?\}\}|[^?#])*/s;

/** A part of an expression that is a whole part of a path: `https://example.com/{{ $json.id }}/talk`. */
const WHOLE_SEGMENT = /(?<=\/)\{\{(?:(?!\}\}).)*\}\}(?=[/?#]|$)/gs;

/** A part of an expression that reads what comes into the node, or what the user has set. */
const READS_INPUT = /\$(?:json|binary|input|item|items|node|vars|env)\b|\$\(/;

/** A part with one of these may give nothing on purpose. */
const CONDITION = /(?<!\?)\?(?![.?])|&&|\$if\(|\.filter\(/;

/** The user knows that the value of a part with one of these may be missing. */
const FALLBACK = /\?\?|\|\||\$ifEmpty\(/;

/** The texts in quotes of an expression. */
const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/gs;

/** What an n8n context can tell of the input. A trigger that is published has none. */
export type ExpressionContext = WithNode &
	Partial<
		Pick<IExecutePaginationFunctions, 'evaluateExpression' | 'getExecuteData' | 'getItemIndex'>
	>;

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

/**
 * Whether no part of an expression that reads the input gives anything, so that the text is the same for
 * every item: `file-{{ $json.id }}`.
 */
export function hasOnlyEmptyParts(
	context: ExpressionContext,
	entered: unknown,
	item?: number,
): boolean {
	const values = partsOfInput(entered).map((part) => valueOfPart(context, part, item));
	const isEmpty = (value: unknown) =>
		isNothing(value) || (Array.isArray(value) && value.length === 0);
	return values.length > 0 && values.every(isEmpty);
}

/** Whether each part of an expression has a fallback or a condition, so that all may give nothing on purpose. */
export function mayAllBeEmpty(entered: string): boolean {
	return isExpression(entered) && partsOf(entered).every(mayBeEmpty);
}

/** Whether a part of an expression has a condition, so that it may give nothing on purpose. */
export function hasCondition(entered: string): boolean {
	return partsOf(entered).some((part) => CONDITION.test(withoutTexts(part)));
}

function mayBeEmpty(part: string): boolean {
	return CONDITION.test(withoutTexts(part)) || FALLBACK.test(withoutTexts(part));
}

/** A field may be called "Name?". */
function withoutTexts(part: string): string {
	return part.replace(QUOTED, '');
}

/**
 * The first part of an expression that reads a field which is not there. A field that is empty is there, and
 * a part with a fallback or a condition may give nothing.
 */
export function missingPart(context: ExpressionContext, entered: unknown): string | undefined {
	if (!context.evaluateExpression) return undefined;
	return partsOfInput(entered).find(
		(part) => !mayBeEmpty(part) && valueOfPart(context, part) === undefined,
	);
}

/** The first part of an expression that leaves a part of the path empty, which the address needs. */
export function emptySegment(context: ExpressionContext, entered: unknown): string | undefined {
	if (!context.evaluateExpression || !isExpression(entered)) return undefined;
	const [path = ''] = BEFORE_QUERY.exec(entered) ?? [];
	const segments = path.match(WHOLE_SEGMENT) ?? [];
	return segments.find(
		(part) => READS_INPUT.test(part) && !mayBeEmpty(part) && isNothing(valueOfPart(context, part)),
	);
}

/** Whether a parameter, as it was entered, is an expression. */
export function isExpression(entered: unknown): entered is string {
	return typeof entered === 'string' && entered.startsWith('=');
}

/** The parts in braces. */
function partsOf(expression: string): string[] {
	return expression.match(/\{\{.*?\}\}/gs) ?? [];
}

function partsOfInput(entered: unknown): string[] {
	const parts = isExpression(entered) ? partsOf(entered) : [];
	return parts.filter((part) => READS_INPUT.test(part) && !part.includes('$fromAI'));
}

/** An expression with a mark in the place of each part that reads the input. */
export function withMarks(expression: string, mark: string): string {
	return expression.replace(/\{\{.*?\}\}/gs, (part) => (READS_INPUT.test(part) ? mark : part));
}

/** The text outside of the braces, and the texts in quotes within them. */
export function literalsOf(expression: string): string[] {
	const outside = expression.slice(1).split(/\{\{.*?\}\}/s);
	const inside = partsOf(expression).join('\n');
	// One kind of quotes may stand within another.
	const quoted = [/'(?:\\.|[^'\\])*'/gs, /"(?:\\.|[^"\\])*"/gs, /`(?:\\.|[^`\\])*`/gs].flatMap(
		(quotes) => inside.match(quotes) ?? [],
	);
	// What a template literal puts in is no literal.
	return [...outside, ...quoted.map((literal) => literal.replace(/\$\{[^}]*\}/g, ''))];
}

function valueOfPart(
	context: ExpressionContext,
	part: string,
	item = context.getItemIndex?.() ?? 0,
) {
	return valueOf(context, part.slice(2, -2), item);
}

/** What an expression gives; undefined if it cannot be evaluated. */
export function valueOf(context: ExpressionContext, expression: string, item: number): unknown {
	try {
		return context.evaluateExpression?.(`{{ ${expression} }}`, item);
	} catch {
		return undefined;
	}
}

/** The steps that an expression names, each as a text in quotes. */
export function stepsNamedIn(expression: string): string[] {
	const names = [...expression.matchAll(NAMED_STEP)].map(([, quoted, bare = '']) =>
		quoted === undefined ? `'${bare}'` : quoted,
	);
	return [...new Set(names)];
}
