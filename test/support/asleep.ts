import type { IWebhookFunctions } from 'n8n-workflow';

import type { Suspension, WaitingItem } from '../../nodes/Transcriber/submit/once/suspensionState';
import { knownOf, type KnownEndings } from '../../nodes/Transcriber/submit/suspension/knownEndings';
import { itemContext, type ItemPlace } from './itemContext';

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

/** The context of a call to a suspended execution. */
export const callTo = (place: ItemPlace = {}) =>
	itemContext({}, { executionId: '41', node: {}, ...place }) as unknown as IWebhookFunctions;

/** What a process knows of an execution that waits for these. */
export const knownOfItems = (context: IWebhookFunctions, items: WaitingItem[]): KnownEndings =>
	knownOf(context, asleep(Object.fromEntries(items.map((item, index) => [index, item]))));

export const keysIn = ({ ended, completed, failed, recordings }: KnownEndings) => ({
	ended: [...ended],
	completed: [...completed],
	failed: [...failed],
	recordings: [...recordings],
});
