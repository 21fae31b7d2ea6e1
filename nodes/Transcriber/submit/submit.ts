import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { jsonOf } from '../../shared/jsonValues';
import { credentialOf } from '../../shared/api/credential';
import { unseal } from '../../shared/webhook/sealedSecret';
import { readRefusal, reasonOfNo } from '../../shared/api/refusalBody';
import { withoutSecrets } from '../../shared/api/redact';
import { NAMELESS, idFields, idsIn, submissionKey } from '../../shared/api/submission';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { isRefused, saysNotAccepted } from '../../shared/api/undocumented/submissions';
import { startsIn } from '../../shared/api/statusMeaning';
import { asLasting, refuse } from '../../shared/parameters/refuse';
import type { NodeRun } from '../item/nodeRun';
import { failedItem, goesOnAfterErrors, inOutput } from '../item/itemFailure';
import { checkBalance, finishedTask } from '../wait/finishedTask';
import { forEachTask } from '../item/forEachTask';
import { handSecretOver } from './trigger/handSecretOver';
import { onCompletionOf } from './choice/onCompletion';
import {
	SUBMISSION_SECRET,
	submissionIds,
	submissionNames,
	type AcceptedMemory,
	type Submitted,
} from './once/submissionMemory';
import { submitOnce, type Outcome } from './once/submitOnce';
import { endedBeforeSubmit } from './once/endedBeforeSubmit';
import { checkUnchanged } from './once/refuseChangedItem';
import { isYoung } from './suspension/lookBeforeSuspending';
import { awaitDeliveries } from './suspension/suspendUntilDelivery';

/**
 * Carries out transcribeFile, transcribeUrl and sendBot: submits an item only once, even in a
 * repeated run, then does what 'Get the Transcript' says with each task that the service created.
 */
export async function submit(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	return await finish(context, await submitOnce(context, request, policy, run), run);
}

/** Does with each task that the service created what 'Get the Transcript' says. */
async function finish(
	context: IExecutePaginationFunctions,
	outcome: Outcome,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const { accepted, isFresh } = outcome;
	run.submitted.accept(context.getItemIndex(), submissionNames(context, accepted));
	await checkUnchanged(context);
	const all = accepted.submissions.map(({ answer }, index): Submitted => {
		// A remembered answer identifies the task, but does not show its present state.
		const ids = submissionIds(context, answer);
		const known = isFresh ? answer : idFields(ids);
		return { index, answer, ids, state: { ...known, ...scheduledStart(answer, accepted) } };
	});
	const named = all.filter(isNamed);
	const isNameless = (task: Submitted) =>
		!isNamed(task) && !isRefusedOfSeveral(task.answer, all.length);
	const count = { of: all.length, hasAccepted: named.length > 0 || all.some(isNameless) };
	const unnamed = all
		.filter((task) => !isNamed(task))
		// First what is paid for and cannot be found: of several errors, a node that stops shows one.
		.sort((one, other) => Number(isNameless(other)) - Number(isNameless(one)))
		.map(({ answer }) => withoutId(context, answer, count));
	if (unnamed.length > 0) run.submitted.endWithoutTranscript(NAMELESS);
	if (all.some(isNameless)) run.submitted.mayBeAccepted(context.getItemIndex());
	const rowsOfUnnamed = () => unnamed.map((failure) => failedItem(context, failure, run));
	const goesOn = goesOnAfterErrors(context);
	const isPartlyAccepted = named.length === 0 && count.hasAccepted && unnamed.length > 1;
	// While the execution is suspended, an item must not output an error: see `performOperation`.
	const mayOutputErrors = goesOn && onCompletionOf(context) !== 'awaitWebhook';
	if (isPartlyAccepted && mayOutputErrors) return rowsOfUnnamed();
	const problem = named.length === 0 || !goesOn ? unnamed[0] : undefined;
	const refusal = problem ?? (await endedBeforeSubmit(context, named, outcome));
	if (refusal && onCompletionOf(context) === 'notifyTrigger') {
		// If a webhook comes after all, the trigger can check it.
		await Promise.allSettled(
			named.map(async ({ index }) => await handSecretOver(context, index, 'new')),
		);
	}
	if (refusal) throw refusal;
	const output = await complete(context, named, outcome, run).catch((error: unknown) => {
		context.getExecutionCancelSignal()?.throwIfAborted();
		// The others of the item have their own outcomes.
		if (unnamed.length > 0 && mayOutputErrors) return [failedItem(context, error, run)];
		throw error;
	});
	return [...output, ...rowsOfUnnamed()];
}

async function complete(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	outcome: Outcome,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const { accepted, isFresh, isRepeat } = outcome;
	const answers = await shownAnswers(context, tasks, outcome);
	switch (onCompletionOf(context)) {
		case 'poll':
			// A run that will fail does so now, not after waiting for the other items.
			if (!goesOnAfterErrors(context)) {
				for (const { state, ids } of tasks) checkBalance(context, state, ids);
				await run.waitForAll('submitted', context.getItemIndex());
				if (run.hasFailed()) return answers;
			}
			return await forEachTask(
				context,
				run,
				tasks,
				async ({ state }) => await finishedTask(context, state, { run }),
			);
		case 'awaitWebhook':
			return await awaitDeliveries(context, tasks, outcome, run);
		case 'notifyTrigger': {
			const answered = isYoung(accepted) ? 'new' : 'slow';
			const fresh = isRepeat ? 'repeated' : answered;
			const age = isFresh ? fresh : 'earlier';
			return await forEachTask(context, run, tasks, async ({ index, answer }) => {
				await handSecretOver(context, index, age);
				return [{ json: withoutSecrets(answer, {}) as IDataObject }];
			});
		}
		default:
			return answers;
	}
}

/**
 * The answers as they are output: with the webhook_secret only for Call a URL. A Retry may have another
 * choice than the execution that has submitted.
 */
async function shownAnswers(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	{ accepted }: Outcome,
): Promise<INodeExecutionData[]> {
	if (onCompletionOf(context) !== 'callUrl') {
		return tasks.map(({ answer }) => ({ json: withoutSecrets(answer, {}) as IDataObject }));
	}
	const { apiKey } = await credentialOf(context);
	return tasks.map(({ index, answer }) => {
		const { sealedSecret = '' } = accepted.submissions[index] ?? {};
		const binding = submissionKey(idsIn(answer));
		const secret = unseal(apiKey, SUBMISSION_SECRET, binding, sealedSecret);
		return { json: { ...answer, ...(secret !== undefined && { webhook_secret: secret }) } };
	});
}

function isNamed({ ids }: Submitted): boolean {
	return ids.taskId !== undefined || ids.botId !== undefined;
}

/** When a bot starts, in ms since 1970: the later of what was sent and what the service answered. */
function scheduledStart(answer: IDataObject, { startAt }: AcceptedMemory): IDataObject {
	const starts = [answer, { scheduled_start_at: startAt }].flatMap((at) =>
		startsIn(at).slice(0, 1),
	);
	return starts.length > 0 ? { scheduled_start_at: Math.max(...starts) } : {};
}

/** Whether the service refused one of several recordings. An answer about a single one is a success. */
function isRefusedOfSeveral(answer: IDataObject, count: number): boolean {
	return count > 1 && isRefused(answer);
}

/** What the service accepted without an id, or refused as one of several. */
function withoutId(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
	count: { of: number; hasAccepted: boolean },
): NodeOperationError {
	const answered = withoutSecrets(answer, {}) as IDataObject;
	const said = `The service answered: ${jsonOf(answered).slice(0, 300)}.`;
	if (isRefusedOfSeveral(answer, count.of)) {
		const { serviceMessage = 'without a reason' } = readRefusal(answered);
		return asLasting(
			refuse(
				context,
				`The service refused one of the recordings: ${serviceMessage}`,
				count.hasAccepted
					? `${said} Fetch the accepted ones with Transcript: Wait Until Finished.`
					: `${said} It accepted none of them. To try again, submit this item alone in a new execution.`,
			),
		);
	}
	const isRefusal = saysNotAccepted(answer);
	const message = isRefusal
		? `The service answered with a success, but without an id, and says: ${reasonOfNo(answered)}`
		: 'The service answered that this item is accepted, but without an id';
	const isBot = context.getNodeParameter('operation', '') === 'sendBot';
	const find = isBot
		? 'Look in your account at the service for the bot and its id, then fetch its transcript with Meeting: Wait Until Transcribed.'
		: 'Look in your account at the service (or with Transcript: Get Many and Return All) for its id, then fetch it with Transcript: Wait Until Finished.';
	const what = count.of > 1 ? 'a link to this recording' : 'this item';
	const ifNotThere = isRefusal
		? ` If it is not there, correct what the service names, and submit ${what} alone in a new execution.`
		: '';
	const advice = `It is not submitted again, because that could cost twice. ${said} ${find}${ifNotThere}`;
	return asLasting(refuse(context, inOutput(context, message, advice), advice));
}
