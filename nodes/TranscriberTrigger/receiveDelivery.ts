import { createHash } from 'crypto';
import type {
	IDataObject,
	INodeExecutionData,
	IWebhookFunctions,
	IWebhookResponseData,
} from 'n8n-workflow';

import { withoutSecrets } from '../shared/api/redact';
import { ANSWER, Undecided, decidedBy } from '../shared/webhook/answerInTime';
import { logSeldom, wordForLog } from '../shared/webhook/logSeldom';
import { respond, deliveryFrom } from '../shared/webhook/hmacSignedBody';
import { webhookCredential } from '../shared/webhook/webhookCredential';
import { hasSucceeded } from '../shared/n8nInternals/executionSaved';
import { addressOfThisProcess } from '../shared/n8nInternals/processAddress';
import { submissionKey } from '../shared/api/submission';
import { remembered } from '../shared/processMemory';
import {
	eventIn,
	includesStatus,
	letterOf,
	storedNames,
	type DeliveredEvent,
} from './deliveredEvent';
import { Fetches, type Fetch } from './shareResultFetch';
import { NOT_ENDED, outputFor } from './triggerOutput';
import { settingsOf } from './triggerSettings';
import { watchSavedData } from './repairStaticData';
import type { Ending } from './triggerMemory';
import { BotStore } from './botStore';
import { proofOf, verifyDelivery } from './verifyDelivery';
import { wordOfService } from './askServiceWithoutSecret';

type FetchedOutput = Awaited<ReturnType<typeof outputFor>>;

const resultFetches = remembered<Fetch<FetchedOutput>>('resultFetches');

// That a task has not ended may be different a moment later.
const fetches = new Fetches(resultFetches, (outcome) => outcome !== NOT_ENDED);

/** Log lines. A stranger may cause them, too, so they quote nothing of the call. */
const UNSIGNED =
	'A call was refused, because its header X-Service-Signature is missing or malformed. If it came from the service, a proxy on the way has removed the header.';
const TOO_LARGE =
	'A call was refused, because its body is larger than 1 MB. If it came from the service, fetch the transcript with Transcript: Get Result.';
const FORGED =
	'A delivery was refused, because its signature does not fit. If it came from the service, something on the way has changed its body, or it is signed with another secret.';
const UNCONFIRMED =
	'A delivery was refused, because no secret for it can be read, and the service does not confirm what it says. If the workflow does not start, fetch the transcript with Transcript: Get Result.';
const UNKNOWN =
	"A delivery was refused for now, because the trigger has no secret for it yet. If this goes on, its recording may have been submitted without 'Start Another Workflow When Ready', for example with the address of this trigger under 'Call a URL When Ready'; or its secret is lost, or the Webhook Secret of the credential does not fit. Fetch its result with Transcript: Get Result.";

/** One call of the webhook. */
interface DeliveryCall {
	context: IWebhookFunctions;
	store: BotStore;
	/** When it must be answered, in ms since 1970. */
	deadline: number;
	/** See {@link addressOfThisProcess}. */
	ownAddress?: string;
}

/**
 * POST: a delivery of the service. Trusts nothing and starts no execution before the signature over
 * the raw body is verified (service document, "Authentication"). After every answer but 200 the
 * service tries again (service document, "Events"). Throws if nothing can be decided now, without
 * having changed anything.
 */
export async function receiveDelivery(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const deadline = Date.now() + ANSWER.withinMs;
	const ownAddress = addressOfThisProcess(context);
	const store = new BotStore(context);
	const call: DeliveryCall = { context, store, deadline, ownAddress };
	const delivery = await decidedBy(deliveryFrom(context), deadline);
	if ('refused' in delivery) {
		const { refused, message } = delivery;
		return refuse(context, refused, message, refused === 401 ? UNSIGNED : TOO_LARGE);
	}
	let verdict = verifyDelivery(
		delivery,
		store,
		await decidedBy(webhookCredential(context), deadline),
	);
	// The cached credential may be out of date: the user may just have changed the API key.
	if (verdict.kind === 'unreadable') {
		verdict = verifyDelivery(
			delivery,
			store,
			await decidedBy(webhookCredential(context, true), deadline),
		);
	}
	const proof = proofOf(delivery);
	switch (verdict.kind) {
		case 'forged':
			return refuse(context, 401, 'Signature refused', FORGED);
		case 'unknown':
			return refuse(context, 503, 'The secret for this delivery is not here yet', UNKNOWN);
		case 'repeat':
			if (store.isInFlight(verdict.name)) return respond(context, 503, 'Still in progress');
			store.keepEnding(verdict.name);
			return respond(context, 200, 'Known');
		case 'unreadable': {
			const { stored, mark } = verdict;
			const hadEnded = store.endingOf(stored.name) !== undefined;
			const event = await decidedBy(wordOfService(context, stored, delivery.body), deadline);
			// What has ended can only complete after all. The answer of the service may be older than the
			// delivery, so the service has to repeat it.
			if (!event || (hadEnded && event.status !== 'completed')) {
				return refuse(context, 401, 'Signature refused', UNCONFIRMED);
			}
			const { name } = stored;
			return await emit(call, event, { name, by: 'word', proof, mark });
		}
		case 'genuine': {
			const { by, spent, mark, ownSecret } = verdict;
			// A service may repeat the secret in any field.
			const shown = withoutSecrets(delivery.body, { webhookSecret: ownSecret });
			const event = eventIn(shown as IDataObject | undefined);
			if (!event) return refuseUndocumented(context, verdict.name);
			const { name = submissionKey(event) } = verdict;
			return await emit(call, event, { name, by, proof, mark, spent });
		}
	}
}

/** Starts an execution, once for each submission and final status. */
async function emit(
	{ context, store, deadline, ownAddress }: DeliveryCall,
	event: DeliveredEvent,
	{ name, ...ending }: Omit<Ending, 'statuses'> & { name: string },
): Promise<IWebhookResponseData> {
	const settings = settingsOf(context);
	// The parameters as entered: an expression may give another value at each repeat.
	const { id: nodeId, parameters } = context.getNode();
	const { taskId, botId, status } = event;
	// Imported workflows may have the same node ids, and accounts the same numbers as ids.
	const { id: workflowId } = context.getWorkflow();
	const facts = [workflowId, nodeId, taskId, botId, status, ending.by, parameters];
	const key = createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
	const fetchInTime = async () => {
		const start = async () => await outputFor(context, event, settings);
		return await fetches.take(key, start, deadline).catch((error: unknown) => {
			logUndelivered(context, event, error);
			throw new Undecided();
		});
	};
	if (settings.emitDuplicates && ending.by !== 'word') {
		// Two executions must not share items and files.
		if (fetches.isAwaited(key)) return respond(context, 503, 'Still in progress');
		const output = await fetchInTime();
		if (output === NOT_ENDED) return refuseUndocumented(context, name);
		const isNews = botId !== undefined && store.noteDelivered(botId);
		// After a wait for the service, only a later call saves it.
		if (isNews) watchSavedData(context, ownAddress);
		return output.items ? started(output.items) : notSelected(context, event);
	}
	// A repeat must not get a 200 before the first delivery has succeeded. That one may have come before
	// the hand-over, and be noted under another id.
	const names = [name, ...storedNames(event.body).map((stored) => stored.name)];
	if (names.some((one) => store.isInFlight(one))) {
		return respond(context, 503, 'Still in progress');
	}
	const before = store.endingOf(name)?.statuses;
	if (before !== undefined && includesStatus(before, event.status)) {
		store.keepEnding(name);
		return respond(context, 200, 'Known');
	}

	store.open(name);
	let isDecided = false;
	try {
		const output = await fetchInTime();
		if (output === NOT_ENDED) return refuseUndocumented(context, name);
		const letters = `${before ?? ''}${letterOf(output.status)}`;
		store.end(name, { ...ending, statuses: letters });
		isDecided = true;
		watchSavedData(context, ownAddress);
		if (!output.items) {
			await store.close(name, true);
			return notSelected(context, event);
		}
		void hasSucceeded(context).then(async (succeeded) => await store.close(name, succeeded));
		return started(output.items);
	} finally {
		if (!isDecided) store.leave(name);
	}
}

/** Answers a delivery that 'Trigger On' does not name, and one for which the trigger is no longer there. */
function notSelected(
	context: IWebhookFunctions,
	{ taskId, botId }: DeliveredEvent,
): IWebhookResponseData {
	const isForMeeting = context.getNodeParameter('source', 'submissions') === 'meeting';
	if (isForMeeting && botId === undefined) {
		const line = `Task ${taskId} has ended, but starts nothing, because 'Source' is One Meeting now. Fetch its transcript with Transcript: Get Result.`;
		logSeldom(context, 'warn', `${context.getNode().name}: ${line}`);
	}
	return respond(context, 200, 'Not selected');
}

function started(items: INodeExecutionData[]) {
	return { workflowData: [items], webhookResponse: { message: 'Accepted' } };
}

/** Answers a call that starts nothing, and writes the reason into n8n's log. */
function refuse(
	context: IWebhookFunctions,
	status: number,
	message: string,
	line: string,
): IWebhookResponseData {
	logSeldom(context, 'warn', `${context.getNode().name}: ${line}`);
	return respond(context, status, message);
}

/** `name`: of a submission that the store knows, with its id. */
function refuseUndocumented(
	context: IWebhookFunctions,
	name = 'a recording',
): IWebhookResponseData {
	const line = `A delivery for ${name} was refused, because it is not as documented, or its recording has not ended. If the workflow does not start, fetch the transcript with Transcript: Get Result (a bot's task ID comes from Meeting: Get).`;
	return refuse(context, 400, 'Not a delivery as documented', line);
}

/** If the service does not deliver again, nothing else tells the user of this transcript. */
function logUndelivered(
	context: IWebhookFunctions,
	{ taskId, botId }: DeliveredEvent,
	error: unknown,
): void {
	const [which, how] =
		taskId === undefined
			? [`bot ${botId}`, 'Meeting: Get and Transcript: Get Result']
			: [`task ${taskId}`, 'Transcript: Get Result'];
	const reason =
		error instanceof Undecided
			? 'the result takes longer than a delivery may wait'
			: wordForLog(error);
	const line = `A delivery for ${which} could not start the workflow yet, so the service has to repeat it. If it does not, fetch the transcript with ${how}. The reason: ${reason}`;
	logSeldom(context, 'warn', `${context.getNode().name}: ${line}`);
}
