import { dialectOf, type DialectName } from './dialects';
import type { ScriptedRecording } from './transcripts';

/**
 * Everything that the service document leaves open ("not shown"). All such choices are here, and
 * the table in README.md gives the reasons. A client must cope with all values.
 */
export interface Shapes {
	/** Content of `detail` for errors without an `error_code`. */
	errorDetail: 'object' | 'string' | 'list';
	/** Whether a refusal by a rate limit carries `Retry-After`, in real (not simulated) time. */
	retryAfter: 'none' | 'seconds' | 'date';
	/** HTTP status for invalid or out-of-range parameters that have no row in the error table. */
	invalidParameterStatus: number;
	/** HTTP status for an unknown task or bot. */
	unknownIdStatus: number;
	/** HTTP status for the result, export, preview or summary of a task that is not completed. */
	notCompletedStatus: number;
	/** HTTP status for cancelling a task that has ended. */
	notCancellableStatus: number;
	/** When a refused upload is answered: at once, or after its whole body was read. */
	refuseUploads: 'early' | 'afterBody';
	/** `status` in the answer to a submit that waits for balance: both are documented. */
	submitStatusAwaitingBalance: 'awaiting_balance' | 'pending';
	/** Whether a `summary_template` that is none of the document's examples is taken. */
	unknownTemplates: 'accepted' | 'refused';
	/** Answer to an upload whose `Idempotency-Key` came before with other fields. Unset: the first answer again. */
	otherRequestWithKeyStatus?: number;
	/** Name of the link's field in the body of POST /transcribe-url. */
	urlField: string;
	/** GET /tasks: a bare array, an object with the array under this name, or `{ data: { tasks } }`. */
	taskList:
		| 'array'
		| 'tasks'
		| 'items'
		| 'data'
		| 'results'
		| 'content'
		| 'value'
		| 'records'
		| '_embedded'
		| 'nested';
	/** GET /tasks: the order of the list. `byId` is none that a client could guess. */
	taskListOrder: 'newestFirst' | 'oldestFirst' | 'byId';
	/** GET /tasks: parameters without effect. */
	taskListIgnores: ReadonlyArray<'offset' | 'status'>;
	/** GET /tasks: what each task carries beside the documented fields. */
	taskListDates: 'none' | 'created_at';
	/** GET /tasks: whether each task says its `status`. A `hidden` one has its id and its date only. */
	taskListStatus: 'shown' | 'hidden';
	/** Form of a `task_id`. */
	taskIds: 'uuid' | 'number' | 'snowflake';
	/** GET /tasks: `limit` when it is omitted. */
	taskListDefault: number;
	/** GET /tasks: the largest page. */
	taskListMaximum: number;
	/** GET /tasks: whether a larger `limit` is lowered silently or refused. */
	taskListAboveMaximum: 'lowered' | 'refused';
	/** GET /tasks: the largest `offset`; a larger one is refused. */
	taskListLargestOffset: number;
	/** Status of a task after POST /tasks/{id}/cancel. */
	cancelledStatus: string;
	/** Answer to POST /tasks/{id}/cancel. */
	cancelAnswer: 'task' | 'message' | 'empty';
	/** Items of a result's `speakers`. */
	resultSpeakers: 'objects' | 'names';
	/** GET /tasks/{id}/export: format when it is omitted. */
	defaultExportFormat: ExportFormat;
	/** POST /api-key/generate: the field that carries the new key. */
	apiKeyField: string;
	/** Summary regeneration, e.g. POST /api/v1/tasks/{taskId}/summary. Unset: no such endpoint. */
	regenerateSummary?: { method: string; path: string };
	/** Names of the bot statuses. Only `joining` is documented. */
	botStatuses: BotStatusNames;
	/** `task_id` of a bot whose recording is not ready: "empty". */
	emptyTaskId: 'null' | 'emptyString' | 'absent';
	/** Answer to DELETE /meeting/{bot_id}. */
	cancelBotAnswer: 'bot' | 'message' | 'empty';
	/** What DELETE /meeting/{bot_id} does with the recording made so far. */
	stoppedRecording: 'transcribed' | 'discarded';
	/** Answer to PUT, POST and DELETE /dictionary. */
	dictionaryAnswer: 'dictionary' | 'message' | 'empty';
	/** Fields of the webhook of POST /transcribe beside `task_id`. */
	transcriptionWebhookFields: ReadonlyArray<'event' | 'status' | 'result_url'>;
}

export type ExportFormat = 'txt' | 'srt' | 'vtt' | 'json';

export interface BotStatusNames {
	scheduled: string;
	joining: string;
	recording: string;
	processing: string;
	completed: string;
	failed: string;
	cancelled: string;
}

export const DEFAULT_SHAPES: Shapes = {
	errorDetail: 'object',
	retryAfter: 'none',
	invalidParameterStatus: 422,
	unknownIdStatus: 404,
	notCompletedStatus: 400,
	notCancellableStatus: 409,
	refuseUploads: 'early',
	submitStatusAwaitingBalance: 'awaiting_balance',
	unknownTemplates: 'accepted',
	urlField: 'url',
	taskList: 'tasks',
	taskListOrder: 'newestFirst',
	taskListIgnores: [],
	taskListDates: 'none',
	taskListLargestOffset: Infinity,
	taskListStatus: 'shown',
	taskIds: 'uuid',
	taskListDefault: 50,
	taskListMaximum: 100,
	taskListAboveMaximum: 'lowered',
	cancelledStatus: 'cancelled',
	cancelAnswer: 'task',
	resultSpeakers: 'objects',
	defaultExportFormat: 'txt',
	apiKeyField: 'api_key',
	regenerateSummary: undefined,
	botStatuses: {
		scheduled: 'scheduled',
		joining: 'joining',
		recording: 'recording',
		processing: 'processing',
		completed: 'completed',
		failed: 'failed',
		cancelled: 'cancelled',
	},
	emptyTaskId: 'null',
	cancelBotAnswer: 'bot',
	stoppedRecording: 'transcribed',
	dictionaryAnswer: 'dictionary',
	transcriptionWebhookFields: [],
};

export interface SimulatorOptions {
	/** 0 takes any free port. */
	port?: number;
	host?: string;
	apiKey?: string;
	/** False: the API is not enabled in the cabinet, every request gets 401. */
	apiEnabled?: boolean;
	/** API balance in rubles. */
	balance?: number;
	/** 60 makes processing, rate windows, webhook retries and meetings run sixty times as fast. */
	clockRate?: number;
	/** How far the clock of the service is ahead of the real time; negative: behind. */
	clockAheadSeconds?: number;
	/** False switches the limits per minute off, not the limit of tasks in progress. */
	rateLimits?: boolean;
	/** How many tasks may be in progress at the same time. */
	tasksInProgress?: number;
	/** Fixed processing time in simulated seconds. Unset: the document's "usual" times by length. */
	processingSeconds?: number;
	/** Simulated seconds that a task is pending before it is processed. */
	queueSeconds?: number;
	/** Simulated seconds from a top-up to the start of the tasks that waited for it. */
	topUpSeconds?: number;
	/** Simulated seconds that a bot needs to join. */
	joiningSeconds?: number;
	/** Simulated seconds that a meeting lasts. */
	meetingSeconds?: number;
	/** Length assumed for a recording whose length cannot be told. */
	defaultRecordingSeconds?: number;
	/** Largest file in bytes: 8 GB. */
	maxFileBytes?: number;
	/** Longest recording in seconds: 4 hours. */
	maxRecordingSeconds?: number;
	/** False: uploads are counted but not hashed (`sha256` stays empty). */
	hashUploads?: boolean;
	/** How many terms of the dictionary are applied to one recording. */
	limitTerms?: number;
	/** The dictionary of the team owner, used while the account has none of its own. */
	teamOwnerTerms?: string[];
	/** How often a failed delivery is repeated. */
	webhookRetries?: number;
	/** Simulated seconds between two attempts. */
	webhookRetrySeconds?: number;
	/** Real seconds after which an unanswered delivery has failed. */
	webhookTimeoutSeconds?: number;
	/** Accept http and loopback webhook addresses while the simulator itself is on loopback. */
	allowLocalWebhooks?: boolean;
	/** Really deliver to other hosts than this one. Off, so that no test leaves the machine. */
	deliverOutside?: boolean;
	/** Transcripts and failures of known recordings; `recordings/*.json` are always known too. */
	script?: ScriptedRecording[];
	/** How many requests and deliveries the logs keep. */
	requestLogLimit?: number;
	/** How the service answers where the document shows nothing: one of `dialects.ts`. */
	dialect?: DialectName;
	shapes?: Partial<Shapes>;
}

/** The options with their defaults. The parts of the simulator read them at every use. */
export type Settings = Required<
	Omit<SimulatorOptions, 'shapes' | 'processingSeconds' | 'teamOwnerTerms' | 'dialect'>
> &
	Pick<SimulatorOptions, 'processingSeconds' | 'teamOwnerTerms' | 'dialect'> & { shapes: Shapes };

export function settingsFrom(options: SimulatorOptions): Settings {
	const { shapes, ...given } = withoutUndefined(options);
	return {
		port: 0,
		host: '127.0.0.1',
		apiKey: 'test-api-key',
		apiEnabled: true,
		balance: 1000,
		clockRate: 1,
		clockAheadSeconds: 0,
		rateLimits: true,
		tasksInProgress: 20,
		queueSeconds: 1,
		topUpSeconds: 5,
		joiningSeconds: 2,
		meetingSeconds: 60,
		defaultRecordingSeconds: 60,
		maxFileBytes: 8 * 1024 ** 3,
		maxRecordingSeconds: 4 * 3600,
		hashUploads: true,
		limitTerms: 100,
		webhookRetries: 5,
		webhookRetrySeconds: 30,
		webhookTimeoutSeconds: 30,
		allowLocalWebhooks: true,
		deliverOutside: false,
		script: [],
		requestLogLimit: 10_000,
		...given,
		shapes: { ...DEFAULT_SHAPES, ...dialectOf(given.dialect).shapes, ...shapes },
	};
}

/** The time of the service, in ms since 1970, at the speed of the real time. */
export function serviceTime({ clockAheadSeconds }: Settings): number {
	return Date.now() + clockAheadSeconds * 1000;
}

function withoutUndefined(options: SimulatorOptions): SimulatorOptions {
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
