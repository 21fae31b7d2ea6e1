import { createHash } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { unlessAborted } from '../../../shared/api/deadlines';
import { Queue } from '../../../shared/api/waitForTurn';
import { remembered } from '../../../shared/processMemory';
import { sealHandOvers, type HandOver } from '../../../shared/webhook/handOverEnvelope';
import { put, type Reply } from './triggerReply';

/** The most hand-overs in one request. */
const MOST_IN_BATCH = 100;

/** Secrets that wait to be handed over to one trigger. */
interface Outbox {
	/** One request at a time: each costs n8n as much as an execution, whatever its size. */
	queue: Queue;
	next?: Batch;
}

interface Batch {
	handOvers: HandOver[];
	reply: Promise<Reply>;
}

/** By trigger and API key, while something waits. */
const outboxes = remembered<Outbox>('outboxes');

/** A hash, so that the API key itself is never kept. */
export function outboxKey(triggerUrl: string, apiKey: string): string {
	return createHash('sha256')
		.update(JSON.stringify([triggerUrl, apiKey]))
		.digest('base64url');
}

/** Sends a hand-over together with all others that wait for the same trigger. */
export async function sendInBatch(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	apiKey: string,
	handOver: HandOver,
): Promise<Reply> {
	// A trigger of version 0.1.0 refuses a whole request with one hand-over that has no secret.
	const key = `${outboxKey(triggerUrl, apiKey)} ${String(handOver.secret !== undefined)}`;
	const outbox: Outbox = outboxes.get(key) ?? {
		queue: new Queue(
			() => 1,
			() => 0,
		),
	};
	outboxes.set(key, outbox);
	let batch = outbox.next;
	if (!batch || batch.handOvers.length >= MOST_IN_BATCH) {
		const handOvers: HandOver[] = [];
		const reply = outbox.queue.take().then(async (leave) => {
			if (outbox.next?.handOvers === handOvers) outbox.next = undefined;
			try {
				return await put(context, triggerUrl, sealHandOvers(apiKey, triggerUrl, handOvers));
			} finally {
				leave();
				if (outbox.next === undefined) outboxes.delete(key);
			}
		});
		batch = { handOvers, reply };
		outbox.next = batch;
	}
	batch.handOvers.push(handOver);
	return await unlessAborted(batch.reply, context.getExecutionCancelSignal());
}
