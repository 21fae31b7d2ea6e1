/** How much may be there at the end, and why: anything more has grown without bound. */
import { FETCHES } from '../../nodes/TranscriberTrigger/shareResultFetch';
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
} from './measure';
import type { Measured } from './measure';

interface Bound {
	what: (name: string) => boolean;
	/** `warm`: after the warm-up of the last process of n8n. `acts`: between then and the end. */
	most: (warm: number, acts: number) => number;
	why: string;
}

const is =
	(...names: string[]) =>
	(name: string) =>
		names.includes(name);

/**
 * Rows of processMemory.ts that keep entries for hours or until the process ends, and how many an act adds at most: half
 * as many again as the runs in docs/soak.md had, or a few more where these were few.
 */
const PER_ACT: Record<string, number> = {
	[`${MAP}triggerWorkflows`]: 1.2,
	[`${MAP}suspendedRuns`]: 0.5,
	[`${MAP}retriedSubmissions`]: 0.1,
	[`${MAP}pollTries`]: 0.15,
	[`${MAP}latestPollStates`]: 0.15,
};

/** What each point of a run has to have. */
const MEASURED = [
	HEAP,
	RESIDENT,
	BUFFERS,
	OPEN_FILES,
	TIMERS,
	OPEN,
	TRIGGERS,
	DATA,
	SECRETS,
].concat(Object.keys(PER_ACT), OWN_TIMERS);

/** There is always one, so that none means that nobody has looked. */
const NEVER_NOTHING = [OWN_TIMERS];

const BOUNDS: Bound[] = [
	{ what: is(OPEN), most: () => 0, why: 'everything ends' },
	{
		what: is(SECRETS),
		most: () => 3,
		why: 'what has ended has its secret removed, and hardly anything is in progress',
	},
	{
		what: is(HEAP),
		most: (warm) => warm + 20,
		why: '10 MB, by which n8n itself differs between two looks, and 10 MB that it keeps; the services of the simulator are in another process, so the number of acts must not matter',
	},
	{ what: is(RESIDENT), most: (warm) => warm + 200, why: 'V8 gives free pages back late' },
	{ what: is(BUFFERS), most: (warm) => warm + 10, why: 'no upload and no answer is kept' },
	{
		what: is(OPEN_FILES),
		most: (warm) => warm + 10,
		why: 'connections to the accounts come and go',
	},
	{
		what: is(TIMERS),
		most: (warm) => warm + 60,
		why: 'a request counts for its rate limit for a minute, and the account triggers make some all the time',
	},
	{
		what: is(OWN_TIMERS),
		most: (warm) => warm + 60,
		why: 'the account triggers make requests all the time, each of which has a deadline and counts for its rate limit for a minute',
	},
	{
		what: is(TRIGGERS),
		most: (warm, acts) => warm + 10 + acts * 0.25,
		why: 'n8n keeps the data of a trigger that is switched off, and one act of seven publishes one',
	},
	{
		what: is(DATA),
		most: (warm, acts) => warm + 1_000 + acts * 30,
		why: '10 bytes an act were measured: a trigger gets the submissions of one account of four, and remembers 10 000 that have ended',
	},
	...Object.entries(PER_ACT).map(([name, each]) => ({
		what: is(name),
		most: (warm: number, acts: number) => warm + 10 + acts * each,
		why: `${each} for an act: it publishes a trigger, suspends an execution or is retried; each row has its limit in processMemory.ts`,
	})),
	{
		what: is(`${MAP}resultFetches`),
		most: (warm) => warm + FETCHES.most + 20,
		why: 'a result is kept for the next repeat of its delivery; shareResultFetch.ts has the limit',
	},
	{
		what: (name) => name.startsWith(MAP),
		most: (warm) => warm + 20,
		why: 'up to five entries for each of four accounts, or for what goes on at this moment',
	},
];

/** A row for each value: in the first process, after the warm-up of the last one, halfway, at the end. */
export function compared(all: { [point: string]: Measured }): { table: string; wrong: string[] } {
	const points = Object.values(all);
	const end = points.at(-1);
	const warm = points.at(-3);
	if (!end || !warm) throw new Error('Nothing was measured');
	const wrong: string[] = [];
	const rows = [...new Set([...MEASURED, ...Object.keys(end.values)])].map((name) => {
		const value = end.values[name] ?? NaN;
		const bound = BOUNDS.find(({ what }) => what(name));
		const most = bound?.most(warm.values[name] ?? 0, end.acts - warm.acts) ?? 0;
		const shown = points.map(({ values }) => String(values[name] ?? '–'));
		// Also if it was not measured.
		if (!(value <= most)) wrong.push(`${name}: ${value}, at most ${most} (${bound?.why})`);
		if (NEVER_NOTHING.includes(name) && points.some(({ values }) => !((values[name] ?? 0) > 0)))
			wrong.push(`${name}: none was seen at some point, although there always is one`);
		return `| ${[name, ...shown, most === Infinity ? '–' : String(Math.round(most))].join(' | ')} |`;
	});
	const heading = ['', ...Object.keys(all), 'At most'];
	const table = [
		`| ${heading.join(' | ')} |`,
		`|${'---|'.repeat(heading.length)}`,
		`| Acts before | ${points.map(({ acts }) => acts).join(' | ')} | |`,
		...rows,
	].join('\n');
	return { table, wrong };
}

export interface Load {
	minutes: number;
	acts: number;
	worked: number;
	/** Tasks and bots. */
	accepted: number;
	/** Executions of the triggers. */
	started: number;
	/** Submissions of Transcriber nodes for which a Transcriber Trigger had to start, and has started. */
	notified: number;
	/** Acts that were hit by a fault of the service, and acts of which a delivery was disturbed. */
	troubled: number;
	disturbed: number;
	/** Secrets in the static data of a trigger that has one submission in progress. */
	secrets: number;
	outages: number;
}

/** A run in which little has happened, or little has gone wrong, shows little. */
export function tooLittle(load: Load): string[] {
	const {
		minutes,
		acts,
		worked,
		accepted,
		started,
		notified,
		troubled,
		disturbed,
		secrets,
		outages,
	} = load;
	return [
		acts < minutes * 2 && `only ${acts} acts in ${minutes} minutes`,
		worked < acts / 2 && `only ${worked} of ${acts} acts worked`,
		accepted < acts / 4 && `only ${accepted} tasks and bots in ${acts} acts`,
		started < accepted / 2 && `only ${started} executions of the triggers for ${accepted} tasks`,
		notified < Math.max(1, accepted / 10) &&
			`only ${notified} of ${accepted} submissions were compared with the Transcriber Triggers`,
		troubled < Math.max(1, acts / 10) && `only ${troubled} of ${acts} acts were in trouble`,
		disturbed < Math.max(1, acts / 40) &&
			`only ${disturbed} of ${acts} acts had a disturbed delivery`,
		secrets < 1 && `${SECRETS}: none was seen while a submission was in progress`,
		outages < Math.floor(minutes / 10) && `only ${outages} outages of n8n`,
	].filter((one) => one !== false);
}
