import type { Suspension, WaitingItem } from '../../nodes/Transcriber/submit/once/suspensionState';

/** What n8n has saved of an execution that waits an hour for these. */
export const asleep = (
	items: Record<string, WaitingItem>,
	more: Partial<Suspension> = {},
): Suspension => ({
	run: 0,
	until: Date.now() + 3_600_000,
	items,
	refused: {},
	...more,
});
