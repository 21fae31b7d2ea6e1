import { createHash } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { nodeContextOf } from '../../../shared/n8nInternals/runIdentity';
import { askedFor, settingsFor } from './sameRequest';
import { memoryAt, placeOf, runOf } from './submissionMemory';

/** A recording that a key is given for. */
export interface KeyedRecording {
	/** A link, or what {@link isSame} finds the file by. */
	name: string;
	/** Whether the recording with another name is the same one. */
	isSame: (other: string) => Promise<boolean>;
}

/**
 * Whether the user gave this key for this recording only, in all runs of the node in this execution.
 * Stores only a hash of the key.
 */
export async function isKeyOf(
	context: IExecutePaginationFunctions,
	key: string,
	recording: KeyedRecording,
): Promise<boolean> {
	const nodeContext = nodeContextOf(context) as { keys?: Record<string, string> };
	const recordings = (nodeContext.keys ??= {});
	const name = createHash('sha256').update(key).digest('hex');
	const first = (recordings[name] ??= recording.name);
	return first === recording.name || (await recording.isSame(first));
}

/** Who asked with a key first: where, in which execution, and for what (see `settingsFor`). */
interface FirstUse {
	place: string;
	run: number;
	executionId: string;
	asked: string;
}

/**
 * Whether the user gave this key for one and the same request only, in all runs of the node in this
 * execution, apart from the file (see {@link isKeyOf}). What an earlier run asked for counts only if the service may have accepted it: in a loop,
 * the user corrects what was refused. What an earlier execution asked for counts only if the service
 * has accepted it: in a Retry the user may have changed it, and `checkUnchanged` decides.
 */
export function isKeyOfRequest(context: IExecutePaginationFunctions, key: string): boolean {
	const nodeContext = nodeContextOf(context) as { keyUses?: Record<string, FirstUse> };
	const uses = (nodeContext.keyUses ??= {});
	const name = createHash('sha256').update(key).digest('hex');
	const executionId = context.getExecutionId();
	const asked = settingsFor(context);
	const { index: run } = runOf(context);
	const first = uses[name];
	if (first) {
		const { state } = memoryAt(context, first.place) ?? {};
		const mayBeAccepted = state !== undefined || first.run === run;
		const counts = first.executionId === executionId ? mayBeAccepted : state === 'accepted';
		// Older executions hold what includes the file.
		if (counts) return [asked, askedFor(context)].includes(first.asked);
	}
	uses[name] = { place: placeOf(context), run, executionId, asked };
	return true;
}
