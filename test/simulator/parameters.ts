import { isLoopback, isPublic } from './addresses';
import { serviceTime, type Settings } from './options';
import { Refusal } from './refusal';

/** The upload parameters except `file`. */
export interface SubmitParameters {
	language: string;
	numSpeakers?: number;
	prompt?: string;
	webhookUrl?: string;
	domain?: string;
	summaryTemplate: string;
}

export interface MeetingParameters {
	meetingUrl: string;
	/** Undefined: now. */
	startAt?: Date;
	webhookUrl?: string;
}

export type Fields = Record<string, unknown>;

const TEMPLATES = ['general', 'meeting', 'lecture', 'interview', 'podcast'];
const DOMAINS = ['legal', 'medical', 'tech'];
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z]{2,4})?$/;
/** The document names no meeting service, so these five are made up. */
const MEETING_HOST = /^(meet|zoom|teams|telemost|talk)\./;
const TIMESTAMP_WITH_OFFSET =
	/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;
const DAYS_AHEAD = 30;
const DAY_MS = 24 * 3600 * 1000;

/** Table "Upload parameters". Unknown fields are ignored. */
export function submitParameters(fields: Fields, settings: Settings): SubmitParameters {
	const language = text(fields, 'language', settings) ?? 'ru';
	const domain = text(fields, 'domain', settings);
	const summaryTemplate = text(fields, 'summary_template', settings) ?? 'general';
	if (!LANGUAGE.test(language)) throw invalid(settings, 'language must be an ISO language code');
	if (domain !== undefined && !DOMAINS.includes(domain)) {
		throw invalid(settings, `domain must be one of ${DOMAINS.join(', ')}`);
	}
	if (settings.shapes.unknownTemplates === 'refused' && !TEMPLATES.includes(summaryTemplate)) {
		throw invalid(settings, `summary_template must be one of ${TEMPLATES.join(', ')}`);
	}
	if (summaryTemplate === '') throw invalid(settings, 'summary_template must not be empty');
	return {
		language,
		numSpeakers: numSpeakers(fields['num_speakers'], settings),
		prompt: text(fields, 'prompt', settings),
		webhookUrl: webhookUrl(fields, settings),
		domain,
		summaryTemplate,
	};
}

/** POST /transcribe-url: the link. It is checked but never fetched. */
export function recordingUrl(fields: Fields, settings: Settings): string {
	const field = settings.shapes.urlField;
	const url = parsedUrl(fields[field]);
	if (url === undefined || !/^https?:$/.test(url.protocol)) {
		throw invalid(settings, `${field} must be a link to a recording`);
	}
	return url.href;
}

/** Table "Meeting launch parameters". In a form everything is text. */
export function meetingParameters(
	fields: Fields,
	isForm: boolean,
	settings: Settings,
): MeetingParameters {
	const consent = fields['consent_acknowledged'];
	if (consent !== true && !(isForm && /^(true|1)$/i.test(String(consent)))) {
		throw new Refusal(400, 'consent_acknowledged must be true', 'consent_required');
	}
	const meetingUrl = parsedUrl(fields['meeting_url']);
	if (meetingUrl?.protocol !== 'https:' || !MEETING_HOST.test(meetingUrl.hostname)) {
		throw new Refusal(
			400,
			'meeting_url is not a link to a supported meeting',
			'invalid_meeting_url',
		);
	}
	return {
		meetingUrl: meetingUrl.href,
		webhookUrl: webhookUrl(fields, settings),
		startAt: startAt(text(fields, 'start_at', settings), settings),
	};
}

/** Parameter of a query: an integer of at least `minimum`. */
export function integer(
	value: string | undefined,
	name: string,
	minimum: number,
	settings: Settings,
): number | undefined {
	if (value === undefined) return undefined;
	if (!/^\d+$/.test(value) || Number(value) < minimum) {
		throw invalid(settings, `${name} must be an integer of at least ${minimum}`);
	}
	return Number(value);
}

/** Error for an invalid parameter that has no row in the error table. */
export function invalid(settings: Settings, message: string): Refusal {
	return new Refusal(settings.shapes.invalidParameterStatus, message);
}

function text(fields: Fields, name: string, settings: Settings): string | undefined {
	const value = fields[name];
	if (value === undefined || value === null) return undefined;
	if (typeof value !== 'string') throw invalid(settings, `${name} must be a string`);
	return value;
}

function numSpeakers(value: unknown, settings: Settings): number | undefined {
	if (value === undefined || value === null) return undefined;
	if (!/^[1-6]$/.test(String(value))) {
		throw invalid(settings, 'num_speakers must be an integer from 1 to 6');
	}
	return Number(value);
}

function startAt(value: string | undefined, settings: Settings): Date | undefined {
	if (value === undefined) return undefined;
	const start = new Date(value);
	if (!TIMESTAMP_WITH_OFFSET.test(value) || Number.isNaN(start.getTime())) {
		throw invalid(settings, 'start_at must be an ISO 8601 timestamp with offset');
	}
	// Clients know only the real time, so this is not compared with the fast clock.
	const aheadMs = start.getTime() - serviceTime(settings);
	if (aheadMs < 0) throw invalid(settings, 'start_at is in the past');
	if (aheadMs > DAYS_AHEAD * DAY_MS) {
		throw invalid(settings, `start_at is more than ${DAYS_AHEAD} days ahead`);
	}
	return start;
}

/** Error row `invalid_webhook_url`: must be https and public; an option allows loopback. */
function webhookUrl(fields: Fields, settings: Settings): string | undefined {
	const value = fields['webhook_url'];
	if (value === undefined || value === null) return undefined;
	const url = parsedUrl(value);
	if (url?.protocol === 'https:' && isPublic(url.hostname)) return url.href;
	const local = settings.allowLocalWebhooks && isLoopback(settings.host);
	if (local && url && /^https?:$/.test(url.protocol) && isLoopback(url.hostname)) return url.href;
	throw new Refusal(400, 'webhook_url must be https and public', 'invalid_webhook_url');
}

function parsedUrl(value: unknown): URL | undefined {
	return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}
