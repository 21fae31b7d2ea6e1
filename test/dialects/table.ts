/** What docs/undocumented.md says of the dialects. */
import { DIALECT_NAMES, dialectOf, type DialectName } from '../simulator/dialects';
import { EXPECTED } from './expected';

/** The rows of docs/undocumented.md that have been tried, by the beginning of their first column. */
export const ROWS = [...new Set(DIALECT_NAMES.flatMap((name) => dialectOf(name).rows))];

export function dialectsFor(row: string): DialectName[] {
	return DIALECT_NAMES.filter((name) => dialectOf(name).rows.includes(row));
}

/** Rows about several answers in turn or one field, for which no dialect stands: where those are tried instead. */
export const TRIED_ELSEWHERE: Record<string, string> = {
	'Whether `scheduled_start_at` has an offset, and whether it is the `start_at` that was sent':
		'test/Transcriber/resources/meeting/meeting.test.ts',
	'How long the service keeps tasks': 'test/TranscriberAccountTrigger/oddLists.test.ts',
	'Whether the list of tasks says `status`': 'test/TranscriberAccountTrigger/oddLists.test.ts',
	'Whether an empty list of tasks is true': 'test/TranscriberAccountTrigger/oddLists.test.ts',
	'Which account a new API key belongs to': 'test/TranscriberAccountTrigger/otherAccount.test.ts',
	'Whether a task and a bot can have the same id': 'test/TranscriberTrigger/sameId.test.ts',
	'In which list of the dictionary a team member sees the terms that apply to the team':
		'test/Transcriber/resources/dictionary/syncAnswers.test.ts',
	'What the formats of an export hold': 'test/Transcriber/resources/task/task.test.ts',
	'A 409 for a file that has an `error_code`': 'test/shared/api/sendWithRetries.test.ts',
	'Whether a success can refuse a submit, a new summary, a rotation or a request for a result':
		'test/shared/api/undocumented/answers.test.ts',
	'Whether an answer to cancelling, clearing, summary regeneration or key rotation has a field `error`':
		'test/Transcriber/item/sendCancelOrClear.test.ts',
};

/** The table in Markdown. */
export function triedTable(): string {
	const lines = [
		...ROWS.map((row) => lineFor(row, dialectsFor(row))),
		lineFor('What stands between', onTheWay()),
	];
	return [
		'| Not shown | Works without a change | Comes out otherwise |',
		'|---|---|---|',
		...lines,
	].join('\n');
}

function onTheWay(): DialectName[] {
	return DIALECT_NAMES.filter((name) => dialectOf(name).rows.length === 0);
}

function lineFor(row: string, names: DialectName[]): string {
	const works = names.filter((name) => EXPECTED[name] === undefined);
	const others = names.filter((name) => EXPECTED[name] !== undefined);
	const cell = (list: string[]) => list.join('<br>') || 'Nothing of what was tried';
	return `| ${row} … | ${cell(works.map(likeOf))} | ${cell(others.map(withOutcome))} |`;
}

const likeOf = (name: DialectName) => dialectOf(name).like;

/** The first outcome in the table says enough. */
function withOutcome(name: DialectName): string {
	const [outcome = ''] = Object.values(EXPECTED[name] ?? {});
	return `${likeOf(name)} → “${outcome}”`;
}
