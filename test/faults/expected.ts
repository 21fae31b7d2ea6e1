/** What must come out of which fault: by what is asked for, then by single rows that differ. */
import { CRASHED, WORKS } from './acts';
import type { Kind, Row } from './row';
import type { FaultName } from './weather';

/** Nothing is left to try: the fault cannot happen there, or it is the same as another one. */
export const NOT_TRIED = '–';

const KEY = 'The service does not accept the API key';
const UNREACHABLE = 'The service cannot be reached';
const BROKEN = 'The connection to the service broke before it answered';
const LATE = 'The service did not answer in time';
const SOMETHING_ELSE = 'Something other than the service answered at this address';
const REDIRECT = 'The service answered with a redirect, which is not followed';
const UNKNOWN_BOT = 'It is not known whether the service has sent the bot';
const BOT_WITHOUT_ID = 'The service accepted the bot, but without an id';
const WITHOUT_ID = 'The service answered that this item is accepted, but without an id';

const EMPTY = 'the output is [{}]';
const PASSED_ON = 'The fields of the answer are passed on, and there are none';
const AT_ONCE = 'The address is not that of the service: no later look can succeed';

/** Of a row of the matrix: the outcome for each kind of request. */
type Outcomes = Record<Exclude<Kind, 'asleep'>, string>;

const everywhere = (outcome: string): Outcomes => ({
	repeatable: outcome,
	file: outcome,
	once: outcome,
	activation: outcome,
	'first look': outcome,
	look: outcome,
	result: outcome,
	trigger: outcome,
});

export const EXPECTED: Record<FaultName, Outcomes> = {
	'503 once': everywhere(WORKS),
	'503 for a minute': everywhere(WORKS),
	'429': everywhere(WORKS),
	'429 with Retry-After': everywhere(WORKS),
	'429 by a clock that is ahead': everywhere(WORKS),
	'429 by a clock that is behind': everywhere(WORKS),
	'401 once': {
		...everywhere(WORKS),
		repeatable: KEY,
		file: KEY,
		once: KEY,
		activation: `${WORKS} / ${KEY}`,
		'first look': KEY,
	},
	'401 for good': {
		...everywhere(NOT_TRIED),
		look: KEY,
		result: KEY,
	},
	'refused for 5 s': { ...everywhere(WORKS), once: NOT_TRIED, activation: NOT_TRIED },
	'refused for 40 s': {
		...everywhere(WORKS),
		repeatable: UNREACHABLE,
		file: UNREACHABLE,
		once: UNREACHABLE,
		activation: `${WORKS} / ${UNREACHABLE}`,
	},
	'reset before the answer': {
		...everywhere(WORKS),
		once: BROKEN,
		activation: `${UNKNOWN_BOT} / ${BROKEN}`,
	},
	'reset after it was accepted': {
		...everywhere(WORKS),
		once: BROKEN,
		activation: `${UNKNOWN_BOT} / ${BROKEN}`,
	},
	'reset in the answer': {
		...everywhere(WORKS),
		once: BROKEN,
		activation: `${UNKNOWN_BOT} / ${BROKEN}`,
	},
	'30 s of silence': everywhere(WORKS),
	'70 s of silence': { ...everywhere(WORKS), once: LATE, activation: `${UNKNOWN_BOT} / ${LATE}` },
	'truncated JSON': {
		...everywhere(WORKS),
		repeatable: SOMETHING_ELSE,
		file: SOMETHING_ELSE,
		once: SOMETHING_ELSE,
		activation: `${UNKNOWN_BOT} / ${SOMETHING_ELSE}`,
	},
	'HTML page': {
		...everywhere(WORKS),
		repeatable: SOMETHING_ELSE,
		file: SOMETHING_ELSE,
		once: SOMETHING_ELSE,
		activation: `${UNKNOWN_BOT} / ${SOMETHING_ELSE}`,
	},
	'empty answer': {
		...everywhere(WORKS),
		file: WITHOUT_ID,
		once: WITHOUT_ID,
		activation: `${UNKNOWN_BOT} / ${BOT_WITHOUT_ID}`,
	},
	redirect: {
		...everywhere(WORKS),
		repeatable: REDIRECT,
		file: REDIRECT,
		once: REDIRECT,
		activation: `${UNKNOWN_BOT} / ${REDIRECT}`,
	},
	'kill -9': { ...everywhere(CRASHED), trigger: WORKS },
};

/** Rows that differ, with the reason. */
export const EXCEPTIONS: Exception[] = [
	except(
		'empty answer',
		/^(task\.get|meeting\.get|dictionary\.get|account\.get)$/,
		EMPTY,
		PASSED_ON,
	),
	except('empty answer', /^dictionary\.preview$|^task\.regenerateSummary$/, EMPTY, PASSED_ON),
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
	...(['truncated JSON', 'HTML page'] as const).map((fault) =>
		except(
			fault,
			/^apiKey\.rotate$/,
			'the output has not the new key',
			'Whatever a rotation is answered reaches the output: the key in it may be the only copy',
		),
	),
	...(['truncated JSON', 'HTML page'] as const).map((fault) =>
		except(fault, /: first look$/, SOMETHING_ELSE, AT_ONCE),
	),
	except('redirect', /: first look$/, REDIRECT, AT_ONCE),
];

interface Exception {
	fault: FaultName;
	row: RegExp;
	outcome: string;
	why: string;
}

function except(fault: FaultName, row: RegExp, outcome: string, why: string): Exception {
	return { fault, row, outcome, why };
}

export function expectedOf({ name, kind }: Row, fault: FaultName): string {
	if (kind === 'asleep') return fault === 'kill -9' ? WORKS : NOT_TRIED;
	const exception = EXCEPTIONS.find((one) => one.fault === fault && one.row.test(name));
	return exception?.outcome ?? EXPECTED[fault][kind];
}
