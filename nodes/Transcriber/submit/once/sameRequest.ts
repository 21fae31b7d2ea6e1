import { createHash } from 'crypto';
import {
	NodeConnectionTypes,
	type IDataObject,
	type IExecutePaginationFunctions,
} from 'n8n-workflow';

import {
	isOutsideExecution,
	isToolCall,
	isUnrememberedCall,
} from '../../../shared/n8nInternals/runIdentity';
import { isNothing } from '../../../shared/parameters/checkedValues';
import { isExpression } from '../../../shared/parameters/expressionParts';
import { startAtFrom } from '../../../shared/parameters/startAt';
import { fileOf, isFile, recordingOf } from '../../item/inputFile';

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

/** Parameters that make up the request. The others control what happens with the answer. */
const ASKED = ['resource', 'operation', 'url', 'meetingUrl', 'startAt', 'language', 'options'];

/**
 * A hash of what the item asks for. A Retry gives the same hash, unless the user has changed the
 * item. Leaves out the webhook address and the Idempotency-Key.
 */
export function askedFor(context: IExecutePaginationFunctions): string {
	const read = readRequest(context);
	return hashOf(read, fileIn(context), itemRead(context, read));
}

/** A variable of an expression other than the time. */
const OTHER_VARIABLE = /\$(?!(now|today)\b)/;

/**
 * A hash of the JSON body of a submit, to find it in another round of a loop: without the address for webhooks,
 * and with the expression of a 'Start At' that depends only on the time.
 */
export function hashOfBody(context: IExecutePaginationFunctions, body: unknown): string {
	const { startAt } = context.getNode().parameters;
	const sent = { ...(body as IDataObject), webhook_url: undefined };
	const { isText } = steady(startAt, startAt);
	const isOnlyOfTime = isText && !OTHER_VARIABLE.test(String(startAt));
	const compared = isOnlyOfTime ? { ...sent, start_at: startAt } : sent;
	return createHash('sha256').update(JSON.stringify(compared)).digest('base64url');
}

/** If the text of an expression counts, so does the item that it reads. */
function itemRead(context: IExecutePaginationFunctions, read: Read[]): unknown {
	return read.some(({ isText }) => isText) ? context.getInputData().json : undefined;
}

/**
 * A hash of the same for any file, also without the item: a loop may bring a file again with another
 * counter beside it. Then, if the text of an expression counts, its value is not compared.
 */
export function settingsFor(
	context: IExecutePaginationFunctions,
): Record<'ofItem' | 'ofAnyItem', string> {
	const read = readRequest(context);
	return { ofItem: hashOf(read, itemRead(context, read)), ofAnyItem: hashOf(read) };
}

function readRequest(context: IExecutePaginationFunctions): Read[] {
	return ASKED.map((name) => parameterOf(context, name));
}

function hashOf(read: Read[], ...more: unknown[]): string {
	const asked = read.map(({ value }) => withoutIdempotencyKey(value));
	return createHash('sha256')
		.update(JSON.stringify([...asked, ...more], asSent))
		.digest('base64url');
}

function withoutIdempotencyKey(value: unknown): unknown {
	if (!isPlainObject(value)) return value;
	return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'idempotencyKey'));
}

/** The file of the item (see `fileOf`). Undefined if it is lost, so it counts as another file. */
function fileIn(context: IExecutePaginationFunctions): string | undefined {
	if (context.getNodeParameter('operation') !== 'transcribeFile') return undefined;
	try {
		return fileOf(recordingOf(context).binary);
	} catch {
		return undefined;
	}
}

/** For JSON.stringify: values as in the request, without empty ones and with trimmed text. */
function asSent(_name: string, value: unknown): unknown {
	if (isNothing(value)) return undefined;
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : value;
}

/**
 * Identifies a tool call within its execution; one that n8n does not remember, among all such calls of its
 * workflow: there, n8n may give the node another id each time.
 */
export function toolCallOf(context: IExecutePaginationFunctions): string {
	const asked = isUnrememberedCall(context)
		? [undefined, ...askedByCall(context, namesOf(context), argumentsOf)]
		: [context.getNode().id, ...askedByCall(context, namesOfTool(context), inputsOf)];
	return JSON.stringify(asked, asSentWithLastingIds);
}

/** How to wait decides nothing about what is paid for. */
function namesOf(context: IExecutePaginationFunctions): string[] {
	return Object.keys(context.getNode().parameters).filter((name) => name !== 'waitOptions');
}

/** Of a tool call: what it says to the model, and what happens with the transcript. */
const BESIDE = ['descriptionType', 'toolDescription', 'onCompletion', 'webhookUrl', 'triggerUrl'];

/**
 * The same for the calls of one tool. What the user has entered as a fixed value is the same in all of them, and may be
 * another one only in a Retry, which must not pay again because the user has improved the description.
 */
function namesOfTool(context: IExecutePaginationFunctions): string[] {
	const { parameters } = context.getNode();
	const isFixed = (name: string) => name === 'toolDescription' || !isExpression(parameters[name]);
	return namesOf(context).filter((name) => !(BESIDE.includes(name) && isFixed(name)));
}

/**
 * What a tool call asks for, independent of time and spelling. If the text of an expression counts, so
 * do its inputs: everything from the model and from the agent's item.
 */
function askedByCall(
	context: IExecutePaginationFunctions,
	names: string[],
	inputs: (context: IExecutePaginationFunctions) => unknown[],
): unknown[] {
	const read = names.map((name) => {
		const parameter = parameterOf(context, name);
		return {
			...parameter,
			value: parameter.isText ? parameter.value : inOneSpelling(context, name, parameter.value),
		};
	});
	const given = read.some(({ isText }) => isText) ? inputs(context) : [];
	return [...read.map(({ value }) => value), ...given];
}

/** A model that repeats a call may write the same time, link or language in another way. */
function inOneSpelling(
	context: IExecutePaginationFunctions,
	name: string,
	value: unknown,
): unknown {
	if (name === 'startAt') return instantOf(context) ?? value;
	if (typeof value !== 'string') return value;
	const text = value.trim();
	if (name === 'language') return text.toLowerCase();
	const isLink = name === 'url' || name === 'meetingUrl';
	return isLink && URL.canParse(text) ? new URL(text).href : value;
}

/** 'Start At' in ms since 1970; undefined if the bot joins at once, or if it is no time. */
function instantOf(context: IExecutePaginationFunctions): number | undefined {
	try {
		const start = startAtFrom(context);
		return start === undefined ? undefined : Date.parse(start);
	} catch {
		return undefined;
	}
}

/** For JSON.stringify: as sent, with a file by its lasting id, because n8n may rename it before a Retry. */
function asSentWithLastingIds(name: string, value: unknown): unknown {
	return isFile(value) ? fileOf(value) : asSent(name, value);
}

function inputsOf(context: IExecutePaginationFunctions): unknown[] {
	const call = context.getInputData(0, NodeConnectionTypes.AiTool);
	const given = [context.evaluateExpression('{{ $json }}', 0), call.json];
	// n8n 2 adds an id that differs in each call.
	return given.map((json) => ({ ...(isPlainObject(json) && json), toolCallId: undefined }));
}

/**
 * What the model gives. For the Agents of n8n 2.41 that is the item. The item of an MCP client is its request, which has
 * another id in each call.
 */
function argumentsOf(context: IExecutePaginationFunctions): unknown[] {
	const isOfAgent = isOutsideExecution(context) && !isToolCall(context);
	if (isOfAgent) return [context.evaluateExpression('{{ $json }}', 0)];
	return [context.getInputData(0, NodeConnectionTypes.AiTool).json];
}

interface Read {
	value: unknown;
	/** Whether `value` is, or contains, the text of an expression. */
	isText: boolean;
}

function parameterOf(context: IExecutePaginationFunctions, name: string): Read {
	return steady(context.getNode().parameters[name], context.getNodeParameter(name, ''));
}

function steady(raw: unknown, value: unknown): Read {
	if (typeof raw === 'string' && raw.startsWith('=') && CHANGES_BY_ITSELF.test(raw)) {
		return { value: raw, isText: true };
	}
	if (!isPlainObject(raw) || !isPlainObject(value)) return { value, isText: false };
	const members = Object.keys(value).map((name) => ({ name, ...steady(raw[name], value[name]) }));
	return {
		value: Object.fromEntries(members.map((member) => [member.name, member.value])),
		isText: members.some(({ isText }) => isText),
	};
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
	return Object.prototype.toString.call(value) === '[object Object]';
}
