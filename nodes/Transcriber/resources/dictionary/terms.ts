import type { IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';
import {
	choiceIn,
	isNothing,
	required,
	textIn,
	accident,
	isAccident,
} from '../../../shared/parameters/checkedValues';
import { jsonListIn } from '../../../shared/parameters/jsonText';
import { DICTIONARY_LIMIT_CHARS } from '../../../shared/api/sizeLimits';
import { dictionaryChars } from '../../../shared/api/undocumented/dictionaryChars';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';

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
export function perItemNotice(what: string): INodeProperties {
	return {
		displayName: `Each input item ${what}. For a list with one term per item, use Sync.`,
		name: 'perItemNotice',
		type: 'notice',
		default: '',
	};
}

/** Puts 'Terms' or 'Text' into the request. */
export function addTerms(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const given = context.getNodeParameter('specifyTerms', '');
	if (choiceIn(context, given, 'Specify Terms', ['list', 'text']) !== 'text') {
		request.options.body = { terms: termsFrom(context) };
		return;
	}
	const text = required(
		context,
		textIn(context, context.getNodeParameter('text', ''), 'Text'),
		'Text',
	);
	checkNotTypedInstead(context, text, 'Text', 'text');
	const parts = text.split(/[,;\r\n]/);
	checkNoAccident(context, parts, 'text');
	checkTerms(context, distinct(parts), 'Text');
	request.options.body = { text };
}

/** The terms of the 'Terms' parameter: trimmed, without blanks and duplicates, in their order. */
export function termsFrom(context: IExecutePaginationFunctions): string[] {
	const terms = readTerms(context, context.getNodeParameter('terms', ''));
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
	const given =
		typeof value === 'string' ? (jsonListIn(value) ?? linesIn(context, value, item)) : value;
	const terms = (Array.isArray(given) ? given : [given]).filter((term) => !isNothing(term));
	const wrong = terms.find((term) => !isTerm(term));
	if (wrong === undefined) return distinct(terms.map(String));
	throw refuse(
		context,
		`'Terms' holds something that is not a term in item ${item}: ${termInMessage(wrong)}`,
		'A term is a text. Name the field that holds it, for example {{ $json.term }}, or {{ $json.rows.map(row => row.term) }} for a list.',
	);
}

/**
 * Refuses an expression or the name of a column that the user has typed into the field while it is set to
 * Fixed: Sync would replace the whole dictionary with it.
 */
function checkNotTypedInstead(
	context: IExecutePaginationFunctions,
	text: string,
	displayName: string,
	parameter: 'text' | 'terms',
): void {
	if (String(context.getNode().parameters[parameter] ?? '').startsWith('=')) return;
	if (/\{\{.*\}\}/s.test(text)) {
		throw refuse(
			context,
			`'${displayName}' holds an expression as plain text: '${termInMessage(text.trim())}'`,
			'The field is set to Fixed. Switch it to Expression, or drag the column from the input into it. Nothing was changed.',
		);
	}
	const term = text.trim();
	if (term !== '' && Object.keys(context.getInputData().json).includes(term)) {
		throw refuse(
			context,
			`'${displayName}' holds '${termInMessage(term)}', which is the name of a column, not a term`,
			`Drag the column from the input into the field, so that its terms are used. If the word is a term, switch the field to Expression and enter {{ '${term}' }}. Nothing was changed.`,
		);
	}
}

function linesIn(context: IExecutePaginationFunctions, text: string, item: number): string[] {
	const lines = text.split(/[\r\n]/);
	checkNoAccident(context, lines, 'terms', item);
	return lines;
}

/**
 * Refuses parts of a text that are "undefined", "null" or "NaN": a text of several expressions, one of
 * which gave nothing, has such parts. In a text that the user has typed, they are terms.
 */
function checkNoAccident(
	context: IExecutePaginationFunctions,
	parts: string[],
	parameter: 'text' | 'terms',
	item = context.getItemIndex(),
): void {
	const entered = String(context.getNode().parameters[parameter] ?? '');
	const part = entered.startsWith('=') ? parts.find(isAccident) : undefined;
	if (part === undefined) return;
	const displayName = parameter === 'text' ? 'Text' : 'Terms';
	throw refuse(
		context,
		`'${displayName}' has '${termInMessage(part.trim())}' as a term in item ${item}: an expression gave nothing`,
		"Check the expressions, and name fields that hold a term, for example {{ $json.term }}. If the word is a term, let an expression in 'Terms' (As List) give a list. Nothing was changed.",
	);
}

/** The word 'null' may be a term in a list, but an object converted to text is not. */
function isTerm(value: unknown): boolean {
	if (typeof value === 'string') return !value.includes('[object Object]');
	return typeof value === 'boolean' || Number.isFinite(value);
}

function termInMessage(value: unknown): string {
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return text.slice(0, 80);
}

/** Terms as the service keeps them: trimmed, without empty ones and duplicates, in their order. */
export function distinct(terms: string[]): string[] {
	return [...new Set(terms.map((term) => term.trim()).filter(Boolean))];
}

/**
 * For a write that replaces the whole dictionary: refuses one single term with a comma or semicolon.
 * Such a term is probably a list that was not split; as one term it would replace the whole
 * dictionary.
 */
export function checkIsSplit(context: IExecutePaginationFunctions, terms: string[]): void {
	const [only = '', ...others] = terms;
	if (others.length > 0 || !/[,;]/.test(only)) return;
	throw refuse(
		context,
		`'Terms' is one single term with a comma or semicolon in it: '${termInMessage(only)}'`,
		"Put each term on a separate line, or use Dictionary: Replace with As Text in 'Specify Terms' for a list with commas. The dictionary was left as it is, because this one term would replace all of it.",
	);
}

function checkTerms(
	context: IExecutePaginationFunctions,
	terms: string[],
	displayName: string,
): void {
	if (terms.length === 0) {
		throw refuse(
			context,
			`The parameter '${displayName}' has no terms`,
			'Enter at least one term. To empty the dictionary, use Dictionary: Clear.',
		);
	}
	const chars = dictionaryChars(terms);
	if (chars > DICTIONARY_LIMIT_CHARS) {
		throw refuse(
			context,
			`'${displayName}' has ${chars} characters, but the dictionary holds at most 20 000`,
			'Remove terms. Nothing was changed.',
		);
	}
}
