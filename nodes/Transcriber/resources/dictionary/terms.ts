import type { IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';
import {
	accident,
	isAccident,
	isUnevaluated,
	unevaluated,
} from '../../../shared/parameters/accidentalText';
import { choiceIn, isNothing, required } from '../../../shared/parameters/checkedValues';
import { hasOnlyEmptyParts, mayAllBeEmpty } from '../../../shared/parameters/expressionParts';
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

/** A text in a JSON list. */
const QUOTED_MEMBER = /"(?:\\.|[^"\\])*"/gs;

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
		request.options.body = { terms: termsFrom(context, replaces) };
		return;
	}
	const { text: entered } = context.getNode().parameters;
	const given = joinedTextIn(context, entered, context.getNodeParameter('text', ''), 'Text');
	const isEmpty = isOnlyTextAround(context, entered, { separator: SEPARATOR, replaces });
	const text = required(context, isEmpty ? undefined : given, 'Text');
	checkNotTypedInstead(context, text, 'Text', 'text');
	checkIsNoData(context, text, 'Text');
	const parts = text.split(SEPARATOR);
	checkNoAccident(context, parts, 'text');
	checkNoSheetError(context, distinct(parts), 'Text');
	checkTerms(context, distinct(parts), 'Text');
	request.options.body = { text };
}

/** The terms of the 'Terms' parameter: trimmed, without blanks and duplicates, in their order. */
export function termsFrom(context: IExecutePaginationFunctions, replaces = false): string[] {
	const isEmpty = isOnlyTextAround(context, context.getNode().parameters.terms, { replaces });
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

/** Where {@link isOnlyTextAround} looks, and how strictly. */
interface TextAround {
	/** What ends a term. Default: a line break. */
	separator?: RegExp;
	/** The terms replace others, so a fallback that gives nothing is no reason to keep the text around it. */
	replaces: boolean;
	/** Default: the item of the context. */
	item?: number;
}

/**
 * Whether each term has a part in braces, and the item fills none of them: "Dr. " of `Dr. {{ $json.name }}` is
 * no term. A part with a condition may be empty on purpose.
 */
export function isOnlyTextAround(
	context: IExecutePaginationFunctions,
	entered: unknown,
	{ separator = /[\r\n]/, replaces, item = context.getItemIndex() }: TextAround,
): boolean {
	if (typeof entered !== 'string' || mayAllBeEmpty(entered, replaces)) return false;
	const filled = '\0';
	const text = entered.slice(1).replace(/\{\{.*?\}\}/gs, filled);
	const isJsonList = /^\s*\[/.test(text);
	const terms = isJsonList ? (text.match(QUOTED_MEMBER) ?? []) : text.split(separator);
	const isOpen = terms.every((term) => !term.trim() || term.includes(filled));
	return isOpen && hasOnlyEmptyParts(context, entered, item);
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
