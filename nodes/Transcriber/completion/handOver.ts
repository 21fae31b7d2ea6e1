import type { IExecutePaginationFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import type { NodeOperationError } from 'n8n-workflow';

import { checkWebhookUrl, refuse } from '../request/checks';
import { credentialOf } from '../request/credential';
import { Line } from '../request/limits';
import { pause, type RoutingRequest } from '../request/service';
import { sealHandOvers, type HandOver } from './envelope';

export const HAND_OVER = {
	/** Between two attempts, in ms: longer than the trigger needs to be sure of what it has stored. */
	interval: 1_100,
	/** How long the trigger may take to store a secret, or to become reachable again, in ms. */
	patience: 60_000,
	/** How long a trigger that was just switched on may answer 404, in ms. */
	patienceWhenNotActive: 10_000,
	/** How long a trigger may not know of a new API key yet, in ms. */
	patienceWhenRefused: 3_000,
	timeout: 10_000,
	/** The most in one request. */
	batch: 100,
};

/** What waits to be handed over to one trigger. */
interface Outbox {
	/** One request at a time: it costs n8n as much as an execution, however much is in it. */
	line: Line;
	next?: Batch;
}

interface Batch {
	handOvers: HandOver[];
	reply: Promise<Reply>;
}

const outboxes = new Map<string, Outbox>();

/** 'Trigger URL' as it is sent to the service. Refuses what cannot be the address of a trigger. */
export function checkTriggerUrl(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	triggerUrl: string,
): void {
	checkWebhookUrl(context, request, triggerUrl, 'Trigger URL');
	if (/\/transcriber\/?$/.test(new URL(triggerUrl).pathname)) return;
	throw refuse(
		context,
		`'Trigger URL' is not the address of a Transcriber Trigger: '${triggerUrl}'`,
		'Copy the Production URL (or, for a test, the Test URL) from the Transcriber Trigger node. It ends in /transcriber.',
	);
}

/**
 * Hands the secret of a submission to the trigger that gets its deliveries. Returns when the
 * trigger has it durably: it says so itself, since n8n saves what a webhook stores only after
 * the answer. The API key is not sent along: it has sealed the secret.
 */
export async function handOver(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	id: string,
	secret: string,
): Promise<void> {
	const { apiKey } = await credentialOf(context);
	const cancelled = context.getExecutionCancelSignal();
	const start = Date.now();
	for (;;) {
		const reply = await send(context, triggerUrl, apiKey, { id, secret });
		if (reply.stored) return;
		const passed = Date.now() - start;
		if (passed + HAND_OVER.interval > patienceFor(reply)) throw notTold(context, id, reply);
		await pause(HAND_OVER.interval, cancelled);
	}
}

/** Sends a hand-over together with all that wait for the same trigger. */
async function send(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	apiKey: string,
	handOver: HandOver,
): Promise<Reply> {
	const place = JSON.stringify([triggerUrl, apiKey]);
	const outbox: Outbox = outboxes.get(place) ?? {
		line: new Line(
			() => 1,
			() => 0,
		),
	};
	outboxes.set(place, outbox);
	let batch = outbox.next;
	if (!batch || batch.handOvers.length >= HAND_OVER.batch) {
		const handOvers: HandOver[] = [];
		const reply = outbox.line.take().then(async (leave) => {
			if (outbox.next?.handOvers === handOvers) outbox.next = undefined;
			const sealed = sealHandOvers(apiKey, triggerUrl, handOvers);
			return await put(context, triggerUrl, sealed).finally(leave);
		});
		batch = { handOvers, reply };
		outbox.next = batch;
	}
	batch.handOvers.push(handOver);
	return await unlessCancelled(batch.reply, context.getExecutionCancelSignal());
}

async function unlessCancelled<T>(work: Promise<T>, cancelled?: AbortSignal): Promise<T> {
	return await new Promise<T>((resolve, reject) => {
		const stop = () => reject(cancelled?.reason);
		cancelled?.addEventListener('abort', stop, { once: true });
		work.then(resolve, reject).finally(() => cancelled?.removeEventListener('abort', stop));
	});
}

/** What the trigger answered. No status: nothing did. */
interface Reply {
	status?: number;
	stored?: boolean;
}

async function put(
	context: IExecutePaginationFunctions,
	url: string,
	sealed: string,
): Promise<Reply> {
	try {
		const answer: IN8nHttpFullResponse = await context.helpers.httpRequest({
			method: 'PUT',
			url,
			body: { sealed },
			json: true,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			returnFullResponse: true,
			timeout: HAND_OVER.timeout,
		});
		const { stored } = (answer.body ?? {}) as { stored?: unknown };
		return {
			status: answer.statusCode,
			stored: typeof stored === 'boolean' ? stored : undefined,
		};
	} catch {
		return {};
	}
}

function patienceFor({ status, stored }: Reply): number {
	if (status === 404) return HAND_OVER.patienceWhenNotActive;
	if (status === 401) return HAND_OVER.patienceWhenRefused;
	const isWorthAnotherTry =
		stored === false || status === undefined || status === 429 || status >= 500;
	return isWorthAnotherTry ? HAND_OVER.patience : 0;
}

function notTold(
	context: IExecutePaginationFunctions,
	id: string,
	reply: Reply,
): NodeOperationError {
	const [reason, next] = whatIsWrong(reply);
	return refuse(
		context,
		`The Transcriber Trigger could not be told about ${id}: ${reason}`,
		`${next} What was submitted goes on at the service and is not lost: fetch its result with Task: Wait Until Finished (a bot's task ID comes from Meeting: Get).`,
	);
}

function whatIsWrong({ status, stored }: Reply): [reason: string, next: string] {
	if (status === undefined) {
		return [
			'n8n cannot reach its address',
			"Check 'Trigger URL', and whether n8n may call its own public address.",
		];
	}
	if (status === 404) {
		return [
			'its workflow is not active',
			"Publish (activate) the workflow of the trigger, or copy its address into 'Trigger URL' again. A Test URL works only for two minutes after 'Execute step' of the trigger.",
		];
	}
	if (status === 401) {
		return [
			'it does not accept what this node has sealed',
			'Choose the same credential in both nodes: they have to have the same API key.',
		];
	}
	if (stored === false) {
		return [
			'it has not confirmed within a minute that the secret is stored',
			'Check whether the database of n8n is writable and not overloaded.',
		];
	}
	return [
		`its address answered HTTP ${status}, but not as a Transcriber Trigger does`,
		"Copy the address from the Transcriber Trigger node into 'Trigger URL' again.",
	];
}
