import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';

/** The grace that begins meanwhile ends when the work is done, however long a busy machine takes for it. */
export async function withinGrace(work: () => Promise<void>): Promise<void> {
	const { setTimeout: start } = globalThis;
	const held: Array<() => void> = [];
	const hold = (run: () => void, ms?: number) =>
		ms === GRACE.ms ? void held.push(run) : start(run, ms);
	const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof start);
	await work().finally(() => timers.mockRestore());
	for (const run of held) run();
}
