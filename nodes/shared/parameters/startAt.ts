import { DateTime } from 'luxon';
import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { isNothing, textIn, wrongKind } from './checkedValues';
import { missingPart } from './expressionParts';
import { asLasting, refuse } from './refuse';

/** The part of n8n's context that reads the parameters of a launch. */
export type LaunchReader = Pick<
	IExecuteSingleFunctions,
	'getNode' | 'getNodeParameter' | 'getTimezone'
> &
	Partial<Pick<IExecuteSingleFunctions, 'evaluateExpression' | 'getItemIndex'>>;

const THIRTY_DAYS = 30 * 24 * 3600 * 1000;

/**
 * 'Start At' of a meeting bot as ISO 8601 with an offset (service document, "Meeting launch
 * parameters"); undefined if the field is empty, which means now. Refuses an expression that gives
 * nothing, because the user did not mean now. A time without an offset is in the workflow's time
 * zone, as in n8n's date picker.
 */
export function startAtFrom(context: LaunchReader): string | undefined {
	const value: unknown = context.getNodeParameter('startAt', '');
	const entered: unknown = context.getNodeParameter('startAt', '', { rawExpressions: true });
	if (isNothing(value)) {
		if (isNothing(entered)) return undefined;
		throw refuse(
			context,
			"The parameter 'Start At' is empty: its expression gives no time",
			`Correct the expression, so that the bot does not join at the wrong time. ${sendNow(context)}`,
		);
	}
	const part = missingPart(context, entered);
	if (part !== undefined) {
		throw refuse(
			context,
			`'Start At' is '${String(value).slice(0, 80)}', because this part of its expression gives nothing: ${part.slice(0, 80)}`,
			"Name a field that the item has, so that the bot does not join at the wrong time. For a part that may be missing, add a fallback: {{ $json.zone ?? '' }}.",
		);
	}
	const start = isTime(value) ? readTime(value) : readText(context, value);
	if (start.isValid) return start.toISO({ suppressMilliseconds: true }) ?? undefined;
	throw refuse(
		context,
		`'Start At' is not an ISO 8601 time: '${String(value).slice(0, 80)}'`,
		example(context),
	);
}

/** The time zone in which 'Start At' is read; undefined if it is empty or has an offset. */
export function zoneOfStart(context: LaunchReader): string | undefined {
	const value: unknown = context.getNodeParameter('startAt', '');
	if (typeof value !== 'string' || isNothing(value)) return undefined;
	return hasOffset(asIso(value.trim())) ? undefined : context.getTimezone();
}

/** Refuses a start in the past or more than 30 days ahead. */
export function checkStart(context: LaunchReader, startAt: string): void {
	const ahead = Date.parse(startAt) - Date.now();
	if (ahead > 0 && ahead <= THIRTY_DAYS) return;
	if (ahead > 0) {
		throw refuse(
			context,
			`'Start At' is more than 30 days ahead: '${startAt}'`,
			'Choose an earlier time, or let a Schedule Trigger send the bot later.',
		);
	}
	throw asLasting(refuse(context, `'Start At' is in the past: '${startAt}'`, example(context)));
}

/** Advice with a time that would be accepted. */
function example(context: LaunchReader): string {
	const tomorrow = DateTime.now().plus({ days: 1 }).toISODate() ?? '';
	return `Use a time such as ${tomorrow}T10:00:00, which is in the time zone of the workflow, ${tomorrow}T10:00:00+03:00 or {{ $now.plus(1, 'hour') }}. ${sendNow(context)}`;
}

/** How to send this bot now. An expression may give other items a time that has to stay. */
export function sendNow(context: LaunchReader): string {
	const entered: unknown = context.getNodeParameter('startAt', '', { rawExpressions: true });
	const isForAllItems = context.getItemIndex !== undefined && String(entered).startsWith('=');
	return isForAllItems
		? 'An empty field means now, for all items: to send only this bot now, give the node this item alone, with the field cleared.'
		: 'Leave the field empty to send the bot now.';
}

interface Time {
	/** Method of a Date. */
	toISOString?: () => string;
	/** Method of Luxon's DateTime. */
	toISO?: () => string | null;
}

/** Checks the methods, because a value from an expression may be of another copy of the class. */
function isTime(value: unknown): value is Time {
	if (typeof value !== 'object' || value === null) return false;
	const { toISOString, toISO } = value as Time;
	return typeof toISOString === 'function' || typeof toISO === 'function';
}

function readTime(time: Time): DateTime {
	try {
		const text = time.toISO ? time.toISO() : time.toISOString?.();
		return DateTime.fromISO(text ?? '', { setZone: true });
	} catch {
		return DateTime.invalid('no time');
	}
}

function readText(context: LaunchReader, value: unknown): DateTime {
	if (typeof value !== 'string') throw wrongKind(context, value, 'Start At', 'has to be a time');
	const text = asIso(textIn(context, value, 'Start At') ?? '');
	// As Microsoft Graph writes the start of a meeting: its zone, usually UTC, stands in another field.
	if (/T\d\d:\d\d:\d\d\.\d{7}$/.test(text)) {
		throw refuse(
			context,
			`'Start At' is a time of Microsoft without its time zone, which is usually UTC: '${text}'`,
			"If the field 'timeZone' beside it is UTC, add a Z: {{ $json.start.dateTime }}Z. If it is the time zone of the workflow: {{ $json.start.dateTime.slice(0, 19) }}.",
		);
	}
	// Luxon reads a bare time as today, and a bare year as its first day.
	if (!/^[+-]?\d{4}(\d\d|-|W)/.test(text)) return DateTime.invalid('no date');
	// As calendars give the start of an all-day event: the bot would join at midnight.
	if (!text.includes('T')) {
		throw refuse(
			context,
			`'Start At' has no time of day: '${text}'`,
			`An all-day event of a calendar has none. Leave such events out, or add a time: ${text}T10:00.`,
		);
	}
	return earlier(DateTime.fromISO(text, { zone: context.getTimezone(), setZone: true }), text);
}

/**
 * When clocks are set back, an hour occurs twice: the first one counts, because an early bot is
 * better than a late one. When clocks are set forward, an hour is missing: the next hour counts.
 */
function earlier(time: DateTime, text: string): DateTime {
	return hasOffset(text) ? time : (time.getPossibleOffsets()[0] ?? time);
}

/** The usual spellings of ISO 8601, as Luxon reads them. */
function asIso(text: string): string {
	// No time is that long, and the pattern is slow on a long text.
	if (text.length > 100) return text;
	return text.replace(/^(\S+)[ t]+(?=\d)/, '$1T').replace(/z$/, 'Z');
}

function hasOffset(text: string): boolean {
	return /(Z|[+-]\d\d(:?\d\d)?|\])$/.test(text.replace(/^[^T]*/, ''));
}
