import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';
import { isAccident, isUnevaluated, unevaluated } from '../../../shared/parameters/accidentalText';
import { DICTIONARY_LIMIT_CHARS } from '../../../shared/api/sizeLimits';
import { dictionaryChars } from '../../../shared/api/undocumented/dictionaryChars';
import { refuse } from '../../../shared/parameters/refuse';

/**
 * Refuses an expression or the name of a column that the user has typed into the field while it is set to
 * Fixed: Sync would replace the whole dictionary with it.
 */
export function checkNotTypedInstead(
	context: IExecutePaginationFunctions,
	text: string,
	displayName: string,
	parameter: 'text' | 'terms',
): void {
	const entered = context.getNode().parameters[parameter];
	if (isUnevaluated(entered, text)) throw unevaluated(context, text.trim(), displayName);
	if (typeof entered === 'string' && /^=.*\{\{/s.test(entered)) return;
	if (/\{\{.*\}\}/s.test(text)) {
		throw refuse(
			context,
			`'${displayName}' holds an expression as plain text: '${termInMessage(text.trim())}'`,
			'The field is set to Fixed. Switch it to Expression, or drag the column from the input into it. Nothing was changed.',
		);
	}
	const term = text.trim();
	if (
		term !== '' &&
		Object.keys((context.getInputData() as { json?: IDataObject }).json ?? {}).includes(term)
	) {
		throw refuse(
			context,
			`'${displayName}' holds '${termInMessage(term)}', which is the name of a column, not a term`,
			`Drag the column from the input into the field, so that its terms are used. If the word is a term, switch the field to Expression and enter {{ ${JSON.stringify(term)} }}. Nothing was changed.`,
		);
	}
}

/**
 * Refuses parts of a text that are "undefined", "null" or "NaN": a text of several expressions, one of
 * which gave nothing, has such parts. In a text that the user has typed, they are terms.
 */
export function checkNoAccident(
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

/** The errors of Excel and Google Sheets in English and Russian, and the text of a cell that is computed. */
const SHEET_ERROR =
	/^(#(REF!|VALUE!|DIV\/0!|NULL!|NUM!|ERROR!|SPILL!|CALC!|NAME\?|N\/A|GETTING_DATA|ССЫЛКА!|ЗНАЧ!|ДЕЛ\/0!|ПУСТО!|ЧИСЛО!|ИМЯ\?|Н\/Д|ПЕРЕНОС!|ВЫЧИСЛ!)|Loading\.\.\.|Загрузка\.\.\.)$/;

/**
 * Refuses the error of a cell of a sheet: if one formula fills the column, the error would replace the
 * whole dictionary.
 */
export function checkNoSheetError(
	context: IExecutePaginationFunctions,
	terms: string[],
	displayName: string,
	item = context.getItemIndex(),
): void {
	const error = terms.find((term) => SHEET_ERROR.test(term));
	if (error === undefined) return;
	throw refuse(
		context,
		`'${displayName}' has '${error}' as a term in item ${item}, which is an error of a spreadsheet`,
		'Correct the formula in the sheet, then run the workflow again. Nothing was changed.',
	);
}

/** The beginning of an object, a list, a code fence and a web page. */
const DATA = /^\s*(\{\s*("|'|\}|\w+\s*:)|\[\s*(["'“«{[\]]|$)|<(!doctype|\?xml|html|head|body)\b)/i;

/**
 * Refuses a text that is data instead of terms, such as the answer of an API, a web page, or a list that is
 * not quite JSON: its lines would become the terms, and replace the whole dictionary.
 */
export function checkIsNoData(
	context: IExecutePaginationFunctions,
	text: string,
	displayName: string,
	item = context.getItemIndex(),
): void {
	if (!DATA.test(text) && !/^[ \t]*```/m.test(text)) return;
	const asTerm = displayName === 'Text' ? "choose As List in 'Specify Terms' and " : '';
	throw refuse(
		context,
		`'${displayName}' is no list of terms in item ${item}, but data or a web page: '${termInMessage(text.trim()).slice(0, 40)}'`,
		`Name the field that holds the terms, for example {{ $json.terms }}. A list in JSON needs double quotes, and no comma at its end. If it is a term, ${asTerm}give it in a list by expression: {{ [$json.term] }}. Nothing was changed.`,
	);
}

/** The word 'null' may be a term in a list, but an object converted to text is not. */
export function isTerm(value: unknown): boolean {
	if (typeof value === 'string') return !value.includes('[object Object]');
	return typeof value === 'boolean' || Number.isFinite(value);
}

export function termInMessage(value: unknown): string {
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return text.slice(0, 80);
}

/** Refuses an empty list, and one that is longer than the dictionary can be. */
export function checkTerms(
	context: IExecutePaginationFunctions,
	terms: string[],
	displayName: string,
): void {
	if (terms.length === 0) {
		throw refuse(
			context,
			`The parameter '${displayName}' has no terms`,
			context.getNodeParameter('operation', '') === 'replace'
				? 'Enter at least one term. To empty the dictionary, use Dictionary: Clear.'
				: 'Enter at least one term. Nothing was changed.',
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
