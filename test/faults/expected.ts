/** What must come out of which fault: by what is asked for, then by single rows that differ. */
import { CRASHED, WORKS } from './acts';
import { EXCEPTIONS, GAPS, RETRIES, type Gap } from './exceptions';
import {
	KEY,
	UNREACHABLE,
	BROKEN,
	LATE,
	GATEWAY,
	SOMETHING_ELSE,
	REDIRECT,
	UNKNOWN_BOT,
	BOT_WITHOUT_ID,
	NOT_CANCELLED,
	WITHOUT_ID,
} from './messages';
import { hasRetry, type Kind, type Row } from './row';
import type { FaultName } from './weather';

/** It cannot happen there, or is the same as another fault, or nobody has tried it: page.ts says which. */
export const NOT_TRIED = 'not tried';

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
	'switch off': outcome,
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
		'switch off': NOT_CANCELLED,
	},
	'refused for 5 s': { ...everywhere(WORKS), once: NOT_TRIED, activation: NOT_TRIED },
	'refused for 40 s': {
		...everywhere(WORKS),
		repeatable: UNREACHABLE,
		file: UNREACHABLE,
		once: UNREACHABLE,
		activation: UNREACHABLE,
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
	'502 after it was accepted': {
		...everywhere(WORKS),
		once: GATEWAY,
		activation: `${UNKNOWN_BOT} / ${GATEWAY}`,
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
	'kill -9': { ...everywhere(CRASHED), trigger: WORKS, 'switch off': WORKS },
};

export function expectedOf({ name, kind }: Row, fault: FaultName): string {
	if (kind === 'asleep') return fault === 'kill -9' ? WORKS : NOT_TRIED;
	const exception = EXCEPTIONS.find((one) => one.fault === fault && one.row.test(name));
	return exception?.outcome ?? EXPECTED[fault][kind];
}

/** Of an execution that fails, its error; of one that succeeds, its output. Of what is none, the log or an answer of n8n. */
export type WordsIn = 'error' | 'output' | 'log';

/** Where the words of the table have to stand. Triggers are published, switched off and started by no execution. */
export function placeOf({ name, kind }: Row, fault?: FaultName): WordsIn {
	if (kind === 'trigger' || kind === 'activation' || kind === 'switch off') return 'log';
	const outputs = EXCEPTIONS.filter(({ isOutput }) => isOutput);
	return outputs.some((one) => one.fault === fault && one.row.test(name)) ? 'output' : 'error';
}

/** Whether the execution has to fail or crash there, in some version of n8n, so that n8n's Retry of it is judged. */
export function mustBeRetried(row: Row, fault: FaultName): boolean {
	const isError = ![WORKS, NOT_TRIED].includes(expectedOf(row, fault));
	return hasRetry(row) && isError && placeOf(row, fault) === 'error';
}

export function gapOf(
	{ name }: Pick<Row, 'name'>,
	fault: FaultName,
	version: string,
): Gap | undefined {
	const line = version.startsWith('1.') ? 1 : 2;
	return GAPS.find(
		(gap) => gap.fault === fault && gap.row.test(name) && (gap.line ?? line) === line,
	);
}

/** What must come out of n8n's Retry of the failed or crashed execution, in good weather. */
export function retryOf({ name }: Row, fault: FaultName): string {
	return RETRIES.find((one) => one.fault === fault && one.row.test(name))?.outcome ?? WORKS;
}
