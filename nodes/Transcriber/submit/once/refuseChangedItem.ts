import type { IBinaryData, IExecutePaginationFunctions } from 'n8n-workflow';

import { isTool } from '../../../shared/n8nInternals/runIdentity';
import { againAdvice, sentKeyOf } from '../../item/givenIdempotencyKey';
import { fileOf } from '../../item/inputFile';
import { goesOnAfterErrors, refuseForGood } from '../../item/itemFailure';
import { WAIT_OPERATIONS } from '../../item/retryAdvice';
import { derivedKey, isOfFile } from './idempotencyKey';
import { LOOK_FOR_SUBMISSION } from './mayBeAccepted';
import { askedFor, fileIn, settingsFor } from './sameRequest';
import { deliveryAddress, onCompletionOf } from '../choice/onCompletion';
import { recall, submissionNames, type AcceptedMemory, type SentMemory } from './submissionMemory';

/**
 * Refuses an item that now asks for something other than what was submitted. Only n8n's Retry can
 * cause that: with the currently saved workflow, or if a node before this one has run again.
 * Returning the earlier task would be wrong, and submitting again could charge twice for what the
 * user wants once.
 */
export async function checkUnchanged(context: IExecutePaginationFunctions): Promise<void> {
	const memory = recall(context);
	// A tool call that asks for something else is another call.
	if (memory?.state !== 'accepted' || isTool(context)) return;
	if (memory.executionId === context.getExecutionId()) return;
	const names = submissionNames(context, memory).join(', ');
	if (memory.asked !== undefined && memory.asked !== askedFor(context)) {
		if (await isDownloadedAgain(context, memory)) return checkAddress(context, memory, names);
		const message = `This item was changed after ${names} had been accepted for it, so the change is not submitted`;
		const forNow = `Fetch that with ${WAIT_OPERATIONS}. For what the item asks for now, submit this item alone in a new execution.`;
		// n8n offers a Retry only of an execution that an error has stopped.
		const undo = goesOnAfterErrors(context)
			? ''
			: "Undo the change, save the workflow, and choose 'Retry with currently saved workflow': that goes on with what the service has accepted. Or: ";
		const advice = againAdvice(context, `${undo}${forNow}`);
		throw refuseForGood(context, message, advice);
	}
	checkAddress(context, memory, names);
}

/** Whether only the name by which n8n stores the file is another one. */
async function isDownloadedAgain(
	context: IExecutePaginationFunctions,
	{ fingerprint }: AcceptedMemory,
): Promise<boolean> {
	if (fingerprint === undefined) return false;
	const file = fileIn(context);
	return file !== undefined && (await derivedKey(context, file)) === fingerprint;
}

/**
 * Refuses a file whose answer was lost and whose item was changed since: with the same
 * Idempotency-Key the service would return the task of the earlier request.
 */
export function checkUnchangedSince(
	context: IExecutePaginationFunctions,
	{ executionId, asked }: SentMemory,
): void {
	if (isTool(context) || asked === undefined) return;
	if (executionId === context.getExecutionId() || asked === askedFor(context)) return;
	// n8n offers a Retry only of an execution that an error has stopped.
	const advice = goesOnAfterErrors(context)
		? LOOK_FOR_SUBMISSION
		: "Undo the change, save the workflow, and choose 'Retry with currently saved workflow': if the service has the file, its task is continued and not paid twice. For what the item asks for now, submit this item alone in a new execution.";
	throw refuseForGood(
		context,
		'This item was changed after it had been sent, and it is not known whether the service accepted it',
		againAdvice(context, advice),
	);
}

/**
 * The key that a file was sent with before, if a step before the node has downloaded it again: n8n stores it by
 * another name. Refuses it as {@link checkUnchangedSince} does, and also another file with the same key of the
 * user, which would get the task of the first.
 */
export async function keyOfDownloadedAgain(
	context: IExecutePaginationFunctions,
	recording: IBinaryData,
	stopped: AbortSignal,
): Promise<string | undefined> {
	const memory = recall(context);
	if (memory?.state !== 'sent' || isOfFile(memory, fileOf(recording))) return undefined;
	const { key, settings, fingerprint = key } = memory;
	if (settings === undefined) return undefined;
	const isSame = fingerprint === (await derivedKey(context, recording, stopped, settings));
	if (isSame && settings !== settingsFor(context).ofItem) checkUnchangedSince(context, memory);
	if (!isSame && key === sentKeyOf(context)) throw otherFile(context);
	return isSame ? key : undefined;
}

function otherFile(context: IExecutePaginationFunctions): Error {
	return refuseForGood(
		context,
		"The file is another one than the one that was sent with this 'Idempotency Key', and it is not known whether the service accepted that one",
		'With the same key, the service returns the task of the first file. If this is the same recording, submit this item alone in a new execution with the same key: that costs nothing if the service has it. If it is another recording, change the key for that.',
	);
}

/** The parameter with the address that gets the webhook instead of this node, if there is one. */
export function nameOfAddress(context: IExecutePaginationFunctions): string | undefined {
	const onCompletion = onCompletionOf(context);
	if (onCompletion === 'notifyTrigger') return 'Trigger URL';
	return onCompletion === 'callUrl' ? 'Webhook URL' : undefined;
}

/** The service delivers only to the address given at the submit. */
function checkAddress(
	context: IExecutePaginationFunctions,
	{ deliversTo }: AcceptedMemory,
	names: string,
): void {
	const address = nameOfAddress(context);
	if (!address || deliversTo === undefined || deliversTo === deliveryAddress(context)) return;
	throw refuseForGood(
		context,
		deliversTo === ''
			? `The service reports ${names} to no address, and not to '${address}'`
			: `The service reports ${names} to a different address than '${address}': '${withoutQuery(deliversTo)}'`,
		`It was submitted like that, and the service cannot be given another address. Fetch its result with ${WAIT_OPERATIONS}.`,
	);
}

/** Without the query, which may hold a secret. */
function withoutQuery(address: string): string {
	if (!URL.canParse(address)) return address;
	const { origin, pathname } = new URL(address);
	return `${origin}${pathname}`;
}
