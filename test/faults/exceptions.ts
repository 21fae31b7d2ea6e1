/** Single rows of the matrix that come out differently from others of their kind. */
import { WORKS } from './acts';
import {
	SOMETHING_ELSE,
	REDIRECT,
	NO_BOT_KNOWN,
	EMPTY,
	PASSED_ON,
	AT_ONCE,
	ENDED_UNHEARD,
	NOT_SENT_AGAIN,
	WITHOUT_ID,
	KEY,
	NOT_ROTATED_AGAIN,
	NOT_ASKED_AGAIN,
} from './messages';
import type { FaultName } from './weather';

const NOTHING_SAVED =
	'n8n has saved nothing of the node, so a Retry of the crashed execution submits again';

/**
 * Where something is paid once more or goes unreported, which the node cannot prevent. After a crash, a Retry of the execution does it: in
 * any other cell, that would be a fault, and so would be a cell of these in which nothing is paid once more.
 */
export const GAPS: Gap[] = [
	{
		fault: 'kill -9',
		row: /^transcriberTrigger, meeting: bot$/,
		line: 2,
		why: 'n8n goes on publishing when it runs again, and sends a second bot. Nothing that a node stores while its workflow is being published survives the kill',
	},
	{
		fault: 'kill -9',
		row: /^transcriberTrigger, meeting: bot$/,
		line: 1,
		isUnheard: true,
		why: 'The workflow is published when n8n runs again, without its bot: the log says to look for it at the service, and nobody names it',
	},
	{
		fault: 'kill -9',
		row: /^(transcription\.transcribeUrl|meeting\.sendBot), \w+: submit$/,
		why: NOTHING_SAVED,
	},
	{
		fault: 'kill -9',
		row: /^(transcription\.transcribeUrl|meeting\.sendBot), poll: (bot|status|result|export)$/,
		why: NOTHING_SAVED,
	},
	{
		fault: 'kill -9',
		row: /^task\.regenerateSummary$/,
		why: 'n8n has saved nothing of the node, so a Retry of the crashed execution asks for the summary again',
	},
	{
		fault: 'kill -9',
		row: /^transcription\.transcribeFile, (\w+: submit|poll: (status|result|export)|file of the trigger: (submit|status))$/,
		line: 1,
		why: 'What n8n saves of the start has nothing that identifies the execution, so its Retry submits again',
	},
];

export interface Gap {
	fault: FaultName;
	row: RegExp;
	/** The major version of n8n. Unset: both. */
	line?: 1 | 2;
	/** Nothing is paid once more, but nothing names what the service has accepted. */
	isUnheard?: true;
	why: string;
}

const ENDED_MEANWHILE =
	'Here the task ends during the silence. The trigger refuses its delivery until the hand-over, and nobody knows how long the service repeats it';

/** Rows that differ, with the reason. */
export const EXCEPTIONS: Exception[] = [
	putsOut(
		'empty answer',
		/^(task\.get|meeting\.get|dictionary\.get|account\.get)$/,
		EMPTY,
		PASSED_ON,
	),
	putsOut('empty answer', /^dictionary\.preview$|^task\.regenerateSummary$/, EMPTY, PASSED_ON),
	except(
		'empty answer',
		/^task\.getAll$/,
		'The answer of the service holds no list of tasks',
		'Nothing is no list',
	),
	except(
		'empty answer',
		/^task\.getResult$/,
		'The answer of the service holds no result',
		'An answer without a result is none',
	),
	except(
		'empty answer',
		/^task\.export$/,
		'The answer of the service holds no exported document',
		'An export without content is none',
	),
	except(
		'empty answer',
		/^dictionary\.sync: read$/,
		'The answer of the service holds no list of terms',
		'Nothing is written over terms that are not known',
	),
	except(
		'empty answer',
		/^apiKey\.rotate$/,
		'The service answered the rotation without a new API key',
		'The key may be lost, which the user has to know',
	),
	...(
		[
			['truncated JSON', 'the output is [{"value":"{\\"api_key\\"'],
			['HTML page', 'Log in to go on'],
		] as const
	).map(([fault, part]) =>
		putsOut(
			fault,
			/^apiKey\.rotate$/,
			part,
			'Whatever a rotation is answered reaches the output: the key in it may be the only copy',
		),
	),
	...(['truncated JSON', 'HTML page'] as const).map((fault) =>
		except(fault, /: first look$/, SOMETHING_ELSE, AT_ONCE),
	),
	except(
		'kill -9',
		/^transcriberTrigger, meeting: bot$/,
		`${WORKS} / ${NO_BOT_KNOWN}`,
		'n8n 2 goes on publishing when it runs again. n8n 1 starts the workflow without a bot, and its log says so',
	),
	except('redirect', /: first look$/, REDIRECT, AT_ONCE),
	except('30 s of silence', /, notifyTrigger: submit$/, ENDED_UNHEARD, ENDED_MEANWHILE),
	except(
		'70 s of silence',
		/^transcription\.transcribeFile, notifyTrigger: submit$/,
		ENDED_UNHEARD,
		ENDED_MEANWHILE,
	),
];

const NOTIFIED_FILE = /^transcription\.transcribeFile, notifyTrigger: submit$/;
const ENDED_BY_THEN = 'The task of the first submit has ended by then';

/** After these, nobody can know whether the service has done what it was asked once. */
const UNCLEAR: FaultName[] = [
	'reset before the answer',
	'reset after it was accepted',
	'reset in the answer',
	'502 after it was accepted',
	'70 s of silence',
	'truncated JSON',
	'HTML page',
	'redirect',
];

/** Of a rotation, whatever is answered with 200 is an output. */
const UNCLEAR_ROTATION: FaultName[] = [
	...UNCLEAR.filter((fault) => fault !== 'truncated JSON' && fault !== 'HTML page'),
	'empty answer',
];

/** Where n8n's Retry of the execution, in good weather, does not work, with the reason. */
export const RETRIES: Exception[] = [
	...UNCLEAR.map((fault) =>
		except(
			fault,
			/^(transcription\.transcribeUrl|meeting\.sendBot), \w+: submit$/,
			NOT_SENT_AGAIN,
			'The service knows no key for a link or a bot, so a second submit could be paid twice',
		),
	),
	...UNCLEAR.map((fault) =>
		except(
			fault,
			/^task\.regenerateSummary$/,
			NOT_ASKED_AGAIN,
			'A second request could write a second summary over the first',
		),
	),
	...UNCLEAR_ROTATION.map((fault) =>
		except(
			fault,
			/^apiKey\.rotate$/,
			NOT_ROTATED_AGAIN,
			'A second rotation could end the only key that somebody has seen',
		),
	),
	except(
		'kill -9',
		/^apiKey\.rotate$/,
		KEY,
		'n8n has saved nothing of the node, so a Retry rotates again, with the key that the first rotation has ended',
	),
	except(
		'empty answer',
		/^(transcription|meeting)\..*: submit$/,
		WITHOUT_ID,
		'The service has said that it is accepted, so it is not submitted again',
	),
	except('30 s of silence', /, notifyTrigger: submit$/, ENDED_UNHEARD, ENDED_BY_THEN),
	...(['70 s of silence', 'truncated JSON'] as const).map((fault) =>
		except(fault, NOTIFIED_FILE, ENDED_UNHEARD, ENDED_BY_THEN),
	),
	except(
		'kill -9',
		NOTIFIED_FILE,
		`${ENDED_UNHEARD} / ${WORKS}`,
		`${ENDED_BY_THEN}. n8n 1 submits again`,
	),
];

export interface Exception {
	fault: FaultName;
	row: RegExp;
	outcome: string;
	why: string;
	/** The execution succeeds with it in its output. */
	isOutput?: true;
}

function except(fault: FaultName, row: RegExp, outcome: string, why: string): Exception {
	return { fault, row, outcome, why };
}

function putsOut(...given: Parameters<typeof except>): Exception {
	return { ...except(...given), isOutput: true };
}
