/** The operations that submit nothing. */
import { byId } from '../e2e/harness';
import { ask } from '../simulator/testing-client';
import { WAIT, finishedTask, pendingBot, pendingTask, type ActionRow } from './acts';
import { SUMMARY_PATH, type Cell } from './cell';
import { BOT, EXPORT, RESULT, SUBTITLES, TASK, operationNamed, row, later, type Row } from './row';
import type { Target } from './weather';
import { answers, containsTask, isTask, isTranscript, shown, textOf } from './wrong';

const TERMS = { terms: 'n8n' };
/** What the dictionary holds before each of its operations. */
const FORMER = 'Kubernetes';

const given = {
	finished: (name: string, more: object, wrong: ActionRow['wrong']): ActionRow => ({
		given: finishedTask,
		parameters: (id) => ({ ...operationNamed(name), taskId: byId(id), ...more }),
		wrong,
	}),
	pending: (name: string, more: object, wrong: ActionRow['wrong']): ActionRow => ({
		given: pendingTask,
		parameters: (id) => ({ ...operationNamed(name), taskId: byId(id), ...more }),
		wrong,
	}),
	bot: (name: string, more: object, wrong: ActionRow['wrong']): ActionRow => ({
		given: pendingBot,
		parameters: (id) => ({ ...operationNamed(name), botId: id, ...more }),
		wrong,
	}),
	nothing: (name: string, more: object, wrong: ActionRow['wrong']): ActionRow => ({
		parameters: () => ({ ...operationNamed(name), ...more }),
		wrong,
	}),
};

const waitOptions = WAIT;
const taskWait = given.pending('task.wait', { waitOptions }, isTranscript);
const waitsForTask = { ...taskWait, endsAfterLook: true };
const waited = given.finished('task.wait', { waitOptions }, isTranscript);
const exporting = { waitOptions: { ...WAIT, ...SUBTITLES } };
const waitedExport = given.finished('task.wait', exporting, textOf('export', '-->'));
const botWait = given.bot('meeting.wait', { waitOptions }, isTranscript);
const waitsForBot = { ...botWait, endsAfterLook: true };

export const operationRows: Row[] = [
	row('task.get', 'repeatable', TASK, given.pending('task.get', {}, isTask)),
	row(
		'task.getAll',
		'repeatable',
		{ method: 'GET', path: '/tasks' },
		given.pending('task.getAll', {}, containsTask),
	),
	row(
		'task.getResult',
		'repeatable',
		RESULT,
		given.finished('task.getResult', {}, textOf('text', 'simulat')),
	),
	row(
		'task.export',
		'repeatable',
		EXPORT,
		given.finished('task.export', { format: 'srt', output: 'json' }, textOf('content', '-->')),
	),
	row(
		'task.cancel',
		'repeatable',
		{ method: 'POST', path: '/tasks/[^/]+/cancel' },
		given.pending('task.cancel', {}, (_, { simulator }, id) =>
			simulator.task(id).status === 'cancelled' ? '' : 'the task is not cancelled',
		),
	),
	row(
		'task.regenerateSummary',
		'once',
		{ method: 'POST', path: '/tasks/[^/]+/summary' },
		given.finished('task.regenerateSummary', { path: SUMMARY_PATH }, textOf('summary', 'regen')),
	),
	row('task.wait: first look', 'first look', TASK, waitsForTask),
	row('task.wait: status', 'look', later({ ...TASK, skip: 1 }), waitsForTask),
	row('task.wait: result', 'result', later(RESULT), waited),
	row('task.wait: export', 'result', later(EXPORT), waitedExport),
	row(
		'meeting.get',
		'repeatable',
		BOT,
		given.bot('meeting.get', {}, (items, _, id) =>
			items[0]?.json['bot_id'] === id ? '' : shown(items),
		),
	),
	row(
		'meeting.cancel',
		'repeatable',
		{ method: 'DELETE', path: '/meeting/[^/]+' },
		given.bot('meeting.cancel', {}, (_, { simulator }, id) =>
			['joining', 'recording'].includes(simulator.bot(id).phase) ? 'the bot is still there' : '',
		),
	),
	row('meeting.wait: first look', 'first look', BOT, waitsForBot),
	row('meeting.wait: status', 'look', later(TASK), waitsForBot),
	row('meeting.wait: result', 'result', later(RESULT), waitsForBot),
	row(
		'dictionary.get',
		'repeatable',
		dictionaryBy('GET'),
		dictionary('get', {}, textOf('terms', FORMER)),
	),
	row(
		'dictionary.replace',
		'repeatable',
		dictionaryBy('PUT'),
		dictionary('replace', TERMS, replaced),
	),
	row('dictionary.add', 'repeatable', dictionaryBy('POST'), dictionary('add', TERMS, added)),
	row('dictionary.clear', 'repeatable', dictionaryBy('DELETE'), dictionary('clear', {}, holds())),
	row(
		'dictionary.preview',
		'repeatable',
		{ method: 'POST', path: '/dictionary/preview' },
		given.finished('dictionary.preview', TERMS, answers('changes')),
	),
	row(
		'dictionary.sync: read',
		'repeatable',
		dictionaryBy('GET'),
		dictionary('sync', { mode: 'addMissing', ...TERMS }, added),
	),
	row(
		'dictionary.sync: replace',
		'repeatable',
		{ ...dictionaryBy('PUT'), after: dictionaryBy('GET') },
		dictionary('sync', { mode: 'replace', ...TERMS }, replaced),
	),
	row(
		'dictionary.sync: add',
		'repeatable',
		{ ...dictionaryBy('POST'), after: dictionaryBy('GET') },
		dictionary('sync', { mode: 'addMissing', ...TERMS }, added),
	),
	row(
		'account.get',
		'repeatable',
		{ method: 'GET', path: '/account' },
		given.nothing('account.get', {}, answers('balance')),
	),
	row(
		'apiKey.rotate',
		'once',
		{ method: 'POST', path: '/api-key/generate' },
		given.nothing('apiKey.rotate', { confirm: true }, (items, { simulator }) =>
			items[0]?.json['api_key'] === simulator.apiKey ? '' : shown(items),
		),
	),
];

function dictionaryBy(method: string): Target {
	return { method, path: '/dictionary' };
}

function dictionary(operation: string, more: object, wrong: ActionRow['wrong']): ActionRow {
	return {
		...given.nothing(`dictionary.${operation}`, more, wrong),
		async given({ simulator }) {
			await ask(simulator, 'PUT /dictionary', { json: { terms: [FORMER] } });
			return '';
		},
	};
}

function holds(...terms: string[]) {
	return (_: unknown, { simulator }: Cell): string => {
		const held = simulator.terms().join();
		return held === terms.join() ? '' : `the dictionary holds “${held}”`;
	};
}

function replaced(items: unknown, cell: Cell): string {
	return holds('n8n')(items, cell);
}

function added(items: unknown, cell: Cell): string {
	return holds(FORMER, 'n8n')(items, cell);
}
