/** The parts of a run and its end, apart from n8n: whether something is reported can be shown without it. */
import type { Account } from './account';
import type { Measured } from './measure';
import type { Compared } from './starts';

/** When each part of the run ends, as a part of the time. n8n is restarted in the second only. */
export const PARTS = { start: 0.15, outages: 0.45, warmUp: 0.55, middle: 0.78, end: 1 };

export type Part = keyof typeof PARTS;

export interface Course {
	/** Acts, until the part ends. */
	load: (part: Part) => Promise<void>;
	/** Acts, until the part ends, with outages in between. */
	outages: () => Promise<void>;
	measure: (point: string) => Promise<Measured>;
}

/** What was measured at each point, in their order. */
export async function measuredIn({
	load,
	outages,
	measure,
}: Course): Promise<Record<string, Measured>> {
	const all: Record<string, Measured> = {};
	const at = async (point: string) => {
		all[point] = await measure(point);
	};
	await load('start');
	await at('First process');
	await outages();
	await load('warmUp');
	await at('Last process, warm');
	await load('middle');
	await at('Halfway');
	await load('end');
	await at('End');
	return all;
}

/** What was wrong in the acts of all accounts, and in the starts of their triggers. */
export async function booksCompared<One extends Pick<Account, 'done'>>(
	accounts: One[],
	compare: (account: One) => Promise<Compared>,
): Promise<Compared> {
	const acts = accounts.flatMap(({ done }) => done);
	const all: Compared = { started: 0, notified: 0, wrong: [] };
	for (const { name, wrong } of acts)
		all.wrong.push(...wrong.map((what) => `${name}: ${what.slice(0, 600)}`));
	for (const account of accounts) {
		const { started, notified, wrong } = await compare(account);
		all.started += started;
		all.notified += notified;
		all.wrong.push(...wrong);
	}
	return all;
}

/** Says what is wrong, and sets the exit code. `trapped`: requests to the host that a redirect names. */
export function conclude(wrong: string[], trapped: string[]): void {
	const all = [...wrong];
	if (trapped.length > 0) all.push(`A redirect was followed: ${trapped.join(', ')}`);
	for (const one of all) console.log(`✗ ${one}`);
	process.exitCode = all.length > 0 ? 1 : 0;
}
