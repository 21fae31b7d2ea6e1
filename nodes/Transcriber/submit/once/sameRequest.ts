import { createHash } from 'crypto';
import type { IBinaryData, IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { fileOf, recordingOf } from '../../item/inputFile';
import { asSent, isPlainObject, steady, type SteadyValue } from './steadyValue';

/** Parameters that make up the request. The others control what happens with the answer. */
const ASKED = ['resource', 'operation', 'url', 'meetingUrl', 'startAt', 'language', 'options'];

/**
 * A hash of what the item asks for. A Retry gives the same hash, unless the user has changed the
 * item. Leaves out the webhook address and the Idempotency-Key.
 */
export function askedFor(context: IExecutePaginationFunctions): string {
	const read = readRequest(context);
	const file = fileIn(context);
	return hashOf(read, file && fileOf(file), itemRead(context, read));
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
function itemRead(context: IExecutePaginationFunctions, read: SteadyValue[]): unknown {
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

function readRequest(context: IExecutePaginationFunctions): SteadyValue[] {
	const { parameters } = context.getNode();
	return ASKED.map((name) =>
		steady(
			withoutIdempotencyKey(parameters[name]),
			withoutIdempotencyKey(context.getNodeParameter(name, '')),
		),
	);
}

function hashOf(read: SteadyValue[], ...more: unknown[]): string {
	return createHash('sha256')
		.update(JSON.stringify([...read.map(({ value }) => value), ...more], asSent))
		.digest('base64url');
}

function withoutIdempotencyKey(value: unknown): unknown {
	if (!isPlainObject(value)) return value;
	return Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'idempotencyKey'));
}

/** The file of an item to transcribe. Undefined if it is lost, so it counts as another file. */
export function fileIn(context: IExecutePaginationFunctions): IBinaryData | undefined {
	if (context.getNodeParameter('operation') !== 'transcribeFile') return undefined;
	try {
		return recordingOf(context).binary;
	} catch {
		return undefined;
	}
}
