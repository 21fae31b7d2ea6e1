import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isNothing } from '../../../shared/parameters/checkedValues';

/**
 * What in an expression can give another value on every evaluation: the time, random values, a run
 * or call number, or a whole item, which may hold the number of a call. The text of such an
 * expression is hashed instead of its value. Otherwise the same request would look like a new one,
 * and be paid for twice. A field of an item does not change by itself, whatever its name.
 */
const CHANGES_BY_ITSELF = new RegExp(
	[
		/\$(now|today|runIndex|execution|executionId|resumeWebhookUrl|prevNode)\b/,
		/(?<![.\w$'"])Date(Time)?\s*(\?\.|[.(])|\bnew\s+Date\b|\bIntl\s*\./,
		/\.\s*(diffToNow|diffNow|toNow|fromNow|toRelative\w*|isIn(The)?Last)\s*(\?\.)?\(/,
		/([Rr]andom|[Uu]uid|UUID)\w*\s*(\?\.)?\(/,
		/toolCallId/,
		/\$json\b(?!\s*(\?\.|[.[]))/,
		/\$input\b(?!\s*\??\.\s*(item|(first|last)\(\))\s*\??\.\s*json\s*(\?\.|[.[]))/,
	]
		.map(({ source }) => source)
		.join('|'),
);

/** A parameter as it counts when two requests are compared. */
export interface SteadyValue {
	value: unknown;
	/** Whether `value` is, or contains, the text of an expression. */
	isText: boolean;
}

export function steadyParameter(context: IExecutePaginationFunctions, name: string): SteadyValue {
	return steady(context.getNode().parameters[name], context.getNodeParameter(name, ''));
}

/** The same for the value of an expression, whose text is `raw`. */
export function steady(raw: unknown, value: unknown): SteadyValue {
	if (changesByItself(raw)) return { value: raw, isText: true };
	if (!isPlainObject(raw) || !isPlainObject(value)) return { value, isText: false };
	const members = Object.keys(value).map((name) => ({ name, ...steady(raw[name], value[name]) }));
	return {
		value: Object.fromEntries(members.map((member) => [member.name, member.value])),
		isText: members.some(({ isText }) => isText),
	};
}

/** Whether an entered value is an expression that can give another value on every evaluation. */
export function changesByItself(raw: unknown): boolean {
	return typeof raw === 'string' && raw.startsWith('=') && CHANGES_BY_ITSELF.test(raw);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
	return Object.prototype.toString.call(value) === '[object Object]';
}

/** For JSON.stringify: values as in the request, without empty ones and with trimmed text. */
export function asSent(_name: string, value: unknown): unknown {
	if (isNothing(value)) return undefined;
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : value;
}
