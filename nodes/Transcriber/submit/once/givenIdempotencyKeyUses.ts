import { createHash } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import {
	isTool,
	isUnrememberedCall,
	nodeContextOf,
} from '../../../shared/n8nInternals/runIdentity';
import { askedFor, settingsFor } from './sameRequest';
import { placeOf, runOf } from './placeInRun';
import { memoryAt } from './submissionMemory';

/** A recording that is submitted with the user's own Idempotency Key. */
export interface KeyedRecording {
	/** The link, or the name by which n8n stores the file. */
	name: string;
	/** Whether the recording with another name is the same one. */
	isSame: (other: string) => Promise<boolean>;
}

/** Where and when an item gave a key. */
interface Use {
	place: string;
	run: number;
	executionId: string;
}

/** The recording that a key was given for, and the items that gave it. */
interface KeyOwner {
	recording: string;
	uses: Use[];
}

/**
 * Whether the user gave this key for this recording only. What another run or execution gave it for
 * counts only if the service may have accepted that: the user corrects what was refused. Stores only
 * a hash of the key.
 */
export async function isKeyOf(
	context: IExecutePaginationFunctions,
	key: string,
	recording: KeyedRecording,
): Promise<boolean> {
	const nodeContext = nodeContextOf(context) as { keys?: Record<string, KeyOwner | string> };
	const owners = (nodeContext.keys ??= {});
	const name = createHash('sha256').update(key).digest('hex');
	const owner = owners[name];
	const use = useOf(context);
	// Older executions hold only the name of the recording, which always counts.
	const uses = typeof owner === 'object' ? owner.uses : undefined;
	if (!owner || uses?.every((earlier) => !mayCount(context, earlier))) {
		owners[name] = { recording: recording.name, uses: [use] };
		return true;
	}
	const first = typeof owner === 'object' ? owner.recording : owner;
	if (first !== recording.name && !(await recording.isSame(first))) return false;
	// The first item may be refused, and this one accepted.
	uses?.push(use);
	return true;
}

function useOf(context: IExecutePaginationFunctions): Use {
	const { index: run } = runOf(context);
	return { place: placeOf(context), run, executionId: context.getExecutionId() };
}

/** Whether the service may have accepted what this item sent, or may still do so. */
function mayCount(context: IExecutePaginationFunctions, { place, run, executionId }: Use): boolean {
	if (memoryAt(context, place)) return true;
	if (executionId !== context.getExecutionId()) return false;
	// Each tool call is a run, and an agent makes several at once.
	return isTool(context) || run === runOf(context).index;
}

/** Who asked with a key first, and for what (see `settingsFor`). */
interface FirstUse extends Use {
	asked: string;
	/** The same with the item, for the other items of the run. Older executions hold none. */
	askedWithItem?: string;
}

/**
 * Whether the user gave this key for one and the same request only, in all runs of the node in this
 * execution, apart from the file (see {@link isKeyOf}). What an earlier run asked for counts only if the
 * service may have accepted it: in a loop, the user corrects what was refused. What an earlier execution
 * asked for counts only if the service has accepted it: in a Retry the user may have changed it, and
 * `checkUnchanged` decides.
 */
export function isKeyOfRequest(context: IExecutePaginationFunctions, key: string): boolean {
	const nodeContext = nodeContextOf(context) as { keyUses?: Record<string, FirstUse> };
	const uses = (nodeContext.keyUses ??= {});
	const name = createHash('sha256').update(key).digest('hex');
	const { ofAnyItem: asked, ofItem: askedWithItem } = settingsFor(context);
	const use = useOf(context);
	const first = uses[name];
	if (first) {
		const { state } = memoryAt(context, first.place) ?? {};
		// What such a call has submitted, only the same call finds.
		const mayBeAccepted =
			state !== undefined || first.run === use.run || isUnrememberedCall(context);
		const counts = first.executionId === use.executionId ? mayBeAccepted : state === 'accepted';
		// Older executions hold what includes the file.
		const isSameRun = first.executionId === use.executionId && first.run === use.run;
		if (counts && isSameRun && first.askedWithItem) return first.askedWithItem === askedWithItem;
		if (counts) return [asked, askedFor(context)].includes(first.asked);
	}
	uses[name] = { ...use, asked, askedWithItem };
	return true;
}
