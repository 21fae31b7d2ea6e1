import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { inputCount, itemCount } from '../../item/inputItems';
import { refuse } from '../../../shared/parameters/refuse';
import { isSame } from './syncReport';
import { distinct } from './terms';
import { isTool, nodeContextOf, runIndexOf } from '../../../shared/n8nInternals/runIdentity';

/** What a node keeps in the execution while and after it makes the dictionary match its input. */
interface Replacement {
	/** The first run of the node that has done so, by its index. */
	run?: number;
	/** What the dictionary had before each write of which the outcome is not known. */
	had?: string[][];
}

function replacementOf(context: IExecutePaginationFunctions): Replacement {
	const memory = nodeContextOf(context) as { replacement?: Replacement };
	memory.replacement ??= {};
	return memory.replacement;
}

/**
 * To be called before the dictionary is written, even if that changes nothing. A try after a lost answer finds
 * the terms of the try before, and would report that it has removed none: `had` is what the dictionary had
 * before each of these tries. `withdraw`, if the service has certainly not written it; `end`, if it has.
 */
export function beginReplacement(context: IExecutePaginationFunctions, old: string[]) {
	const memory = replacementOf(context);
	const { run, had = [] } = memory;
	memory.run ??= runIndexOf(context);
	memory.had = [...had, old];
	return {
		had: memory.had,
		withdraw: () => void Object.assign(memory, { run, had }),
		end: () => void delete memory.had,
	};
}

/** The terms that tries with an unknown outcome may have removed from the dictionary. */
export function mayBeRemoved(context: IExecutePaginationFunctions, given: string[]): string[] {
	const { had = [] } = replacementOf(context);
	return distinct(had.flat()).filter((term) => !given.includes(term));
}

/**
 * Refuses to remove what an earlier run of this node has put there: in a loop, and with several wires
 * into the node, each run has only some of the items. An agent calls a tool as often as it likes.
 */
export function checkIsOnlyReplacement(context: IExecutePaginationFunctions, old: string[]): void {
	const { run, had = [] } = replacementOf(context);
	if (isTool(context) || run === undefined || run === runIndexOf(context)) return;
	// The write of the earlier run has changed nothing.
	if (had.some((terms) => isSame(terms, old))) return;
	throw refuse(
		context,
		'An earlier run of this node in this execution has synced the dictionary. This run would remove terms from it, so the dictionary was left as it is',
		"In a loop, or with several wires into this node, each run has only some of the terms. Place the node after the loop, or join the wires with a Merge node. Or choose Add Missing in 'Mode'. What the earlier run removed is in its output.",
	);
}

/**
 * Refuses to remove terms because a step before has failed for an item: with 'On Error' set to Continue,
 * n8n passes on the error as an item that holds nothing else.
 */
export function checkNoFailedItem(context: IExecutePaginationFunctions): void {
	const items = (context.getExecuteData().data.main?.[0] ?? []).slice(0, itemCount(context));
	const failed = items.findIndex(
		({ json, error }) => error ?? (Object.keys(json).join() === 'error' && json.error),
	);
	if (failed < 0) return;
	throw refuse(
		context,
		`Item ${failed} holds an error of a step before instead of terms, so the dictionary was left as it is`,
		"Without the terms of this item, the dictionary would lose them. Correct the step before, or remove items with an error with a Filter node. Or choose Add Missing in 'Mode'.",
	);
}

/** Refuses to replace a dictionary by the term of the one item that 'Execute Once' lets through. */
export function checkSeesAllItems(context: IExecutePaginationFunctions): void {
	if (context.getNode().executeOnce !== true || inputCount(context) === 1) return;
	throw refuse(
		context,
		"With 'Execute Once', n8n gives this node only the first item, and one term would replace all others",
		"Turn off 'Execute Once' in the settings of the node: Sync reads the terms of all items, and writes the dictionary at most once.",
	);
}
