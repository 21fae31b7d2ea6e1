/** The soak itself takes half an hour; whether it would report what grows is known at once. */
import { read } from '../structure/read';
import { compared, tooLittle } from './bounds';
import {
	OWN_TIMERS,
	BUFFERS,
	DATA,
	HEAP,
	MAP,
	OPEN,
	OPEN_FILES,
	RESIDENT,
	SECRETS,
	TIMERS,
	TRIGGERS,
	secretsIn,
} from './measure';
import { Chooser, type Choice } from './choice';
import { compared as startsCompared, type Start } from './starts';

const CALM: Record<string, number> = {
	[HEAP]: 200,
	[RESIDENT]: 700,
	[BUFFERS]: 25,
	[OPEN_FILES]: 48,
	[TIMERS]: 130,
	[OWN_TIMERS]: 100,
	[OPEN]: 0,
	[SECRETS]: 0,
	[TRIGGERS]: 20,
	[DATA]: 1_000,
	[`${MAP}rooms`]: 3,
	[`${MAP}triggerWorkflows`]: 10,
	[`${MAP}suspendedRuns`]: 0,
	[`${MAP}retriedSubmissions`]: 0,
	[`${MAP}pollTries`]: 0,
	[`${MAP}latestPollStates`]: 0,
};

const after = (acts: number, change: Record<string, number> = {}) => ({
	acts,
	values: { ...CALM, ...change },
});

const wrongAtTheEnd = (change: Record<string, number>) =>
	compared({ warm: after(50), halfway: after(75), end: after(100, change) }).wrong;

it('what stays as it is, or grows with what is still remembered, is within its bound', () => {
	const usual = { [HEAP]: 205, [DATA]: 2_000, [`${MAP}triggerWorkflows`]: 60 };
	expect(wrongAtTheEnd(usual)).toEqual([]);
});

it.each([
	[HEAP, 230],
	[TIMERS, 200],
	[OWN_TIMERS, 161],
	[OPEN, 1],
	[DATA, 50_000],
	[SECRETS, 4],
	[`${MAP}rooms`, 53],
	[`${MAP}triggerWorkflows`, 100],
	[`${MAP}suspendedRuns`, 61],
	[`${MAP}pollTries`, 36],
])('%s is reported when it has grown to %d', (name, value) => {
	expect(wrongAtTheEnd({ [name]: value })).toEqual([expect.stringContaining(`${name}: ${value}`)]);
});

describe('over many acts', () => {
	/** What each act of a run in docs/soak.md added at most. The heap grew for a while, by 7 MB. */
	const REMEMBERED = {
		[TRIGGERS]: 0.15,
		[DATA]: 11,
		[`${MAP}triggerWorkflows`]: 0.9,
		[`${MAP}suspendedRuns`]: 0.35,
		[`${MAP}retriedSubmissions`]: 0.03,
		[`${MAP}pollTries`]: 0.08,
		[`${MAP}latestPollStates`]: 0.08,
	};

	/** Of a run in which each act adds so much. */
	function wrongAfter(acts: number, perAct: Record<string, number>): string[] {
		const at = (done: number) => {
			const grown = Object.entries(perAct).map(
				([name, each]) => [name, (CALM[name] ?? 0) + done * each] as const,
			);
			return after(done, Object.fromEntries(grown));
		};
		return compared({ warm: at(0), halfway: at(acts / 2), end: at(acts) }).wrong;
	}

	it.each([100, 500, 5_000])('what is remembered as before is within its bound: %d', (acts) => {
		expect(wrongAfter(acts, { ...REMEMBERED, [HEAP]: 7 / acts })).toEqual([]);
	});

	it.each([
		[DATA, 300],
		[TRIGGERS, 1],
		[`${MAP}triggerWorkflows`, 1.5],
		[`${MAP}suspendedRuns`, 1],
		[`${MAP}retriedSubmissions`, 1],
		[`${MAP}pollTries`, 0.5],
		[`${MAP}latestPollStates`, 0.5],
		[`${MAP}rooms`, 0.1],
	])('%s is reported when each act leaks %d, in half an hour and in ten', (name, each) => {
		for (const acts of [261, 5_000])
			expect(wrongAfter(acts, { ...REMEMBERED, [name]: each })).toEqual([
				expect.stringContaining(`${name}: `),
			]);
	});

	it.each([
		[HEAP, 0.049],
		[RESIDENT, 0.049],
		[BUFFERS, 0.02],
		[TIMERS, 0.12],
		[OPEN_FILES, 0.02],
	])('%s is reported when each act leaks %d, in an hour and in ten', (name, each) => {
		for (const acts of name === RESIDENT ? [5_000] : [522, 5_000])
			expect(wrongAfter(acts, { ...REMEMBERED, [name]: each })).toEqual([
				expect.stringContaining(`${name}: `),
			]);
	});
});

describe('the run in docs/soak.md', () => {
	const [, page = ''] = read('docs/soak.md').split('<!-- run -->');
	const cells = (line: string) =>
		line
			.split('|')
			.slice(1, -1)
			.map((cell) => cell.trim());
	const lines = page.split('\n').filter((line) => line.startsWith('|'));
	const [heading = '', , acts = '', ...rows] = lines;
	const points = cells(heading).slice(1, -1);
	const all = Object.fromEntries(
		points.map((point, index) => [
			point,
			{
				acts: Number(cells(acts)[index + 1]),
				values: Object.fromEntries(
					rows
						.map(cells)
						.filter((row) => row[index + 1] !== '–')
						.map(([name = '', ...values]) => [name, Number(values[index])]),
				),
			},
		]),
	);

	it('is within the bounds of today, which its table shows', () => {
		expect(points).toHaveLength(4);
		expect(compared(all)).toEqual({ table: lines.join('\n'), wrong: [] });
	});
});

it.each([NaN, undefined])('a value that was not measured (%s) is reported', (value) => {
	expect(wrongAtTheEnd({ [HEAP]: value as number })).toHaveLength(1);
});

it('a run that has measured nothing is reported', () => {
	const nothing = { acts: 10, values: {} };
	expect(compared({ warm: nothing, halfway: nothing, end: nothing }).wrong.length).toBeGreaterThan(
		10,
	);
});

it('a value without a bound is reported', () => {
	expect(wrongAtTheEnd({ 'Something new': 1 })).toHaveLength(1);
});

/** A run of 30 minutes in which enough has happened. */
const busy = {
	...{ minutes: 30, acts: 155, worked: 135, accepted: 95, started: 154, notified: 30 },
	...{ outages: 4, troubled: 60, disturbed: 20, secrets: 1 },
};

it('a run in which little has happened is reported', () => {
	expect(tooLittle(busy)).toEqual([]);
	expect(tooLittle({ ...busy, acts: 20, worked: 20, accepted: 9, outages: 0 })).toHaveLength(2);
	expect(tooLittle({ ...busy, worked: 70, started: 30 })).toHaveLength(2);
	expect(tooLittle({ ...busy, accepted: 0 })).toHaveLength(1);
});

it.each([
	[
		'a run in which nothing has gone wrong',
		{ troubled: 15 },
		'only 15 of 155 acts were in trouble',
	],
	[
		'a run whose deliveries all came as they should',
		{ disturbed: 0 },
		'only 0 of 155 acts had a disturbed delivery',
	],
	[
		'a run whose Transcriber Triggers nobody has compared',
		{ notified: 0 },
		'only 0 of 95 submissions were compared with the Transcriber Triggers',
	],
	[
		'a run in which nobody was seen to keep a secret',
		{ secrets: 0 },
		`${SECRETS}: none was seen while a submission was in progress`,
	],
])('%s is reported', (_, change, what) => {
	expect(tooLittle({ ...busy, ...change })).toEqual([what]);
});

it('timers of the nodes that nobody has seen are reported', () => {
	expect(wrongAtTheEnd({ [OWN_TIMERS]: 0 })).toEqual([
		`${OWN_TIMERS}: none was seen at some point, although there always is one`,
	]);
});

describe('what an account does next', () => {
	const next = Array.from({ length: 1_000 }, (_, seed) => new Chooser(seed, '', () => undefined));
	const share = (is: (choice: Choice) => unknown, isOutage = false) =>
		next.filter((chooser) => is(chooser.next(isOutage))).length / next.length;

	it('is in trouble in a third of the acts or more, and never in an outage', () => {
		expect(share(({ weather }) => weather)).toBeGreaterThan(0.3);
		expect(share(({ weather }) => weather, true)).toBe(0);
	});

	it('has its deliveries disturbed, and notifies the standing trigger', () => {
		expect(share(({ delivery }) => delivery)).toBeGreaterThan(0.2);
		expect(share(({ row }) => row.name.endsWith('notifyTrigger: standing'))).toBeGreaterThan(0.15);
	});
});

const wrongStarts = (ids: string[], starts: Start[], kills: number[], others: string[] = []) =>
	startsCompared('T', ids, starts, kills, others).wrong;

it('the tasks for which a trigger had to start and has started are counted', () => {
	const starts = ['one', 'one', 'other'].map((taskId) => ({ taskId, at: 1_000 }));
	expect(startsCompared('T', ['one', 'two'], starts, [], ['other']).right).toBe(1);
	expect(startsCompared('T', [], starts, [], ['one', 'other']).right).toBe(0);
});

describe('a trigger that has started twice for a task', () => {
	const starts = [1_000, 60_000].map((at) => ({ taskId: 'task', at }));
	const wrongWith = (...kills: number[]) => wrongStarts(['task'], starts, kills);

	it('is reported, unless n8n was killed just after the first start', () => {
		expect(wrongWith()).toEqual(['STARTED TWICE: T for task']);
		expect(wrongWith(1_500)).toEqual([]);
	});

	it('is reported if the kill came long after the first start, or before it', () => {
		expect(wrongWith(30_000, 500)).toEqual(['STARTED TWICE: T for task']);
	});

	it('is reported also if it did not have to start at all, which alone is nothing wrong', () => {
		const [once = { taskId: 'task', at: 1_000 }] = starts;
		expect(wrongStarts([], starts, [], ['task'])).toEqual(['STARTED TWICE: T for task']);
		expect(wrongStarts([], [once], [], ['task'])).toEqual([]);
		expect(wrongStarts([], [], [], ['task'])).toEqual([]);
	});

	it('is reported once if it is in both lists', () => {
		expect(wrongStarts(['task'], starts, [], ['task'])).toHaveLength(1);
	});
});

it('a start for a task that the service does not have is reported', () => {
	const starts = ['task', 'another', 'forged'].map((taskId) => ({ taskId, at: 1_000 }));
	expect(wrongStarts(['task'], starts, [], ['another'])).toEqual(['STARTED: T for forged']);
});

it('a trigger that has not started for a task is reported', () => {
	expect(wrongStarts(['task'], [], [])).toEqual(['MISSED: T has not started for task']);
});

it('the secrets of all triggers of a workflow are counted', () => {
	const triggers = { one: { secrets: 'a b;c d;' }, other: { secrets: 'e f;' }, empty: {} };
	expect(secretsIn(JSON.stringify({ global: triggers }))).toBe(3);
	expect(secretsIn('{}')).toBe(0);
});
