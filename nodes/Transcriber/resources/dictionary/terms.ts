import type { IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';

import { refuse } from '../../request/checks';
import type { RoutingRequest } from '../../request/service';
import { DICTIONARY_LIMIT_CHARS, dictionaryChars } from '../../request/shapes';

export const termsField: INodeProperties = {
	displayName: 'Terms',
	name: 'terms',
	type: 'string',
	typeOptions: { rows: 5 },
	default: '',
	required: true,
	placeholder: 'e.g. Kubernetes',
	description: 'One term a line, or an expression that gives a list. The first terms matter most.',
	hint: 'One term a line',
};

/** Terms as a list, or as text with the service's own separators (service document, "Dictionary"). */
export const termsFields: INodeProperties[] = [
	{
		displayName: 'Specify Terms',
		name: 'specifyTerms',
		type: 'options',
		default: 'list',
		options: [
			{ name: 'As List', value: 'list', description: 'One term a line, or a list by expression' },
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

/** Puts 'Terms' or 'Text' into the request. */
export function addTerms(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	if (this.getNodeParameter('specifyTerms', 'list') === 'list') {
		request.options.body = { terms: termsFrom(this) };
		return;
	}
	const text = String(this.getNodeParameter('text', ''));
	checkTerms(this, distinct(text.split(/[,;\n]/)), 'Text');
	request.options.body = { text };
}

/** The terms of the 'Terms' parameter: trimmed, without blanks and duplicates, in their order. */
export function termsFrom(context: IExecutePaginationFunctions): string[] {
	const terms = readTerms(context, context.getNodeParameter('terms', ''));
	checkTerms(context, terms, 'Terms');
	return terms;
}

/**
 * A list, the JSON of one (fields of an AI agent often hold that), or text with one term a line. An
 * empty cell of a sheet is no term, and a whole row is not one either: `[object Object]` would be
 * stored otherwise.
 */
export function readTerms(
	context: IExecutePaginationFunctions,
	value: unknown,
	item = context.getItemIndex(),
): string[] {
	const given = typeof value === 'string' ? (listIn(value) ?? value.split('\n')) : value;
	const terms = (Array.isArray(given) ? given : [given]).filter(
		(term: unknown) => term !== null && term !== undefined,
	);
	const wrong = terms.find((term) => !['string', 'number', 'boolean'].includes(typeof term));
	if (wrong === undefined) return distinct(terms.map(String));
	throw refuse(
		context,
		`'Terms' holds something that is not a term in item ${item}: ${JSON.stringify(wrong).slice(0, 80)}`,
		'A term is a text. Name the field that holds it, for example {{ $json.term }}, or {{ $json.rows.map(row => row.term) }} for a list.',
	);
}

function listIn(text: string): unknown[] | undefined {
	if (!/^\s*\[.*\]\s*$/s.test(text)) return undefined;
	try {
		const list: unknown = JSON.parse(text);
		return Array.isArray(list) ? list : undefined;
	} catch {
		return undefined;
	}
}

/** As the service does it: trimmed, without blanks and repeats, in the order given. */
export function distinct(terms: string[]): string[] {
	return [...new Set(terms.map((term) => term.trim()).filter(Boolean))];
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
