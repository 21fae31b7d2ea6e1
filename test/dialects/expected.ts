/** What must come out in which dialect. */
import type { DialectName } from '../simulator/dialects';

/** Its output is right, and the service has done what it should. */
export const WORKS = 'works';

/** By design it ends two minutes after the webhook, which is too long to be tried here. */
export const NOT_TRIED = 'not tried';

type Outcomes = Record<string, string>;

const pick = (outcome: string, ...names: string[]): Outcomes =>
	Object.fromEntries(names.map((name) => [name, outcome]));

/** In every dialect: refusals are what is tried. */
const ALWAYS: Outcomes = {
	'waiting for a cancelled task': 'Task … was cancelled',
	'waiting for a bot without a task':
		'Meeting bot … has not ended within … minutes (status: recording)',
	'waiting for balance': 'Task … waits because the balance is too low',
	'an unknown task': 'The service has no task with this ID, and why',
	'an unknown bot': 'The service has no meeting bot with this ID, and why',
	...pick(
		'Task … has not finished yet (status: pending), and why',
		'result of an unfinished task',
		'export of an unfinished task',
		'preview with an unfinished task',
	),
	...pick(
		'The service refused the request, and why',
		'a link with a wrong parameter',
		'a file with a wrong parameter',
	),
};

const WAITS = ['task.wait', 'waiting for a cancelled task', 'waiting for balance'];
const BOT_WAITS = ['meeting.wait', 'waiting for a bot without a task'];
const AFTER_A_CRASH = 'transcribeFile, a Retry after a crash';
const OWN_KEY = 'a link with an own key';
const KEYLESS_LINKS = [
	'transcription.transcribeUrl',
	'transcribeUrl and wait',
	'transcribeUrl, woken by webhook',
	'transcribeUrl, told to a trigger',
];
const LINKS = [...KEYLESS_LINKS, OWN_KEY];
const LISTS = ['task.getAll', 'account trigger', 'list of tasks in the editor'];
const WOKEN = ['transcribeUrl, woken by webhook', 'sendBot, woken by webhook'];
const TRIGGERS = ['transcribeUrl, told to a trigger', 'sendBot, told to a trigger'];

const WITHOUT_ID = 'The service answered that this item is accepted, but without an id';
const NO_LIST = 'The answer of the service holds no list of tasks';
const NO_SUCH_PLACE = 'Something between n8n and the service got no usable answer from it';
const INTERNAL = 'The service has an internal fault';
const REDIRECT =
	'The service answered with a redirect, which is not followed to keep the API key safe';
const STILL_UNFINISHED = pick(
	'Task … has not finished yet (status: pending)',
	'result of an unfinished task',
	'export of an unfinished task',
	'preview with an unfinished task',
);
const OR_SOMETHING_ELSE = ', or something else has answered in its place';
/** A 404 in another shape than the document shows, which may be that of a proxy. */
const NOTHING_THERE: Outcomes = {
	'an unknown task': `The service has no task with this ID${OR_SOMETHING_ELSE}`,
	'an unknown bot': `The service has no meeting bot with this ID${OR_SOMETHING_ELSE}`,
};
const NOTHING_THERE_AND_WHY: Outcomes = Object.fromEntries(
	Object.entries(NOTHING_THERE).map(([name, outcome]) => [name, `${outcome}, and why`]),
);
/** Refusals whose words nobody can read: the status alone decides. */
const WITHOUT_WORDS: Outcomes = {
	...STILL_UNFINISHED,
	...NOTHING_THERE,
	...pick(
		'The service refused the request',
		'a link with a wrong parameter',
		'a file with a wrong parameter',
	),
};
const UNKNOWN = pick(
	'The service refused the request, and why',
	'an unknown task',
	'an unknown bot',
);
const tooLarge = (message: string) =>
	pick(
		message,
		'transcription.transcribeFile',
		'transcribeFile and wait',
		AFTER_A_CRASH,
		'a file with a wrong parameter',
	);
/** An end that the node cannot tell from "not yet". */
const neverEnds = (status: string): Outcomes => ({
	...pick(
		`Task … has not ended within … minutes (status: ${status})`,
		'task.wait',
		'meeting.wait',
		'transcribeFile and wait',
		'transcribeUrl and wait',
		AFTER_A_CRASH,
	),
	'sendBot and wait': `Task … has not ended within … minutes (status: ${status}) (bot … was accepted by the service)`,
	...pick(NOT_TRIED, ...WOKEN, ...TRIGGERS),
	'account trigger': 'started 0 of 5 times',
});
const endlessBot = (status: string) => ({
	'waiting for a bot without a task': `Meeting bot … has not ended within … minutes (status: ${status})`,
});
const UNAVAILABLE = 'The service is temporarily unavailable';
/** Only what may be repeated goes on. */
const foreign503: Outcomes = {
	...pick(
		UNAVAILABLE,
		...LINKS,
		'a link with a wrong parameter',
		'meeting.sendBot',
		'sendBot and wait',
		'sendBot, woken by webhook',
		'sendBot, told to a trigger',
		'task.regenerateSummary',
	),
	'apiKey.rotate': `${UNAVAILABLE}, so it is not known whether the API key was rotated`,
};
/** Every look fails, and the last one says why. */
const allFail = (message: string): Outcomes => ({
	'*': message,
	...pick(
		`Task …: n8n could not read its status within … minutes (status: not known; the last look: ${message})`,
		...WAITS,
	),
	...pick(
		`Meeting bot …: n8n could not read its status within … minutes (status: not known; the last look: ${message})`,
		...BOT_WAITS,
	),
	'apiKey.rotate': `${message}, so it is not known whether the API key was rotated`,
});

/** Everything comes out as always in a dialect but what is listed here. `*` is all the rest. */
export const EXPECTED: Partial<Record<DialectName, Outcomes>> = {
	listById: pick(NO_LIST, ...LISTS),
	linesList: pick('Something other than the service answered at this address', ...LISTS),
	hugeNumericId: pick(WITHOUT_ID, ...LINKS),
	strangeIdName: {
		...pick(WITHOUT_ID, ...LINKS),
		'account trigger': 'started 0 of 5 times',
		'list of tasks in the editor': 'The tasks in the list of the service have no readable ID',
	},
	idInLocationOnly: pick(WITHOUT_ID, ...LINKS),
	keyNotShown: { 'apiKey.rotate': 'The service answered the rotation without a new API key' },
	revoked: {
		'waiting for a cancelled task': 'Task … has not ended within … minutes (status: REVOKED)',
		'task.cancel, its answer lost':
			'The service cannot do this in the present state of the task or bot',
	},
	succeeded: neverEnds('succeeded'),
	recallBots: endlessBot('in_call_recording'),
	numberedBots: endlessBot('3'),
	endedBots: endlessBot('completed, but without a task yet'),
	unknown400: UNKNOWN,
	unknown403: pick(
		'The API key is not allowed to do this, and why',
		'an unknown task',
		'an unknown bot',
	),
	unknown410: UNKNOWN,
	unknown422: UNKNOWN,
	unfinished202: STILL_UNFINISHED,
	unfinished204: STILL_UNFINISHED,
	unfinishedNulls: STILL_UNFINISHED,
	exportRaw: {
		'task.export': 'Something other than the service answered at this address',
		...pick(
			'The answer of the service holds no exported document of task …',
			'transcribeFile and wait',
			'transcribeUrl and wait',
		),
		'sendBot and wait':
			'The answer of the service holds no exported document of task … (bot … was accepted by the service)',
	},
	dictionaryFull: {
		...pick(
			'The dictionary would be larger than 20 000 characters',
			'dictionary.replace',
			'dictionary.add',
			'dictionary.sync',
			'dictionary.sync, adding',
		),
		'dictionary.clear':
			'The request for the dictionary was refused for its size, although it sends no terms',
	},
	emptyErrors: WITHOUT_WORDS,
	textErrors: NOTHING_THERE_AND_WHY,
	laravelErrors: NOTHING_THERE_AND_WHY,
	railsErrors: NOTHING_THERE_AND_WHY,
	springErrors: NOTHING_THERE_AND_WHY,
	problemErrors: NOTHING_THERE_AND_WHY,
	zodErrors: NOTHING_THERE_AND_WHY,
	gatewayErrors: NOTHING_THERE_AND_WHY,
	htmlErrors: {
		...STILL_UNFINISHED,
		...pick(
			'The answer does not come from the service, but is a web page (HTTP 404)',
			'an unknown task',
			'an unknown bot',
		),
		...pick(
			'The answer does not come from the service, but is a web page (HTTP 422)',
			'a link with a wrong parameter',
			'a file with a wrong parameter',
		),
	},
	tooLargeService: tooLarge(
		'The file (less than 1 MB) is larger than the service takes, although it documents a limit of 8 GB',
	),
	tooLargeProxy: tooLarge(
		'The file (less than 1 MB) was refused for its size, although the service takes up to 8 GB',
	),
	noRegeneration: {
		'task.regenerateSummary': 'The service has no such path, or no task with this ID',
	},
	otherMethod: { 'task.regenerateSummary': 'The service refused the request' },
	// Who gives a key to a service that refuses it, has to take it out again.
	linkKeyRefused: { [OWN_KEY]: 'The service refused the request' },
	linkKeyConflict: pick(
		'The service refused the recording because of a conflict, so nothing was submitted',
		...KEYLESS_LINKS,
		'a link with a wrong parameter',
	),
	otherRequest400: pick('The service refused the request', AFTER_A_CRASH),
	otherRequest409: pick('The service refuses the recording: Different parameters', AFTER_A_CRASH),
	otherRequest422: pick('The service refused the request', AFTER_A_CRASH),
	restarting: foreign503,
	restartingJson: foreign503,
	maintenance: allFail(UNAVAILABLE),
	loginPage: {
		'*': 'Something other than the service answered at this address',
		'apiKey.rotate': 'outputs the page',
	},
	loginRedirect: {
		'*': REDIRECT,
		'apiKey.rotate': `${REDIRECT}, so it is not known whether the API key was rotated`,
	},
	slashRedirect: { '*': REDIRECT },
	challenge: {
		'*': 'The answer does not come from the service, but is a web page (HTTP 403)',
	},
	badGateway: allFail(NO_SUCH_PLACE),
	crashed: allFail(INTERNAL),
	formWebhook: pick('the delivery is answered 401', ...WOKEN, ...TRIGGERS),
};

export function expectedIn(dialect: DialectName, situation: string): string {
	const own: Outcomes = EXPECTED[dialect] ?? {};
	return own[situation] ?? own['*'] ?? ALWAYS[situation] ?? WORKS;
}
