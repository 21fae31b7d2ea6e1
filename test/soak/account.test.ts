/** The soak takes half an hour; whether it would report what its acts do, and what its triggers miss, is known at once. */
import { CRASHED, WORKS, type Act, type Outcome } from '../faults/acts';
import type { Cell, Listening } from '../faults/cell';
import { booksOf } from '../faults/invariants';
import { ROWS } from '../faults/rows';
import { WEATHER } from '../faults/weather';
import type { Execution } from '../n8n/rest';
import { simulatorForTests } from '../simulator/testing-client';
import { Account } from './account';
import { compared } from './bounds';
import type { Choice } from './choice';
import { booksCompared, conclude, measuredIn } from './course';
import { HEAP } from './measure';
import { compareExecutions } from './starts';

const { running, submit } = simulatorForTests();
const receiver = 'https://receiver.example.com';
const failed = { id: '1', status: 'crashed', runData: {} } as Execution;

/** An execution that has put out these ids. */
const puttingOut = (node: string, ids: string[], startedAt?: string) => {
	const items = ids.map((id) => ({ json: { task_id: id } }));
	const runData = { [node]: [{ data: { main: [items] } }] };
	return { id: '1', status: 'success', runData, startedAt } as unknown as Execution;
};

function accountWith(executions: Execution[]): Account {
	const n8n = { version: '2.41.1', log: () => '' };
	const switchOff = async () => await Promise.resolve();
	const { apiKey } = running();
	const cell = { simulator: running(), apiKey, receiver, executions, n8n, switchOff };
	const trigger = { workflow: {}, url: receiver } as Listening;
	const triggers = { deliveries: trigger, polled: trigger };
	return new Account(cell as unknown as Cell, triggers, receiver, 1);
}

describe('an act', () => {
	const rowNamed = (name: string) => {
		const found = ROWS.find((one) => one.name === name);
		if (!found) throw new Error(`No row ${name}`);
		return found;
	};

	/** It submits so many, of which its output names all, and comes to this. */
	const done = async (
		name: string,
		outcome: Outcome,
		{ submits = 0, isOutage = false, more = {} as Partial<Choice> } = {},
	) => {
		const before = booksOf(running());
		const ids: string[] = [];
		while (ids.length < submits) ids.push(await submit());
		const account = accountWith([puttingOut('Subject', ids)]);
		const act = { end: async () => await Promise.resolve(outcome) } as Partial<Act> as Act;
		const choice = { row: rowNamed(name), ...more };
		await account.end({ choice, act, before, disturbedBefore: 0 }, isOutage);
		return account.done;
	};
	const LINK = 'transcription.transcribeUrl, poll: submit';
	beforeEach(() => void jest.spyOn(console, 'log').mockImplementation(() => undefined));

	it('that has worked, and paid once, is noted as such', async () => {
		expect(await done(LINK, { result: WORKS }, { submits: 1 })).toEqual([
			{ name: LINK, result: WORKS, wrong: [], accepted: 1, troubles: 0, disturbed: 0 },
		]);
	});

	it('that comes to something else than the table says is wrong', async () => {
		const [one] = await done('task.get', { result: 'It broke', failed });
		expect(one).toMatchObject({ result: 'It broke', wrong: ['“It broke”'] });
		const [crashed] = await done('task.get', { result: CRASHED, failed });
		expect(crashed?.wrong).toEqual([`“${CRASHED}”`]);
		const [killed] = await done('task.get', { result: CRASHED, failed }, { isOutage: true });
		expect(killed?.wrong).toEqual([]);
	});

	it('that pays twice is wrong', async () => {
		const [one] = await done(LINK, { result: WORKS }, { submits: 2 });
		expect(one?.wrong).toEqual(['PAID TWICE: 2 accepted']);
	});

	it('that pays twice and crashes is wrong, although it has no Retry', async () => {
		const crash = { result: CRASHED, failed };
		const [one] = await done(LINK, crash, { submits: 2, isOutage: true });
		expect(one?.wrong).toEqual(['PAID TWICE, without a Retry']);
		const [once] = await done(LINK, crash, { submits: 1, isOutage: true });
		expect(once?.wrong).toEqual([]);
	});

	it('that does not meet its fault is wrong', async () => {
		const weather = WEATHER.find(({ name }) => name === '503 once');
		const [one] = await done('task.get', { result: WORKS }, { more: { weather } });
		expect(one?.wrong).toEqual(['the fault has not happened']);
	});

	it('that ends with an exception is wrong', async () => {
		const account = accountWith([]);
		const end = async () => await Promise.reject(new Error('it has not ended'));
		const act = { end } as Partial<Act> as Act;
		const doing = { choice: { row: rowNamed(LINK) }, act, before: booksOf(running()) };
		await account.end({ ...doing, disturbedBefore: 0 }, false);
		expect(account.done.map(({ wrong }) => wrong)).toEqual([['Error: it has not ended']]);
	});
});

describe('the starts of both triggers', () => {
	const AT = '2026-01-01T00:00:00.000Z';
	const completed = async () => {
		const id = await submit();
		running().finish(id);
		return id;
	};
	const comparedWith = (id: string, delivered: string[], polled: string[]) => {
		const account = accountWith([]);
		account.notified.push(id);
		const by = (ids: string[]) => ids.map((one) => puttingOut('Trigger', [one], AT));
		return compareExecutions(account, { delivered: by(delivered), polled: by(polled) }, [], '');
	};

	it('are right if each has started once', async () => {
		const id = await completed();
		expect(comparedWith(id, [id], [id])).toEqual({ started: 2, notified: 1, wrong: [] });
	});

	it('are wrong if one of them has missed a transcript', async () => {
		const id = await completed();
		expect(comparedWith(id, [id], []).wrong).toEqual([
			`MISSED: Transcriber Account Trigger has not started for ${id}`,
		]);
		expect(comparedWith(id, [], [id]).wrong).toEqual([
			expect.stringContaining(`MISSED: Transcriber Trigger has not started for ${id}`),
		]);
	});

	it('are wrong if one of them has started twice', async () => {
		const id = await completed();
		expect(comparedWith(id, [id], [id, id]).wrong).toEqual([
			`STARTED TWICE: Transcriber Account Trigger for ${id}`,
		]);
		expect(comparedWith(id, [id, id], [id]).wrong).toEqual([
			`STARTED TWICE: Transcriber Trigger for ${id}`,
		]);
	});

	it('are wrong if an execution shows a secret', async () => {
		const id = await completed();
		const shows = { ...puttingOut('Trigger', [id], AT), raw: { key: running().apiKey } };
		const executions = { delivered: [shows as unknown as Execution], polled: [] };
		expect(compareExecutions(accountWith([]), executions, [], '').wrong).toContain(
			'SECRET IN THE EXECUTION',
		);
	});
});

describe('a run', () => {
	it('measures its end at its end, so that what grows last is seen', async () => {
		const parts: string[] = [];
		const note = async (part: string) => await Promise.resolve(void parts.push(part));
		const measure = async () =>
			await Promise.resolve({ acts: parts.length, values: { [HEAP]: parts.length * 100 } });
		const all = await measuredIn({
			load: note,
			outages: async () => await note('outages'),
			measure,
		});
		expect(parts).toEqual(['start', 'outages', 'warmUp', 'middle', 'end']);
		expect(Object.entries(all).map(([point, { acts }]) => [point, acts])).toEqual([
			['First process', 1],
			['Last process, warm', 3],
			['Halfway', 4],
			['End', 5],
		]);
		expect(compared(all).wrong).toContainEqual(expect.stringContaining(`${HEAP}: 500`));
	});

	it('counts what was wrong in each act, and in the starts of each account', async () => {
		const counts = { accepted: 0, troubles: 0, disturbed: 0 };
		const doneWith = (name: string, ...wrong: string[]) => ({
			done: [{ name, result: WORKS, wrong, ...counts }],
		});
		const accounts = [doneWith('one', 'PAID TWICE', 'UNREPORTED'), doneWith('other')];
		const compare = async ({ done }: Pick<Account, 'done'>) =>
			await Promise.resolve({ started: 2, notified: 1, wrong: [`MISSED by ${done[0]?.name}`] });
		expect(await booksCompared(accounts, compare)).toEqual({
			started: 4,
			notified: 2,
			wrong: ['one: PAID TWICE', 'one: UNREPORTED', 'MISSED by one', 'MISSED by other'],
		});
	});

	it('ends with an exit code of 1 if anything is wrong', () => {
		const log = jest.spyOn(console, 'log').mockImplementation(() => undefined);
		const { exitCode } = process;
		const codes = [
			[[], []],
			[['It has grown'], []],
			[[], ['/elsewhere']],
		].map(([wrong = [], trapped = []]) => {
			conclude(wrong, trapped);
			return process.exitCode;
		});
		process.exitCode = exitCode;
		const said = log.mock.calls.flat();
		expect(codes).toEqual([0, 1, 1]);
		expect(said).toEqual(['✗ It has grown', '✗ A redirect was followed: /elsewhere']);
	});
});
