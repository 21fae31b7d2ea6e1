import type { IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';
import {
	accident,
	isAccident,
	isUnevaluated,
	unevaluated,
} from '../../../shared/parameters/accidentalText';
import { choiceIn, isNothing, required } from '../../../shared/parameters/checkedValues';
import {
	hasCondition,
	hasOnlyEmptyParts,
	mayAllBeEmpty,
	withMarks,
} from '../../../shared/parameters/expressionParts';
import { checkJoined, joinedTextIn } from '../../../shared/parameters/joinedText';
import { jsonListIn } from '../../../shared/parameters/jsonText';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';
import {
	checkIsNoData,
	checkNoAccident,
	checkNoSheetError,
	checkNotTypedInstead,
	checkTerms,
	isTerm,
	termInMessage,
} from './checkTerms';

export const termsField: INodeProperties = {
	displayName: 'Terms',
	name: 'terms',
	type: 'string',
	typeOptions: { rows: 5 },
	default: '',
	required: true,
	placeholder: 'e.g. Kubernetes',
	description:
		'One term per line, or an expression that gives a list. The first terms matter most.',
	hint: 'One term per line',
};

/** What ends a term in a text (service document, "Dictionary"). */
const SEPARATOR = /[,;\r\n]/;

/** What stands between two members of a JSON list, each of which is a text or a part in braces. */
const BETWEEN_MEMBERS = /(?<=["}])\s*,\s*(?=["{])/;

/** Terms as a list, or as text with the service's own separators (service document, "Dictionary"). */
export const termsFields: INodeProperties[] = [
	{
		displayName: 'Specify Terms',
		name: 'specifyTerms',
		type: 'options',
		default: 'list',
		options: [
			{ name: 'As List', value: 'list', description: 'One term per line, or a list by expression' },
			{
				name: 'As Text',
				value: 'text',
				description: 'Terms separated by comma, semicolon or line break',
			},
		],
	},
	{ ...termsField, displayOptions: { show: { specifyTerms: ['list'] } } },
	{
		displayName: 'Text',
		name: 'text',
		type: 'string',
		typeOptions: { rows: 5 },
		default: '',
		required: true,
		placeholder: 'e.g. Kubernetes, OKR; Anna Petrova',
		description: 'Terms separated by comma, semicolon or line break. The first terms matter most.',
		hint: 'A comma, a semicolon or a line break ends a term',
		displayOptions: { show: { specifyTerms: ['text'] } },
	},
];

/** Points users who have a sheet with one term per row to Sync. */
export function perItemNotice(what: string, more = ''): INodeProperties {
	return {
		displayName:
			`Each input item ${what}. For a list with one term per item, use Sync. ${more}`.trim(),
		name: 'perItemNotice',
		type: 'notice',
		default: '',
	};
}

/** Puts 'Terms' or 'Text' into the request. */
export function addTerms(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const replaces = request.options.method === 'PUT';
	const choice = context.getNodeParameter('specifyTerms', '');
	if (choiceIn(context, choice, 'Specify Terms', ['list', 'text']) !== 'text') {
		const terms = termsFrom(context);
		if (replaces) checkHoldsMore(context, context.getNode().parameters.terms);
		request.options.body = { terms };
		return;
	}
	const { text: entered } = context.getNode().parameters;
	const given = joinedTextIn(context, entered, context.getNodeParameter('text', ''), 'Text');
	const isEmpty = isOnlyTextAround(context, entered, SEPARATOR);
	const text = required(context, isEmpty ? undefined : given, 'Text');
	if (replaces) checkHoldsMore(context, entered, { separator: SEPARATOR, displayName: 'Text' });
	checkNotTypedInstead(context, text, 'Text', 'text');
	checkIsNoData(context, text, 'Text');
	const parts = text.split(SEPARATOR);
	checkNoAccident(context, parts, 'text');
	checkNoSheetError(context, distinct(parts), 'Text');
	checkTerms(context, distinct(parts), 'Text');
	request.options.body = { text };
}

/** The terms of the 'Terms' parameter: trimmed, without blanks and duplicates, in their order. */
export function termsFrom(context: IExecutePaginationFunctions): string[] {
	const isEmpty = isOnlyTextAround(context, context.getNode().parameters.terms);
	const terms = readTerms(context, isEmpty ? '' : context.getNodeParameter('terms', ''));
	checkTerms(context, terms, 'Terms');
	return terms;
}

/**
 * Reads a list, a JSON list (common in fields of an AI agent), or text with one term per line.
 * Skips empty cells of a sheet. Refuses a whole row, which would be stored as `[object Object]`.
 */
export function readTerms(
	context: IExecutePaginationFunctions,
	value: unknown,
	item = context.getItemIndex(),
): string[] {
	if (typeof value === 'string') {
		if (isAccident(value)) throw accident(context, value, 'Terms');
		checkNotTypedInstead(context, value, 'Terms', 'terms');
	}
	const entered = context.getNode().parameters.terms;
	const listed: unknown[] = Array.isArray(entered) ? entered : [];
	const raw = listed.find((one) => typeof one === 'string' && isUnevaluated(one, one));
	if (raw !== undefined) throw unevaluated(context, String(raw), 'Terms');
	const given =
		typeof value === 'string' ? (jsonListIn(value) ?? linesIn(context, value, item)) : value;
	const terms = (Array.isArray(given) ? given : [given]).filter((term) => !isNothing(term));
	const wrong = terms.find((term) => !isTerm(term));
	if (wrong === undefined) {
		const read = distinct(terms.map(String));
		checkNoSheetError(context, read, 'Terms', item);
		checkJoined(context, enteredTerms(context), read, 'Terms', { item });
		return read;
	}
	throw refuse(
		context,
		`'Terms' holds something that is not a term in item ${item}: ${termInMessage(wrong)}`,
		'A term is a text. Name the field that holds it, for example {{ $json.term }}, or {{ $json.rows.map(row => row.term) }} for a list.',
	);
}

/** 'Terms' as the user has entered it. A list that was entered counts as one text. */
function enteredTerms(context: IExecutePaginationFunctions): unknown {
	const { terms } = context.getNode().parameters;
	return Array.isArray(terms) ? `=${terms.map(String).join('\n')}` : terms;
}

/**
 * Whether the item fills no part of an expression of which each term has a part: "Dr. " of `Dr. {{
 * $json.name }}` is no term. A part with a fallback or a condition may be empty on purpose, and so may a
 * member of a JSON list.
 */
export function isOnlyTextAround(
	context: IExecutePaginationFunctions,
	entered: unknown,
	separator = /[\r\n]/,
	item = context.getItemIndex(),
): boolean {
	if (typeof entered !== 'string' || isJsonList(entered) || mayAllBeEmpty(entered)) return false;
	return hasOnlyFilledTerms(entered, separator) && hasOnlyEmptyParts(context, entered, item);
}

/**
 * For terms that are to replace the dictionary, and are not none: refuses the text around a field that no
 * item has, also if the field has a fallback, or stands in a JSON list.
 */
export function checkHoldsMore(
	context: IExecutePaginationFunctions,
	entered: unknown,
	{ separator = /[\r\n]/, items = [context.getItemIndex()], displayName = 'Terms' } = {},
): void {
	if (typeof entered !== 'string' || hasCondition(entered)) return;
	const isFilled = hasOnlyFilledTerms(entered, isJsonList(entered) ? BETWEEN_MEMBERS : separator);
	if (!isFilled || !items.every((item) => hasOnlyEmptyParts(context, entered, item))) return;
	throw refuse(
		context,
		`'${displayName}' has only the text around fields that are empty or missing, so the dictionary was left as it is`,
		'Check the names of the fields in the expression, and the step before.',
	);
}

/** Whether each term of an expression has a part that reads the input, so that no term is fixed. */
function hasOnlyFilledTerms(entered: string, separator: RegExp): boolean {
	const terms = withMarks(entered.slice(1), '{}').split(separator);
	return terms.every((term) => term.trim() === '' || term.includes('{}'));
}

/** Whether an expression begins as a JSON list. */
function isJsonList(entered: string): boolean {
	return /^=\s*\[/.test(entered);
}

function linesIn(context: IExecutePaginationFunctions, text: string, item: number): string[] {
	checkIsNoData(context, text, 'Terms', item);
	const lines = text.split(/[\r\n]/);
	checkNoAccident(context, lines, 'terms', item);
	return lines;
}

/** Terms as the service keeps them: trimmed, without empty ones and duplicates, in their order. */
export function distinct(terms: string[]): string[] {
	return [...new Set(terms.map((term) => term.trim()).filter(Boolean))];
}
