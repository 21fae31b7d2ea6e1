/** The matrix takes an hour; whether it would report what it is there for is known at once. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { N8nHost } from '../n8n/host';
import type { Execution, Item } from '../n8n/rest';
import type { LoggedRequest, Simulator } from '../simulator';
import { simulatorForTests, startReceiver, until } from '../simulator/testing-client';
import { CRASHED, WORKS, action, startedOnce, type Act, type Outcome } from './acts';
import { Cell, SUMMARY_PATH, type Listening } from './cell';
import { expectedOf, placeOf, type WordsIn } from './expected';
import {
	KEY_OF_CELL,
	acceptedSince,
	booksOf,
	isAskedAgain,
	placesOf,
	secretsOf,
	secretsOutside,
	secretsShown,
	tooEarly,
	wrongInFiles,
	wrongInBooks,
} from './invariants';
import type { Gap } from './exceptions';
import { compareBooks, isAsExpected, judged, type Begun } from './judge';
import { KEY, NOT_ASKED_AGAIN, NOT_ROTATED_AGAIN } from './messages';
import { leftOut, summary, type Result } from './report';
import type { Row } from './row';
import { ROWS } from './rows';
import { UNANSWERED, WEATHER, type FaultName, type Weather } from './weather';
import { isDelivered, isTranscript } from './wrong';

const { running, submit, ask } = simulatorForTests();
const row = (name: string) => {
	const found = ROWS.find((one) => one.name === name);
	if (!found) throw new Error(`No row ${name}`);
	return found;
};
const link = row('transcription.transcribeUrl, poll: submit');

/** The request of this row that meets the fault: it gets no answer. */
async function meetFault({ target }: Row): Promise<void> {
	const simulator = running();
	simulator.fault({ match: {}, action: { kind: 'cut', when: 'beforeBody' } });
	const path = target.path.replace('[^/]+', '7');
	await fetch(`${simulator.url}/api/v1${path}`, { method: target.method }).catch(() => undefined);
}

/** n8n is killed after what was asked until now, and before what is asked after `pause`. */
const killedNow = () => (running().requests.at(-1)?.at ?? 0) + 1;
const pause = async () => await sleep(5);

describe('what comes out', () => {
	const failed = { id: '1', status: 'error', runData: {} } as Execution;

	it('is no success if an error contains the word of one', () => {
		const error = { result: 'A Test URL works only for two minutes', failed };
		expect(isAsExpected(error, WORKS, 'error')).toBe(false);
		expect(isAsExpected({ result: WORKS, failed }, WORKS, 'error')).toBe(false);
		expect(isAsExpected({ result: `${CRASHED}, and more`, failed }, CRASHED, 'error')).toBe(false);
		expect(isAsExpected({ result: WORKS }, WORKS, 'error')).toBe(true);
		expect(isAsExpected({ result: CRASHED, failed }, CRASHED, 'error')).toBe(true);
	});

	it('is an error only if the execution has failed, and an output only if it has not', () => {
		const error = { result: '[item 0] The service cannot be reached', failed };
		const output = { result: 'the output is [{"error":"The service cannot be reached"}]' };
		const isExpected = (outcome: Outcome, words: WordsIn) =>
			isAsExpected(outcome, 'cannot be reached', words);
		expect([isExpected(error, 'error'), isExpected(output, 'error')]).toEqual([true, false]);
		expect([isExpected(error, 'output'), isExpected(output, 'output')]).toEqual([false, true]);
		expect([isExpected(error, 'log'), isExpected(output, 'log')]).toEqual([true, true]);
		expect(isExpected({ result: 'It broke', failed }, 'error')).toBe(false);
	});

	it('is of executions an error or an output, as the table says, and of triggers neither', () => {
		expect(placeOf(link, '429')).toBe('error');
		expect(placeOf(row('account.get'), 'empty answer')).toBe('output');
		expect(placeOf(row('account.get'), '401 once')).toBe('error');
		expect(placeOf(row('transcriberTrigger, meeting: bot'), '401 once')).toBe('log');
	});
});

describe('the books', () => {
	const wrong = async (accepted: number, hasWorked: boolean, hasGap = false) => {
		const before = booksOf(running());
		for (let place = 0; place < accepted; place++) await submit();
		return wrongInBooks(link, before, running(), { hasWorked, hasGap });
	};

	it('report what is paid twice, and what has worked without being submitted', async () => {
		expect(await wrong(2, true)).toEqual(['PAID TWICE: 2 accepted']);
		expect(await wrong(0, true)).toEqual(['ONLY 0 ACCEPTED']);
		expect(await wrong(0, false)).toEqual([]);
		expect(await wrong(1, true)).toEqual([]);
	});

	it.each(
		ROWS.filter(({ kind, submits }) => submits > 0 && kind !== 'asleep').map((one) => [one.name]),
	)('report what is paid twice: %s', async (name) => {
		const before = booksOf(running());
		const json = { meeting_url: 'https://meet.example.com/a', consent_acknowledged: true };
		const isBot = name.includes('meeting');
		for (let times = 0; times < 2; times++)
			await (isBot ? ask('POST /meeting', { json }) : submit());
		const how = { hasWorked: true, hasGap: false };
		expect(wrongInBooks(row(name), before, running(), how)).toContain('PAID TWICE: 2 accepted');
	});

	it('report a bot that a trigger has sent again after a lost answer', async () => {
		const meeting = row('transcriberTrigger, meeting: bot');
		const before = booksOf(running());
		const match = { path: '/meeting$' };
		const json = { meeting_url: 'https://meet.example.com/a', consent_acknowledged: true };
		running().fault({ match, action: { kind: 'cut', when: 'beforeBody' } });
		await ask('POST /meeting', { json }).catch(() => undefined);
		await ask('POST /meeting', { json });
		const wrongWith = (hasGap: boolean) =>
			wrongInBooks(meeting, before, running(), { hasWorked: false, hasGap });
		expect([wrongWith(false), wrongWith(true)]).toEqual([['SENT 2 TIMES'], []]);
	});

	it('allow a known gap one more, and not two', async () => {
		expect(await wrong(2, true, true)).toEqual([]);
		expect(await wrong(3, true, true)).toEqual(['PAID TWICE: 3 accepted']);
	});
});

describe('a crashed execution', () => {
	const crashed = { id: '1', status: 'crashed', runData: {} } as Execution;
	const outcome: Outcome = { result: CRASHED, failed: crashed };

	/** What the Retry puts out: the ids of what it has submitted, or with them what was accepted before. */
	type Shown = 'all' | 'new' | 'none';

	/** A cell in which n8n's Retry submits so many more. */
	const cellWith = (more: number, shown: Shown, version = '2.41.1') => {
		const known = booksOf(running()).submissions;
		const executions = [crashed];
		const post = async () => {
			await pause();
			for (let place = 0; place < more; place++) await submit();
			return { id: '2' };
		};
		const ended = async () => {
			const ids = acceptedSince({ ...booksOf(running()), submissions: known }, running());
			const json = { ids: shown === 'all' ? [...known, ...ids] : shown === 'new' ? ids : [] };
			const runData = { Subject: [{ data: { main: [[{ json }]] } }] };
			const retried = { id: '2', status: 'success', runData } as unknown as Execution;
			executions.push(retried);
			return await Promise.resolve(retried);
		};
		const n8n = { rest: { post }, version, log: () => '' };
		const { apiKey } = running();
		const receiver = 'https://receiver.example.com';
		const others = { apiKey, receiver, executions, ended, n8n, killedAt: killedNow() };
		return { simulator: running(), ...others } as unknown as Cell;
	};

	const booksAfter = async (more: number, shown: Shown, gap?: Partial<Gap>) => {
		const before = booksOf(running());
		await submit();
		const begun = { row: link, before, cell: cellWith(more, shown), isKilled: true };
		return await compareBooks(begun, outcome, gap);
	};

	it('gets a Retry, and what that pays again is reported', async () => {
		const { wrong } = await booksAfter(1, 'all');
		expect(wrong).toEqual(['PAID TWICE: 2 accepted']);
	});

	it('reports no id by itself: a Retry that does not put it out has lost it', async () => {
		const { wrong, places } = await booksAfter(0, 'none');
		expect(wrong).toEqual(['UNREPORTED: an accepted id is in no output and no error']);
		expect(places).toEqual([]);
	});

	it('is right if its Retry puts out what was accepted, and pays nothing', async () => {
		expect(await booksAfter(0, 'all')).toMatchObject({ places: ['retry'], wrong: [] });
	});

	it('may in a known gap be paid once more, if the Retry puts out the second', async () => {
		const both = { places: ['retry', 'crash'], wrong: [] };
		expect(await booksAfter(1, 'new', {})).toMatchObject(both);
		expect((await booksAfter(1, 'none', {})).wrong).toEqual([
			'UNREPORTED: an accepted id is in no output and no error',
		]);
		expect((await booksAfter(2, 'new', {})).wrong).toEqual(['PAID TWICE: 3 accepted']);
	});

	it('may in a gap that nobody names go unreported, but not be paid once more', async () => {
		expect((await booksAfter(0, 'none', { isUnheard: true })).wrong).toEqual([]);
		expect((await booksAfter(1, 'all', { isUnheard: true })).wrong).toEqual([
			'PAID TWICE: 2 accepted',
		]);
	});

	describe('of this row', () => {
		const kill = WEATHER.find(({ name }) => name === 'kill -9') as Weather;
		const wrongOf = async (name: string, more: number, version: string, retry = WORKS) => {
			const before = booksOf(running());
			await submit();
			await meetFault(row(name));
			const cell = cellWith(more, more > 0 ? 'new' : 'all', version);
			const ended = { result: retry, failed: retry === WORKS ? undefined : crashed };
			const outcomeOf = async () => await Promise.resolve(ended);
			const act = { outcomeOf } as Partial<Act> as Act;
			const { wrong } = await judged(
				{ row: row(name), weather: kill, cell, act, before, armedAt: 0 },
				outcome,
			);
			return wrong;
		};
		const RECEIVED = 'transcription.transcribeFile, file of the trigger: submit';
		const WOKEN = 'transcription.transcribeUrl, awaitWebhook: result';
		const TWICE = [
			'PAID TWICE: 2 accepted',
			'UNREPORTED: an accepted id is in no output and no error',
		];
		const NO_GAP = ['NO GAP: nothing was paid once more'];

		it.each([
			[
				'a link whose node waits',
				'transcription.transcribeUrl, poll: status',
				'2.41.1',
				NO_GAP,
				[],
			],
			['a file of the trigger in n8n 2', RECEIVED, '2.41.1', [], TWICE],
			['a file of the trigger in n8n 1', RECEIVED, '1.123.81', NO_GAP, []],
			['one that n8n had suspended', WOKEN, '2.41.1', [], TWICE],
		])('%s: the gaps say what its Retry may pay', async (_, name, version, once, twice) => {
			expect(await wrongOf(name, 0, version)).toEqual(once);
			expect(await wrongOf(name, 1, version)).toEqual(twice);
		});

		it('is wrong if n8n was not killed while the cell was open', async () => {
			const before = booksOf(running());
			await submit();
			await meetFault(row(RECEIVED));
			const cell = { ...cellWith(0, 'all'), killedAt: undefined } as Partial<Cell> as Cell;
			const act = { outcomeOf: async () => await Promise.resolve({ result: WORKS }) };
			const begun = { row: row(RECEIVED), weather: kill, cell, act: act as Partial<Act> as Act };
			expect((await judged({ ...begun, before, armedAt: 0 }, outcome)).wrong).toEqual([
				'n8n was not killed',
			]);
		});

		it('is wrong if nobody judges its Retry', async () => {
			const before = booksOf(running());
			await submit();
			await meetFault(row(RECEIVED));
			const cell = cellWith(0, 'all');
			const begun = { row: row(RECEIVED), weather: kill, cell, act: {} as Act, before, armedAt: 0 };
			expect((await judged(begun, outcome)).wrong).toContain("n8n's Retry was not judged");
		});

		it('is wrong if the act has not said that it has failed, so that it got no Retry', async () => {
			const before = booksOf(running());
			const id = await submit();
			await meetFault(row(RECEIVED));
			const cell = cellWith(0, 'all');
			const begun = { row: row(RECEIVED), weather: kill, cell, act: {} as Act, before, armedAt: 0 };
			const unsaid = { result: `${CRASHED}, ${id}` };
			expect((await judged(begun, unsaid)).wrong).toContain("n8n's Retry was not judged");
		});

		it('is wrong if its Retry comes to something else than the table says', async () => {
			expect(await wrongOf(RECEIVED, 0, '2.41.1', 'The file is gone')).toEqual([
				`expected of a Retry “${WORKS}”, got “The file is gone”`,
			]);
		});
	});
});

describe('a request that must not be repeated', () => {
	const rotation = row('apiKey.rotate');
	const summaryRow = row('task.regenerateSummary');
	const kill = WEATHER.find(({ name }) => name === 'kill -9') as Weather;
	const lost = WEATHER.find(({ name }) => name === 'reset after it was accepted') as Weather;

	/** The service does it, and n8n does not get the answer. Its Retry sends the request so many more times. */
	const wrongAfter = async (
		{ row: one, weather }: Pick<Begun, 'row' | 'weather'>,
		more: number,
		retry: string,
	) => {
		const simulator = running();
		const path = one === rotation ? '/api-key/generate' : SUMMARY_PATH.replace('{taskId}', 'task');
		const ask = async () => await fetch(`${simulator.url}/api/v1${path}`, { method: 'POST' });
		const before = booksOf(simulator);
		simulator.fault({ match: {}, action: { kind: 'cut', when: 'beforeBody' } });
		await ask().catch(() => undefined);
		const failed = { id: '1', status: 'error', runData: {} } as Execution;
		const post = async () => {
			await pause();
			const answer = { kind: 'respond', status: 200 } as const;
			simulator.fault({ match: {}, times: more, action: answer });
			for (let place = 0; place < more; place++) await ask();
			return { id: '2' };
		};
		const ended = async () => await Promise.resolve({ ...failed, id: '2' });
		const n8n = { rest: { post }, version: '2.41.1', log: () => '' };
		const receiver = 'https://receiver.example.com';
		const known = { simulator, apiKey: 'faults-key', receiver, killedAt: killedNow() };
		const cell = { ...known, executions: [failed], ended, n8n };
		const retried = { result: retry, failed: retry === WORKS ? undefined : failed };
		const outcomeOf = async () => await Promise.resolve(retried);
		const begun = {
			row: one,
			weather,
			before,
			armedAt: 0,
			act: { outcomeOf } as Partial<Act> as Act,
		};
		const result = expectedOf(one, weather.name);
		return (await judged({ ...begun, cell: cell as unknown as Cell }, { result, failed })).wrong;
	};

	it.each([
		['a rotation', rotation, NOT_ROTATED_AGAIN],
		['a new summary', summaryRow, NOT_ASKED_AGAIN],
	])('%s gets a Retry, which must not send it again', async (_, one, refusal) => {
		const cell = { row: one, weather: lost };
		expect(await wrongAfter(cell, 0, refusal)).toEqual([]);
		expect(await wrongAfter(cell, 1, refusal)).toEqual(['SENT 2 TIMES']);
		expect(await wrongAfter(cell, 1, WORKS)).toEqual([
			'SENT 2 TIMES',
			`expected of a Retry “${refusal}”, got “${WORKS}”`,
		]);
	});

	it.each([
		['a rotation', rotation],
		['a new summary', summaryRow],
	])('%s counts behind any answer but a refusal', (_, one) => {
		const path = `/api/v1${one === rotation ? '/api-key/generate' : '/tasks/7/summary'}`;
		const sent = { at: 0, method: 'POST', path, query: {}, headers: {}, rawHeaders: [] };
		const wrongWith = (...statuses: Array<number | undefined>) => {
			const requests = statuses.map((status) => ({ ...sent, bodyBytes: 0, status }));
			const simulator = { requests, tasks: () => [], bots: () => [] };
			const before = { submissions: [], requests: 0 };
			const how = { hasWorked: false, hasGap: false };
			return wrongInBooks(one, before, simulator as Partial<Simulator> as Simulator, how);
		};
		for (const status of [undefined, 200, 302, 500, 502, 504])
			expect([status, wrongWith(status, status, status)]).toEqual([status, ['SENT 3 TIMES']]);
		for (const status of [401, 404, 429, 503])
			expect([status, wrongWith(status, status, 200)]).toEqual([status, []]);
	});

	it('is counted behind the 502 of a gateway, whatever the service has done', async () => {
		const simulator = running();
		const before = booksOf(simulator);
		const action = { kind: 'garble', status: 502, body: 'Bad Gateway' } as const;
		simulator.fault({ match: {}, times: 3, action });
		const keys = new Set([simulator.apiKey]);
		for (let times = 0; times < 3; times++) {
			await ask('POST /api-key/generate').catch(() => undefined);
			keys.add(simulator.apiKey);
		}
		expect(keys.size).toBe(4);
		const how = { hasWorked: false, hasGap: false };
		expect(wrongInBooks(rotation, before, simulator, how)).toEqual(['SENT 3 TIMES']);
	});

	it('may be sent once more where a gap says so, and has to be', async () => {
		const cell = { row: summaryRow, weather: kill };
		expect(await wrongAfter(cell, 1, WORKS)).toEqual([]);
		expect(await wrongAfter(cell, 2, WORKS)).toEqual(['SENT 3 TIMES']);
		expect(await wrongAfter(cell, 0, WORKS)).toEqual(['NO GAP: nothing was paid once more']);
	});
});

describe('an execution that has not succeeded', () => {
	it.each([
		['crashed', CRASHED],
		['error', 'It broke'],
	])('is one of which n8n offers its Retry: %s', async (status, result) => {
		const cell = { simulator: running() } as Cell;
		const act = await action({ parameters: () => ({}), wrong: () => '' }, cell);
		const ended = { id: '1', status, error: { message: 'It broke' } } as Execution;
		expect(await act.outcomeOf?.(ended)).toEqual({ result, failed: ended });
	});
});

describe('a run', () => {
	const kill = WEATHER.find(({ name }) => name === 'kill -9') as Weather;
	const cells = [{ row: link, weather: kill }];
	const result = (more: Partial<Result>): Result => ({
		...{ row: link.name, kind: link.kind, fault: kill.name, result: CRASHED },
		...{ places: [], wrong: [] },
		...more,
	});

	it('says how many Retries were judged', () => {
		const lines = summary([result({}), result({ retry: WORKS })], '2.41.1', 1);
		expect(lines).toContain("n8n's Retries that were judged: 1\n");
	});

	it('is wrong if a cell was not tried, or has failed without a Retry', () => {
		expect(leftOut(cells, [])).toEqual([`${link.name} × kill -9: NOT TRIED`]);
		expect(leftOut(cells, [result({})])).toEqual([`${link.name} × kill -9: NO RETRY`]);
		expect(leftOut(cells, [result({ retry: WORKS })])).toEqual([]);
	});
});

describe('an error that only says that the service may have accepted something', () => {
	const error = {
		message: 'The connection broke',
		description: 'The service may have accepted it',
	};
	const booksWith = async (name: string, isKilled = false) => {
		const before = booksOf(running());
		await submit();
		const { apiKey } = running();
		const executions = [{ id: '1', status: 'error', runData: {}, error } as unknown as Execution];
		const others = { apiKey, receiver: 'https://receiver.example.com', executions };
		const cell = { simulator: running(), ...others, n8n: { log: () => '' } } as unknown as Cell;
		return await compareBooks({ row: row(name), before, cell, isKilled }, { result: 'An error' });
	};
	const WARNED = { places: ['warning'], wrong: [] };
	const UNREPORTED = {
		places: [],
		wrong: ['UNREPORTED: an accepted id is in no output and no error'],
	};

	it.each([
		['transcription.transcribeFile, poll: submit'],
		['meeting.sendBot, awaitWebhook: submit'],
		['transcriberTrigger, meeting: bot'],
	])('reports the id if the fault hit the submit: %s', async (name) => {
		expect(await booksWith(name)).toEqual(WARNED);
	});

	it.each([
		['meeting.sendBot, poll: bot'],
		['transcription.transcribeUrl, poll: status'],
		['transcription.transcribeUrl, awaitWebhook: result'],
	])('does not if the fault came later, because the node has the id: %s', async (name) => {
		expect(await booksWith(name)).toEqual(UNREPORTED);
		expect(await booksWith(name, true)).toEqual(WARNED);
	});
});

describe('a cell is wrong', () => {
	const once = WEATHER.find(({ name }) => name === '503 once') as Weather;
	const { apiKey, receiver } = { apiKey: 'faults-key', receiver: 'https://receiver.example.com' };

	/** Of an execution that has put out the id of its submit. */
	const judge = async (
		change: {
			weather?: Weather;
			outcome?: Outcome;
			isFaultless?: boolean;
			opensAt?: number;
			secret?: string;
		} = {},
	) => {
		const { outcome = { result: WORKS }, isFaultless = false, opensAt, secret } = change;
		const { weather = once } = change;
		const before = booksOf(running());
		if (!isFaultless) {
			running().fault({ match: {}, action: { kind: 'respond', status: 503 } });
			await ask('GET /account');
		}
		const json = { task_id: await submit() };
		const runData = { Subject: [{ startTime: 1_000, data: { main: [[{ json }]] } }] };
		const executions = [{ id: '1', status: 'success', runData, raw: { secret } }];
		const n8n = { version: '2.41.1', log: () => '' };
		const cell = { simulator: running(), apiKey, receiver, executions, n8n } as unknown as Cell;
		const begun = { row: link, weather, cell, act: {} as Act, before, armedAt: 0, opensAt };
		return (await judged(begun, outcome)).wrong;
	};

	it('in nothing, if all is as the table says', async () => {
		expect(await judge()).toEqual([]);
		expect(await judge({ opensAt: 2_000 })).toEqual([]);
	});

	it('if something else comes out than the table says', async () => {
		const failed: Outcome = { result: 'The service is not available' };
		expect(await judge({ outcome: failed })).toEqual([
			`expected “${WORKS}”, got “The service is not available”, and no execution has failed`,
		]);
	});

	it('if it succeeds with an output that quotes the error of the table', async () => {
		const quotes = `the output is [{"error":"${KEY}"}]`;
		const refused = WEATHER.find(({ name }) => name === '401 once') as Weather;
		expect(await judge({ weather: refused, outcome: { result: quotes } })).toEqual([
			`expected “${KEY}”, got “${quotes}”, and no execution has failed`,
		]);
	});

	it('if its fault has not happened', async () => {
		expect(await judge({ isFaultless: true })).toEqual(['the fault has not happened']);
	});

	it('if the node began only after the outage', async () => {
		expect(await judge({ opensAt: 500 })).toEqual(['the node began only after the outage']);
	});

	it('if a secret is in what n8n stores', async () => {
		expect(await judge({ secret: `Bearer ${apiKey}` })).toEqual(['SECRET IN THE EXECUTION']);
	});
});

describe('what is asked too early', () => {
	const at = (ms: number, path: string, status?: number): LoggedRequest => ({
		...{ at: ms, method: path === '/meeting' ? 'POST' : 'GET', path: `/api/v1${path}`, status },
		...{ query: {}, headers: {}, rawHeaders: [], bodyBytes: 0 },
	});
	const before = { submissions: [], requests: 1 };
	const weather = (name: string) => WEATHER.find((one) => one.name === name) as Weather;
	const wrongOf = (name: string, requests: LoggedRequest[], armed = 0) =>
		tooEarly(
			before,
			{ requests: [at(0, '/tasks', 429), ...requests] },
			(refused) => weather(name).retryAfter?.(refused, armed) ?? NaN,
		);

	it('is a request of the same limit before Retry-After has passed', () => {
		const refused = at(10_000, '/tasks/7', 429);
		const name = '429 with Retry-After';
		expect(wrongOf(name, [refused, at(13_000, '/tasks/7')])).toEqual([]);
		expect(wrongOf(name, [refused, at(12_000, '/dictionary')])).toEqual([
			'ASKED 1000 ms BEFORE Retry-After',
		]);
		expect(wrongOf(name, [refused, at(12_000, '/meeting')])).toEqual([]);
		expect(wrongOf(name, [refused])).toEqual([]);
		expect(wrongOf(name, [at(10_000, '/tasks/7', 200)])).toEqual(['nothing was refused with 429']);
	});

	it('is a request before the date, by whatever clock', () => {
		const refused = at(10_000, '/tasks/7', 429);
		for (const name of ['429 by a clock that is ahead', '429 by a clock that is behind']) {
			expect(wrongOf(name, [refused, at(28_000, '/tasks/7')], 8_700)).toEqual([]);
			expect(wrongOf(name, [refused, at(27_000, '/tasks/7')], 8_700)).toEqual([
				'ASKED 1000 ms BEFORE Retry-After',
			]);
		}
	});

	it('counts only in weather that names a time', () => {
		const names = WEATHER.filter(({ retryAfter }) => retryAfter).map(({ name }) => name);
		expect(names).toEqual(
			WEATHER.filter(({ title }) => title.includes('with `Retry-After')).map(({ name }) => name),
		);
		expect(names).toHaveLength(3);
	});
});

describe('a bot whose cancelling was not answered', () => {
	const off = row('transcriberTrigger, meeting: switch off');
	const isAsked = (...statuses: Array<number | undefined>) => {
		const sent = { at: 0, method: 'DELETE', path: '/api/v1/meeting/7', query: {}, headers: {} };
		const deletes = statuses.map((status) => ({ ...sent, rawHeaders: [], bodyBytes: 0, status }));
		const look = { ...sent, method: 'GET', rawHeaders: [], bodyBytes: 0, status: 200 };
		const requests = [look, ...deletes];
		const simulator = { requests } as Partial<Simulator> as Simulator;
		return isAskedAgain(off, { submissions: [], requests: 0 }, simulator);
	};

	it('has to be asked for again, until there is an answer', () => {
		expect(isAsked(undefined)).toBe(false);
		expect(isAsked(200)).toBe(false);
		expect(isAsked(502, undefined)).toBe(false);
		expect(isAsked(502, 502)).toBe(false);
		expect(isAsked(undefined, 200)).toBe(true);
		expect(isAsked(200, 404)).toBe(true);
	});
});

/** When n8n is killed where requests are made up, in ms. */
const KILLED_AT = 60_000;

/** What is wrong after requests that meet the fault, each with its answer, and what was started, in ms. */
async function wrongAfterRequests(
	name: string,
	fault: FaultName,
	asked: Array<[at: number, status?: number]>,
	started: number[] = [],
): Promise<string[]> {
	const { target, kind } = row(name);
	const path = `/api/v1${target.path.replace('[^/]+', '7')}`;
	const sent = { method: target.method, path, query: {}, headers: {}, rawHeaders: [] };
	const requests = asked.map(([at, status]) => ({ ...sent, at, status, bodyBytes: 0 }));
	const books = { tasks: () => [], bots: () => [], apiKey: 'faults-key' };
	const simulator = { requests, faultsHappened: 1, ...books };
	const executions = started.map((at) => ({
		...{ id: '1', status: 'success', runData: {} },
		startedAt: new Date(at).toISOString(),
	}));
	const n8n = { version: '2.41.1', log: () => '' };
	const known = { simulator, executions, n8n, killedAt: KILLED_AT, apiKey: 'faults-key' };
	const cell = { ...known, receiver: 'https://receiver.example.com' } as unknown as Cell;
	const before = { submissions: [], requests: 0 };
	const weather = WEATHER.find((one) => one.name === fault) as Weather;
	const begun = { row: row(name), weather, cell, act: {} as Act, before, armedAt: 0 };
	const hasCrashed = fault === 'kill -9' && kind !== 'trigger' && kind !== 'switch off';
	const failed = { id: '1', status: 'crashed', runData: {} } as Execution;
	const outcome = hasCrashed ? { result: CRASHED, failed } : { result: WORKS };
	return (await judged(begun, outcome)).wrong;
}

const NOT_AGAIN = 'nobody asked again whether the bot is gone';

it('a cell is wrong if it asks before Retry-After has passed', async () => {
	const wrongWith = async (again: number) =>
		await wrongAfterRequests('task.get', '429 with Retry-After', [
			[10_000, 429],
			[again, 200],
		]);
	expect(await wrongWith(13_000)).toEqual([]);
	expect(await wrongWith(11_000)).toEqual(['ASKED 2000 ms BEFORE Retry-After']);
});

it.each(UNANSWERED)('a cell is wrong if nobody asks again for a bot: %s', async (fault) => {
	const off = 'transcriberTrigger, meeting: switch off';
	expect(await wrongAfterRequests(off, fault, [[1_000], [2_000, 404]])).toEqual([]);
	expect(await wrongAfterRequests(off, fault, [[1_000]])).toEqual([NOT_AGAIN]);
});

describe('the moment of the kill', () => {
	const wrongOf = async (name: string, asked: Array<[number, number?]>, started?: number[]) =>
		await wrongAfterRequests(name, 'kill -9', asked, started);
	const NOT_OPEN = 'no request was open when n8n was killed';
	const STARTED = 'the trigger had started its workflow before n8n was killed';

	it('is one at which the request that met the fault is not answered', async () => {
		expect(await wrongOf('task.get', [[50_000]])).toEqual([]);
		expect(await wrongOf('task.get', [[50_000], [70_000, 200]])).toEqual([]);
		expect(await wrongOf('task.get', [])).toEqual([NOT_OPEN]);
		expect(await wrongOf('task.get', [[50_000, 200]])).toEqual([NOT_OPEN]);
		expect(await wrongOf('task.get', [[70_000]])).toEqual([NOT_OPEN]);
	});

	it('is one at which nobody has given that request up, and asked again', async () => {
		expect(await wrongOf('task.get', [[10_000], [50_000, 200]])).toEqual([NOT_OPEN]);
	});

	it('is one at which a trigger has not started its workflow yet', async () => {
		const asked: Array<[number, number?]> = [[50_000], [70_000, 200]];
		for (const name of ROWS.filter(({ kind }) => kind === 'trigger').map((one) => one.name)) {
			expect(await wrongOf(name, asked, [70_000])).toEqual([]);
			expect(await wrongOf(name, asked, [55_000])).toEqual([STARTED]);
			expect(await wrongOf(name, [[50_000, 200]], [70_000])).toEqual([NOT_OPEN]);
		}
	});

	it('may be followed by another poll of the Account Trigger while its first is open', async () => {
		const name = 'transcriberAccountTrigger: list';
		expect(await wrongOf(name, [[45_000], [55_000, 200]], [70_000])).toEqual([]);
	});

	it('of a cancellation has to be in its request; after it, nobody knows of the cancellation any more', async () => {
		const name = 'transcriberTrigger, meeting: switch off';
		expect(await wrongOf(name, [[50_000]])).toEqual([]);
		expect(await wrongOf(name, [[40_000], [50_000, 200]])).toEqual([NOT_OPEN]);
	});
});

describe('where an id is reported', () => {
	const placeOf = (id: string, output: unknown, error?: string) => {
		const runData = { Subject: [{ data: { main: [[{ json: output }]] } }] };
		const execution = { runData, error: error && { message: error } } as unknown as Execution;
		const how = { simulator: running(), mayWarn: false };
		return placesOf([id], 'The execution failed', [execution], undefined, how)[0];
	};

	it('in an output, in an error, or nowhere', async () => {
		const id = await submit();
		expect(placeOf(id, { task_id: id }, `${id} failed`)).toBe('output');
		expect(placeOf(id, {}, `Task ${id} was accepted`)).toBe('error');
		expect(placeOf(id, { task_id: 'another' }, 'It failed')).toBeUndefined();
	});

	it('of a bot, also by its task', async () => {
		const json = { meeting_url: 'https://meet.example.com/a', consent_acknowledged: true };
		const { body } = await ask('POST /meeting', { json });
		const id = String(body['bot_id']);
		running().endMeeting(id);
		const { taskId } = running().bots()[0] ?? {};
		expect(taskId).toBeDefined();
		expect(placeOf(id, { task_id: taskId })).toBe('output');
		expect(placeOf(id, { task_id: 'another' })).toBeUndefined();
	});
});

describe('what came out is wrong', () => {
	const cell = () => ({ simulator: running() }) as Cell;

	it('if it is the transcript of another task, or none', async () => {
		const [id, other] = [await submit(), await submit()];
		const items = (task: string, text: string) => [{ json: { task_id: task, text } }] as Item[];
		expect(isTranscript(items(id, 'A simulated text'), cell(), id)).toBe('');
		expect(isTranscript(items(other, 'A simulated text'), cell(), id)).not.toBe('');
		expect(isTranscript(items(id, ''), cell(), id)).not.toBe('');
	});

	it("if it has another secret than the submission's", async () => {
		const webhook = await startReceiver();
		const id = await submit({ form: { webhook_url: webhook.url } });
		running().finish(id);
		const { webhookSecret } = running().task(id);
		const outcome = async (secret?: string) =>
			await isDelivered([{ json: { task_id: id, webhook_secret: secret } }] as Item[], cell(), id);
		const found = [
			await outcome(webhookSecret),
			await outcome('another'),
			await outcome(undefined),
		];
		await webhook.close();
		expect(found).toEqual(['', expect.stringContaining(id), expect.stringContaining(id)]);
	});

	it('if nothing is delivered to the address, or nothing is accepted there', async () => {
		const webhook = await startReceiver([500, 500, 500]);
		const id = await submit({ form: { webhook_url: webhook.url } });
		const json = { task_id: id, webhook_secret: running().task(id).webhookSecret };
		const outcome = async () => await isDelivered([{ json }] as Item[], cell(), id, 0);
		const found = [await outcome()];
		running().finish(id);
		await until(() => running().deliveries.some(({ status }) => status === 500));
		found.push(await outcome());
		await webhook.close();
		const missing = 'nothing was delivered to the address';
		expect(found).toEqual([missing, missing]);
	});

	it('if a trigger has not started its workflow just once, for that task', async () => {
		const id = await submit();
		const startedFor = async (...ids: string[]) => {
			const executions = ids.map((task) => ({
				runData: { Trigger: [{ data: { main: [[{ json: { task_id: task } }]] } }] },
			}));
			const startedBy = async () => await Promise.resolve(executions);
			const one = { simulator: running(), startedBy } as unknown as Cell;
			return await startedOnce(one, {} as Listening, id);
		};
		expect(await startedFor(id)).toBe(WORKS);
		expect(await startedFor(id, id)).toBe('the workflow was started 2 times');
		expect(await startedFor()).toBe('the workflow was started 0 times');
		expect(await startedFor('another')).toBe('it was started with another');
	});
});

describe('secrets', () => {
	const receiver = 'https://receiver.example.com';
	const cell = () => ({ simulator: running(), apiKey: running().apiKey, receiver }) as Cell;
	const execution = (raw: unknown) => ({ raw }) as Execution;
	const secretOf = async (url: string) => {
		const id = await submit({ form: { webhook_url: url } });
		return running().task(id).webhookSecret ?? '';
	};

	it('are found in any form, in executions, errors and the log', async () => {
		const secret = await secretOf('https://n8n.example.com/hook');
		const coded = Buffer.from(`user:${secret}!`).toString('base64');
		expect(secretsOutside(cell(), [execution({ a: [coded] })], '')).toEqual([
			'SECRET IN THE EXECUTION',
		]);
		expect(secretsOutside(cell(), [], `… ${running().apiKey} …`)).toEqual(["SECRET IN N8N'S LOG"]);
		expect(secretsOutside(cell(), [execution({ a: secret.slice(1) })], '')).toEqual([]);
	});

	it('may be in the output only of what is for another receiver', async () => {
		const secret = await secretOf(receiver);
		const error = { message: secret };
		expect(secretsOutside(cell(), [execution({ secret })], '')).toEqual([]);
		expect(secretsOutside(cell(), [{ ...execution({}), error } as Execution], '')).toEqual([
			'SECRET IN AN ERROR',
		]);
		expect(secretsOf(cell())).toEqual({ hidden: [running().apiKey], output: [secret] });
	});

	it('are found in the addresses of requests', async () => {
		expect(secretsOutside(cell(), [], '')).toEqual([]);
		await ask(`GET /tasks?key=${running().apiKey}`);
		expect(secretsOutside(cell(), [], '')).toEqual(['SECRET IN AN ADDRESS']);
	});

	it('are found in the files of n8n, wherever they stand', async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
		const secret = await secretOf('https://n8n.example.com/hook');
		writeFileSync(path.join(folder, 'a.sqlite'), `${' '.repeat(65_520)}ab${secret}`);
		writeFileSync(path.join(folder, 'b.sqlite'), `${' '.repeat(65_520)}${secret.slice(1)}`);
		const hidden = await wrongInFiles(folder, { hidden: [secret], shown: [], cells: 0 });
		rmSync(folder, { recursive: true });
		expect(hidden).toEqual(['SECRET IN a.sqlite']);
	});

	describe('of a cell', () => {
		const wrongWith = async (content: string, hidden: string[], cells: number) => {
			const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
			writeFileSync(path.join(folder, 'a.sqlite'), content);
			const wrong = await wrongInFiles(folder, { hidden, shown: [], cells });
			rmSync(folder, { recursive: true });
			return wrong;
		};
		const [key, other] = [randomUUID(), randomUUID()].map((id) => `${KEY_OF_CELL}${id}`) as [
			string,
			string,
		];
		const FOUND = ['SECRET IN a.sqlite'];

		it('are found if it is its API key, in plain text and in base64', async () => {
			expect(await wrongWith(`{"apiKey":"${key}"}`, [key], 1)).toEqual(FOUND);
			expect(await wrongWith(`{"apiKey":"${other}"}`, [key], 1)).toEqual([]);
			for (const before of ['', 'u', 'us', 'use', 'user:']) {
				const bytes = Buffer.from(`${before}${key}${before}`);
				for (const form of ['base64', 'base64url'] as const)
					for (const about of ['', 'x', 'xx', 'xxx', 'Basic '])
						expect(await wrongWith(`${about}${bytes.toString(form)}"`, [key], 1)).toEqual(FOUND);
			}
		});

		it('are found in base64 also where two parts of a file meet', async () => {
			const coded = Buffer.from(`user:${key}`).toString('base64');
			for (const place of [1, 20, 40, 63])
				expect(await wrongWith(`${' '.repeat(65_536 - place)}${coded}`, [key], 1)).toEqual(FOUND);
		});

		it('have to be known: a cell without its API key is reported', async () => {
			expect(await wrongWith('', [key, other], 2)).toEqual([]);
			expect(await wrongWith('', [key, key], 2)).toEqual([
				'THE SCAN IS BLIND: 1 API keys of 2 cells',
			]);
		});

		it('have to look like one: the scan would not find another', async () => {
			const unlike = `${key.slice(0, -1)}z`;
			expect(await wrongWith('', [unlike, '0'.repeat(40)], 1)).toEqual([
				'THE SCAN IS BLIND: 2 secrets look like none',
			]);
		});

		it('have an API key that looks like one, and a webhook secret that does', async () => {
			const secret = await secretOf('https://n8n.example.com/hook');
			const createCredential = async () => await Promise.resolve({ id: '1', name: 'One' });
			const n8n = { rest: { createCredential } } as unknown as N8nHost;
			const opened = await Cell.open(n8n, receiver);
			await opened.close();
			const { hidden } = secretsOf(opened);
			expect(hidden).toHaveLength(1);
			expect(await wrongWith(hidden.join(), [...hidden, secret], 1)).toEqual(FOUND);
		});
	});

	it('of an output are the proof that the files are read: one that is not found is reported', async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
		const secret = await secretOf(receiver);
		const { apiKey } = running();
		await ask('POST /api-key/generate');
		const rotated = running().apiKey;
		const shown = secretsShown({
			...cell(),
			apiKey,
			executions: [execution({ secret, key: [rotated] })],
		} as unknown as Cell);
		const blind = await wrongInFiles(folder, { hidden: [], shown, cells: 0 });
		writeFileSync(path.join(folder, 'a.sqlite'), `… ${secret} …`);
		const onlySecret = await wrongInFiles(folder, { hidden: [], shown: [secret], cells: 0 });
		const onlyKey = await wrongInFiles(folder, { hidden: [], shown: [rotated], cells: 0 });
		writeFileSync(path.join(folder, 'b.sqlite'), `"${rotated}"`);
		const seeing = await wrongInFiles(folder, { hidden: [], shown, cells: 0 });
		rmSync(folder, { recursive: true });
		expect(shown.sort()).toEqual([rotated, secret].sort());
		expect(blind).toEqual(['THE SCAN IS BLIND: 2 of 2 secrets of outputs not found']);
		expect([onlySecret.length, onlyKey.length]).toEqual([0, 1]);
		expect(seeing).toEqual([]);
	});
});
