import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { RoutingRequest } from './service';

/** The setting with n8n's public address: 2.x reads the first and 1.x the second. */
export const PUBLIC_ADDRESS_SETTING = 'N8N_WEBHOOK_URL on n8n 2, WEBHOOK_URL on n8n 1';

/** A parameter that cannot be right: refused before anything is sent. */
export function refuse(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	message: string,
	description: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, { description });
}

export function checkBaseUrl(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	const baseUrl = request.options.baseURL ?? '';
	if (/^https?:\/\/[^/]/i.test(baseUrl) && URL.canParse(baseUrl)) return;
	throw refuse(
		this,
		`The 'Base URL' of the credential is not a web address: '${baseUrl.replace(/\/api\/v1$/, '')}'`,
		'Enter the address of the service in the credential, for example https://transcriber.example.com.',
	);
}

const IDS = {
	taskId: { displayName: 'Task', from: 'task_id' },
	botId: { displayName: 'Bot ID', from: 'bot_id' },
};

/** The id in a parameter, as text. Refuses what cannot be one, before it can change a path. */
export function idFrom(context: IExecuteSingleFunctions, parameter: keyof typeof IDS): string {
	const { displayName, from } = IDS[parameter];
	const value = context.getNodeParameter(parameter, '', { extractValue: true });
	const id = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
	if (id && !/^\.{1,2}$/.test(id)) return id;
	throw refuse(
		context,
		id
			? `The parameter '${displayName}' is not an id: '${id}'`
			: `The parameter '${displayName}' is empty`,
		`Use the ${from} that an earlier step returned, for example {{ $json.${from} }}.`,
	);
}

/** Puts the ids into a declared path such as `/tasks/{taskId}`, encoded. */
export function fillPath(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	request.options.url = (request.options.url ?? '').replace(
		/\{(taskId|botId)\}/g,
		(_, parameter: keyof typeof IDS) => encodeURIComponent(idFrom(this, parameter)),
	);
}

/** A JSON parameter: n8n hands over text or, from an expression, the object itself. */
export function jsonObjectFrom(
	context: IExecutePaginationFunctions,
	value: unknown,
	displayName: string,
): IDataObject {
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	if (parsed && typeof parsed === 'object' && !Array.isArray(parsed)) return parsed as IDataObject;
	throw refuse(
		context,
		`The parameter '${displayName}' is not a JSON object`,
		'Enter an object such as { "name": "value" }.',
	);
}

function parseJson(text: string): unknown {
	if (text.trim() === '') return {};
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** What a meeting bot needs: a link, consent, and a time in reach if one is given. */
export function checkMeeting(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	meetingUrl: string,
	consentAcknowledged: unknown,
	startAt?: string,
): void {
	if (!URL.canParse(meetingUrl)) {
		throw refuse(
			context,
			meetingUrl
				? `'Meeting URL' is not a web address: '${meetingUrl}'`
				: "The parameter 'Meeting URL' is empty",
			'Enter the full invitation link of the meeting.',
		);
	}
	if (consentAcknowledged !== true) {
		throw refuse(
			context,
			"'Consent Acknowledged' is off, so no bot was sent",
			'Turn it on once the participants know about the recording and agree to the processing of their personal data (152-FZ).',
		);
	}
	if (startAt) checkStart(context, startAt);
}

const THIRTY_DAYS = 30 * 24 * 3600 * 1000;

/** 'Start At' of a meeting bot: ISO 8601 with offset, in the future, at most 30 days ahead. */
export function checkStart(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	startAt: string,
): void {
	const reason = reasonAgainstStart(startAt);
	if (!reason) return;
	throw refuse(
		context,
		`'Start At' ${reason}: '${startAt}'`,
		"Use a time with its offset, for example 2030-01-31T10:00:00+03:00 or {{ $now.plus(1, 'hour').toISO() }}. Leave it out to send the bot now.",
	);
}

function reasonAgainstStart(startAt: string): string | undefined {
	if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(startAt) || Number.isNaN(Date.parse(startAt))) {
		return 'is not an ISO 8601 time';
	}
	if (!/(Z|[+-]\d\d:?\d\d)$/i.test(startAt)) return 'has no offset from UTC';
	const ahead = Date.parse(startAt) - Date.now();
	if (ahead <= 0) return 'is in the past';
	if (ahead > THIRTY_DAYS) return 'is more than 30 days ahead';
	return undefined;
}

/**
 * A webhook address has to be https and public (service document, "Meeting launch parameters").
 * Loopback passes only for a service that itself is on loopback.
 */
export function checkWebhookUrl(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	webhookUrl: string,
	displayName: string,
): void {
	const reason = reasonAgainstWebhookUrl(webhookUrl, request.options.baseURL ?? '');
	if (!reason) return;
	throw refuse(
		context,
		`'${displayName}' ${reason}: '${webhookUrl}'`,
		'The service calls this address from the internet, so it has to be public and start with https://. Without a public address choose Wait by Polling.',
	);
}

/** The same for an address that n8n itself has given. */
export function checkOwnAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	address: string,
	displayName: string,
): void {
	const reason = reasonAgainstWebhookUrl(address, request.options.baseURL ?? '');
	if (!reason) return;
	throw refuse(
		context,
		`${displayName} ${reason}: '${new URL(address).origin}'`,
		`Set the public https address of n8n (${PUBLIC_ADDRESS_SETTING}), or choose Wait by Polling.`,
	);
}

/** Why the service would not call this address; undefined if it would. */
export function reasonAgainstWebhookUrl(webhookUrl: string, baseUrl: string): string | undefined {
	if (!URL.canParse(webhookUrl)) return 'is not a web address';
	const { protocol, hostname: written } = new URL(webhookUrl);
	const hostname = written.replace(/\.$/, '');
	if (isLoopback(hostname) && isLoopback(new URL(baseUrl).hostname)) return undefined;
	if (protocol !== 'https:') return 'does not start with https://';
	return isLocal(hostname) ? 'is a local address that the service cannot reach' : undefined;
}

function isLoopback(hostname: string): boolean {
	return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}

/** Names and address ranges that only exist inside a network. */
function isLocal(hostname: string): boolean {
	return (
		isLoopback(hostname) ||
		/^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(
			hostname,
		) ||
		/^\[(::|f[cd]|fe[89ab]|::ffff:)/i.test(hostname) ||
		/\.(local|localhost|internal|lan|home)\.?$/i.test(hostname) ||
		(!hostname.includes('.') && !hostname.startsWith('['))
	);
}
