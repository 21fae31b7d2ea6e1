import { setTimeout as sleep } from 'node:timers/promises';

import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import type { ServiceForTests } from '../support/service';

/** Waits until the grace is over, and what the trigger then asks of the service, however long the answers take. */
export async function pastGrace({ running }: ServiceForTests, graceMs = GRACE.ms): Promise<void> {
	const isOpen = ({ status, at }: { status?: number; at: number }) =>
		status === undefined && Date.now() - at < 1_000;
	await sleep(2 * graceMs);
	for (let quiet = 0; quiet < 2; quiet++) {
		await sleep(20);
		if (running().requests.some(isOpen)) quiet = -1;
	}
}

/**
 * The grace that begins meanwhile ends when the work is done, however long a busy machine takes for it: neither its
 * timer nor the clock, by which the node counts it as well, comes to its end before.
 */
export async function withinGrace(work: () => Promise<void>): Promise<void> {
	const { setTimeout: start } = globalThis;
	const { now } = Date;
	const latest = now() + GRACE.ms / 2;
	const held: Array<() => void> = [];
	const hold = (run: () => void, ms?: number) =>
		ms === GRACE.ms ? void held.push(run) : start(run, ms);
	const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof start);
	Date.now = () => Math.min(now(), latest);
	await work().finally(() => {
		Date.now = now;
		timers.mockRestore();
	});
	for (const run of held) run();
}
