/** What docs/undocumented.md says of the dialects. */
import { DIALECT_NAMES, dialectOf, type DialectName } from '../simulator/dialects';
import { EXPECTED } from './expected';

/** The rows of docs/undocumented.md that have been tried, by the beginning of their first column. */
export const ROWS = [...new Set(DIALECT_NAMES.flatMap((name) => dialectOf(name).rows))];

export function dialectsFor(row: string): DialectName[] {
	return DIALECT_NAMES.filter((name) => dialectOf(name).rows.includes(row));
}

/** Rows about several answers in turn or one field, for which no dialect stands: where those are tried instead. */
export const TRIED_ELSEWHERE: Record<string, { file: string; title: string }> = {
	'Whether `scheduled_start_at` has an offset, and whether it is the `start_at` that was sent': {
		file: 'test/Transcriber/resources/meeting/meeting.test.ts',
		title: 'startAt is sent as start_at with its offset; the output has scheduled_start_at',
	},
	'How long the service keeps tasks': {
		file: 'test/TranscriberAccountTrigger/oddLists.test.ts',
		title: 'the known tasks are deleted, and new ones come: nothing old starts the workflow',
	},
	'Whether the list of tasks says `status`': {
		file: 'test/TranscriberAccountTrigger/oddLists.test.ts',
		title: 'starts nothing with what had ended, and once with each task that ends afterwards',
	},
	'Whether an empty list of tasks is true': {
		file: 'test/TranscriberAccountTrigger/oddLists.test.ts',
		title: 'at activation, once: it is looked at again, and nothing old starts the workflow',
	},
	'Which account a new API key belongs to': {
		file: 'test/TranscriberAccountTrigger/otherAccount.test.ts',
		title: 'a rotated key, which n8n learns of some polls later, and after a restart',
	},
	'Whether a task and a bot can have the same id': {
		file: 'test/TranscriberTrigger/sameId.test.ts',
		title: 'are both waited for, and each starts the workflow once',
	},
	'In which list of the dictionary a team member sees the terms that apply to the team': {
		file: 'test/Transcriber/resources/dictionary/syncAnswers.test.ts',
		title: 'writes nothing where they are not shown: %j',
	},
	'What the formats of an export hold': {
		file: 'test/Transcriber/resources/task/task.test.ts',
		title: 'takes a JSON export that comes parsed, and not as text',
	},
	'A 409 for a file that has an `error_code`': {
		file: 'test/shared/api/sendWithRetries.test.ts',
		title:
			'that a parallel request with its key holds up (409) is tried again until that has ended',
	},
	'Whether a success can refuse a submit, a new summary, a rotation or a request for a result': {
		file: 'test/shared/api/undocumented/answers.test.ts',
		title: '%j says that nothing was done',
	},
	'Whether an answer to cancelling, clearing, summary regeneration or key rotation has a field `error`':
		{
			file: 'test/Transcriber/item/sendCancelOrClear.test.ts',
			title: 'with an answer that has a field `error`, for a %s',
		},
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
