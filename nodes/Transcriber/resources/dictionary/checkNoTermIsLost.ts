import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { inputCount, itemCount } from '../../item/inputItems';
import { isBlank } from '../../../shared/jsonValues';
import { refuse } from '../../../shared/parameters/refuse';
import { lackedBy, replacementOf } from './lostWrites';
import { isSame } from './syncReport';
import { isTool, runIndexOf } from '../../../shared/n8nInternals/runIdentity';

/**
 * Refuses to remove what an earlier run of this node has put there: in a loop, and with several wires
 * into the node, each run has only some of the items. An agent calls a tool as often as it likes.
 */
export function checkIsOnlyReplacement(
	context: IExecutePaginationFunctions,
	old: string[],
	removed: string[],
): void {
	const { run, lost = [] } = replacementOf(context);
	const now = runIndexOf(context);
	if (isTool(context)) return;
	const isOfLost = lost.some(({ run: other, had, sent }) => {
		if (other === now) return false;
		// The write has removed something, or changed the order. Otherwise, only what it has added shows that it
		// was carried out.
		const isDone = lackedBy(old, had).length > 0 || isSame(old, sent);
		return removed.some((term) => sent.includes(term) && (isDone || !had.includes(term)));
	});
	if (!isOfLost && (run === undefined || run === now)) return;
	throw refuse(
		context,
		'An earlier run of this node in this execution has synced the dictionary. This run would remove terms from it, so the dictionary was left as it is',
		"In a loop, or with several wires into this node, each run has only some of the terms. Place the node after the loop, or join the wires with a Merge node. Or choose Add Missing in 'Mode'. What the earlier run removed is in its output.",
	);
}

/**
 * Refuses to remove terms because a step before has failed for an item: with 'On Error' set to Continue,
 * n8n passes on the error as an item that holds nothing else. Some nodes put more beside it (Airtable: a
 * `message`; MySQL and Postgres in n8n 1: also the `item`), or an empty text (Supabase).
 */
export function checkNoFailedItem(context: IExecutePaginationFunctions): void {
	const items = (context.getExecuteData().data.main?.[0] ?? []).slice(0, itemCount(context));
	const failed = items.findIndex(({ json, error }) => error ?? holdsOnlyAnError(json));
	if (failed < 0) return;
	throw refuse(
		context,
		`Item ${failed} holds an error of a step before instead of terms, so the dictionary was left as it is`,
		"Without the terms of this item, the dictionary would lose them. Correct the step before, and run this node again. To go on without these terms, choose Add Missing in 'Mode', which removes nothing.",
	);
}

function holdsOnlyAnError(json: IDataObject): boolean {
	const { error, ...others } = json;
	const names = Object.keys(others);
	if (names.length === 0) return 'error' in json && (Boolean(error) || isBlank(error));
	return Boolean(error) && names.every((name) => BESIDE_ERROR.test(name));
}

const BESIDE_ERROR = /^(message|item|itemIndex)$/;

/** Refuses to replace a dictionary by the term of the one item that 'Execute Once' lets through. */
export function checkSeesAllItems(context: IExecutePaginationFunctions): void {
	if (context.getNode().executeOnce !== true || inputCount(context) === 1) return;
	throw refuse(
		context,
		"With 'Execute Once', n8n gives this node only the first item, and one term would replace all others",
		"Turn off 'Execute Once' in the settings of the node: Sync reads the terms of all items, and writes the dictionary at most once.",
	);
}
