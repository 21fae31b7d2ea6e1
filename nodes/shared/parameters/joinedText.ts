import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { isUnevaluated, unevaluated } from './accidentalText';
import { required, textIn } from './checkedValues';
import {
	emptySegment,
	isExpression,
	literalsOf,
	missingPart,
	stepsNamedIn,
	valueOf,
	type ExpressionContext,
} from './expressionParts';
import { refuse } from './refuse';

/**
 * What JavaScript writes in a text for a value that is missing or a date that is none. "NaN" may stand in an
 * id by chance, so it does not count between other letters.
 */
const MISSING =
	/undefined|null|Invalid Date|NaN(?![A-Za-z0-9])|(?<![A-Za-z0-9])NaN(?=[A-Za-z0-9])/g;

/** The same in a text for people: "null" counts only as a word, and not as a value in JSON. */
const MISSING_IN_PROSE =
	/undefined|(?<![A-Za-z0-9]|"\s?:\s?|[,[]\s?)null(?![A-Za-z0-9])|Invalid Date|(?<![A-Za-z0-9])NaN(?![A-Za-z0-9])/g;

/** A step whose name is computed: `$($json.step)`. Nobody can tell what it holds. */
const COMPUTED_STEP = /\$(?:node\[|items\(|\()\s*[^'"`\s)]/;

/** What an administrator has set, and an expression reads: `$vars.folder`, `$env['FOLDER']`. */
const SETTING = /\$(?:vars|env)(?:\.[\w$]+|\[[^\]]*\])/g;

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
	context: ExpressionContext,
	entered: unknown,
	value: unknown,
	displayName: string,
	check: Check = {},
): string | undefined {
	const text = textIn(context, value, displayName);
	if (text !== undefined) checkJoined(context, entered, [text], displayName, check);
	return text;
}

/** The same for an address, which is required. Refuses one of which a part is missing. */
export function addressIn(
	context: ExpressionContext,
	entered: unknown,
	value: unknown,
	displayName: string,
): string {
	const given = joinedTextIn(context, entered, value, displayName, { isExact: true });
	const address = required(context, given, displayName);
	const part = missingPart(context, entered) ?? emptySegment(context, entered);
	if (part === undefined) return address;
	throw refuse(
		context,
		`'${displayName}' is '${address.slice(0, 80)}', because this part of its expression gives nothing: ${part.slice(0, 80)}`,
		"Name a field that the item has. For a part that may be missing, add a fallback: {{ $json.name ?? '' }}. Nothing was sent.",
	);
}

/**
 * Refuses texts as {@link joinedTextIn} does. A word such as "undefined" may stand in a text if it stands in
 * the expression as a text, or in the data, or if an AI agent may have said it.
 */
export function checkJoined(
	context: ExpressionContext,
	entered: unknown,
	texts: string[],
	displayName: string,
	{ item = context.getItemIndex?.() ?? 0, isExact = false }: Check = {},
): void {
	const raw = texts.find((text) => isUnevaluated(entered, text, isExact));
	if (raw !== undefined) throw unevaluated(context, raw, displayName);
	if (!isExpression(entered) || entered.includes('$fromAI') || COMPUTED_STEP.test(entered)) return;
	const found = texts.flatMap((text) =>
		[...text.matchAll(isExact ? MISSING : MISSING_IN_PROSE)].map(({ 0: word, index }) => {
			const isAlone = !/[A-Za-z0-9]/.test(
				text.charAt(index - 1) + text.charAt(index + word.length),
			);
			return { text, word, pattern: patternOf(word, isAlone) };
		}),
	);
	if (found.length === 0) return;
	const flags = /\.to\w*Case\(/.test(entered) ? 'i' : '';
	const literals = literalsOf(entered);
	const settings = entered.match(SETTING) ?? [];
	const isMeant = (pattern: string) => {
		const regExp = new RegExp(pattern, flags);
		const isIn = (all: string[]) => all.some((one) => regExp.test(one));
		// The steps last: n8n evaluates an expression for each of them.
		return (
			isIn(literals) ||
			isInInput(context, regExp) ||
			isIn(settings.map((setting) => String(valueOf(context, setting, item) ?? ''))) ||
			stepsNamedIn(entered).some((name) => isIn(textsOfStep(context, name, item)))
		);
	};
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
	context: ExpressionContext,
	entered: unknown,
	object: IDataObject,
	displayName: string,
): void {
	const isTyped = typeof entered === 'string' && !isExpression(entered);
	checkJoined(context, entered, isTyped ? [entered] : textsIn(object), displayName);
}

/** Whether a pattern is in the input of a run: a run can have thousands of items, each with a text to check. */
const inInput = new WeakMap<INodeExecutionData[], Map<string, boolean>>();

function isInInput(context: ExpressionContext, regExp: RegExp): boolean {
	const items = context.getExecuteData?.().data.main?.[0] ?? [];
	const known = inInput.get(items) ?? new Map<string, boolean>();
	inInput.set(items, known);
	const isThere = known.get(String(regExp)) ?? textsOfItems(items).some((one) => regExp.test(one));
	known.set(String(regExp), isThere);
	return isThere;
}

function textsOfStep(context: ExpressionContext, quotedName: string, item: number): string[] {
	const items = valueOf(context, `$(${quotedName}).all()`, item);
	return Array.isArray(items) ? textsOfItems(items as INodeExecutionData[]) : [];
}

/** The texts of the items' fields, and the names of their files. */
function textsOfItems(items: INodeExecutionData[]): string[] {
	return textsIn(
		items.map(({ json, binary = {} }) => [
			json,
			Object.values(binary).map(({ fileName }) => fileName),
		]),
	);
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

/** The pattern of a word, which stands alone or within other letters. */
function patternOf(word: string, isAlone: boolean): string {
	return isAlone ? `(?<![A-Za-z0-9])${word}(?![A-Za-z0-9])` : word;
}
