import { createHash } from 'crypto';
import { NodeConnectionTypes, type IExecutePaginationFunctions } from 'n8n-workflow';

import { isNothing } from '../../shared/parameters/values';
import { fileOf, recordingOf } from '../item/inputFile';

/**
 * What a submit asks for, told apart by the parameters of the item. An expression may give another
 * value each time: the clock, chance, the number of the call. Then its text counts and not its value,
 * or the same request would look like a new one and be paid for twice.
 */
const CHANGES_BY_ITSELF =
	/\$now\b|\$today\b|\bDate\b|\bDateTime\b|random|uuid|\$(runIndex|execution|prevNode|input)\b|toolCallId|\$json\b(?!\s*(\?\.|[.[]))/i;

/** Parameters that make up the request. The others say what is done with its answer. */
const ASKED = ['resource', 'operation', 'url', 'meetingUrl', 'startAt', 'language', 'options'];

/**
 * A hash of what is asked for, the same in a Retry of the execution unless the user has changed it.
 * Does not count the webhook address and the Idempotency-Key.
 */
export function askedFor(context: IExecutePaginationFunctions): string {
	const asked = ASKED.map((name) => parameterOf(context, name).value).map(withoutKey);
	return createHash('sha256')
		.update(JSON.stringify([...asked, fileIn(context)], asSent))
		.digest('base64url');
}

function withoutKey(value: unknown): unknown {
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'idempotencyKey'));
}

/** A file that is not there any longer is another one. */
function fileIn(context: IExecutePaginationFunctions): string | undefined {
	if (context.getNodeParameter('operation') !== 'transcribeFile') return undefined;
	try {
		return fileOf(recordingOf(context).binary);
	} catch {
		return undefined;
	}
}

/** As the request would hold it: what is nothing is not sent, and a text has no blanks at its ends. */
function asSent(_name: string, value: unknown): unknown {
	if (isNothing(value)) return undefined;
	return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : value;
}

/**
 * What identifies the call of a tool: what it asks for, whenever that is. Where the text of an
 * expression counts, so does all that the model and the item of the agent give to it.
 */
export function toolCallOf(context: IExecutePaginationFunctions): string {
	const { id, parameters } = context.getNode();
	const read = Object.keys(parameters).map((name) => parameterOf(context, name));
	const inputs = read.some(({ isText }) => isText) ? inputsOf(context) : [];
	return JSON.stringify([id, ...read.map(({ value }) => value), ...inputs]);
}

function inputsOf(context: IExecutePaginationFunctions): unknown[] {
	const call = context.getInputData(0, NodeConnectionTypes.AiTool);
	const given = [context.evaluateExpression('{{ $json }}', 0), call.json];
	// n8n 2 adds an id that each call has of its own.
	return given.map((json) => ({ ...(isObject(json) && json), toolCallId: undefined }));
}

interface Read {
	value: unknown;
	/** The text of an expression is, or is part of, the value. */
	isText: boolean;
}

function parameterOf(context: IExecutePaginationFunctions, name: string): Read {
	return steady(context.getNode().parameters[name], context.getNodeParameter(name, ''));
}

function steady(raw: unknown, value: unknown): Read {
	if (typeof raw === 'string' && raw.startsWith('=') && CHANGES_BY_ITSELF.test(raw)) {
		return { value: raw, isText: true };
	}
	if (!isObject(raw) || !isObject(value)) return { value, isText: false };
	const members = Object.keys(value).map((name) => ({ name, ...steady(raw[name], value[name]) }));
	return {
		value: Object.fromEntries(members.map((member) => [member.name, member.value])),
		isText: members.some(({ isText }) => isText),
	};
}

function isObject(value: unknown): value is Record<string, unknown> {
	return Object.prototype.toString.call(value) === '[object Object]';
}
