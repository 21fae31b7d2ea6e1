import type { IExecutePaginationFunctions, IN8nHttpFullResponse } from 'n8n-workflow';

import { answeredWithin } from '../../../shared/api/deadlines';
import { logSeldom, wordForLog } from '../../../shared/webhook/logSeldom';
import {
	NOT_OPENED,
	STALE,
	UNDECIDED,
	UNUSABLE_ID,
	type SubmissionKind,
} from '../../../shared/webhook/handOverEnvelope';

/** How long a Transcriber Trigger may take to answer, in ms. */
export const REPLY = { maxMs: 10_000 };

/** What the trigger answered. Without `status`, nothing answered. */
export interface Reply {
	status?: number;
	stored?: boolean;
	/** The trigger cannot open the hand-over. */
	isNotOpened?: boolean;
	/** The hand-over is too old, or comes from the future. */
	isStale?: boolean;
	/** The hand-over has no secret, and the trigger takes none without. */
	needsSecret?: boolean;
	/** The trigger would refuse each delivery for this id. */
	isIdUnusable?: boolean;
	/** The trigger could not process the hand-over. */
	isUndecided?: boolean;
	/** What is wrong with the parameters of the trigger. */
	reason?: string;
}

/**
 * Sends one sealed batch of hand-overs to a trigger: up to 100, or none as a check for a submission of
 * this kind. Never throws.
 */
export async function put(
	context: IExecutePaginationFunctions,
	url: string,
	sealed: string,
	checkFor?: SubmissionKind,
): Promise<Reply> {
	try {
		const answering: Promise<IN8nHttpFullResponse> = context.helpers.httpRequest({
			method: 'PUT',
			url,
			body: { sealed, checkFor },
			json: true,
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			returnFullResponse: true,
			timeout: REPLY.maxMs,
		});
		// `timeout` bounds only the silence between two parts of an answer.
		const answer = await answeredWithin(answering, REPLY.maxMs);
		const { stored, message } = (answer.body ?? {}) as { stored?: unknown; message?: unknown };
		return {
			status: answer.statusCode,
			stored: typeof stored === 'boolean' ? stored : undefined,
			isNotOpened: answer.statusCode === 401 && message === NOT_OPENED,
			isStale: answer.statusCode === 401 && message === STALE,
			isIdUnusable: answer.statusCode === 400 && message === UNUSABLE_ID,
			isUndecided: answer.statusCode === 503 && message === UNDECIDED,
			// Something other than a trigger may answer.
			reason:
				answer.statusCode === 422 && typeof message === 'string'
					? message.slice(0, 300)
					: undefined,
		};
	} catch (error) {
		const { name } = context.getNode();
		const words = wordForLog(error);
		logSeldom(context, 'warn', `${name}: no answer from the address in 'Trigger URL': ${words}`);
		return {};
	}
}

/** The error text for a trigger that has not stored a hand-over. */
export function whatIsWrong({
	status,
	stored,
	isNotOpened,
	isStale,
	needsSecret,
	isIdUnusable,
	isUndecided,
	reason,
}: Reply): [reason: string, next: string] {
	if (status === undefined) {
		return [
			'n8n cannot reach its address',
			"Check 'Trigger URL', and whether n8n may call its own public address (with N8N_SSRF_PROTECTION_ENABLED, add it to N8N_SSRF_ALLOWED_HOSTNAMES).",
		];
	}
	if (status === 404) {
		return [
			'its workflow is not active',
			"Publish (activate) the workflow of the trigger, or copy its address into 'Trigger URL' again. A Test URL works only for two minutes after 'Execute step' of the trigger.",
		];
	}
	if (isStale) {
		return [
			'the clocks of the two machines differ by more than a minute',
			'Set the clocks of both n8n machines, for example with NTP.',
		];
	}
	if (needsSecret) {
		return [
			'it has another API key, or an older version of it needs a webhook_secret, which the service did not give or which cannot be read any more',
			'Choose the same credential in both nodes: they have to have the same API key. If they have, update the package n8n-nodes-transcriber in the n8n of the trigger.',
		];
	}
	if (isNotOpened) {
		return [
			'it has another API key',
			'Choose the same credential in both nodes: they have to have the same API key.',
		];
	}
	if (reason !== undefined) {
		return [
			`its own parameters cannot be used: ${reason}`,
			// To change the trigger of a meeting would cancel its bot.
			reason.includes('One Meeting')
				? 'Add another Transcriber Trigger in another workflow, and enter the address of that one.'
				: 'Correct the parameter in the Transcriber Trigger node, then publish its workflow again (n8n 1: activate it).',
		];
	}
	if (isIdUnusable) {
		return [
			"it accepts no delivery for an id like this, because it is longer than 256 characters, or only '.' or '..'",
			"Choose Wait for the Transcript (Polling) in 'Get the Transcript'.",
		];
	}
	if (isUndecided) {
		return [
			'it could not process the call',
			'Check the credential of the Transcriber Trigger node. If the credential is usable, the log of its n8n says more.',
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
		"Copy the address from the Transcriber Trigger node into 'Trigger URL' again. If it is right, a proxy or firewall in front of n8n may not let PUT requests through, which the hand-over needs.",
	];
}
