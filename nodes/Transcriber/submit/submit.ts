import type { IDataObject, IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { credentialOf } from '../../shared/api/credential';
import { unseal } from '../../shared/webhook/sealedSecret';
import { withoutSecrets } from '../../shared/api/redact';
import { idFields, idsIn, submissionKey } from '../../shared/api/submission';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { startsIn } from '../../shared/api/statusMeaning';
import type { NodeRun } from '../item/nodeRun';
import { failedItem, goesOnAfterErrors } from '../item/itemFailure';
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
import { endedBeforeSubmit, type SubmissionAge } from './once/endedBeforeSubmit';
import { checkUnchanged } from './once/refuseChangedItem';
import { isYoung } from './suspension/lookBeforeSuspending';
import { awaitDeliveries } from './suspension/suspendUntilDelivery';
import { isNamed, isNameless, sayAlso, withoutIds } from './withoutIds';

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
	const unnamed = withoutIds(context, all, run);
	const rowsOfUnnamed = () => unnamed.map((failure) => failedItem(context, failure, run));
	const goesOn = goesOnAfterErrors(context);
	// While the execution is suspended, an item must not output an error: see `performOperation`.
	const mayOutputErrors = goesOn && onCompletionOf(context) !== 'awaitWebhook';
	const isPartlyAccepted = named.length === 0 && all.some((task) => isNameless(task, all));
	if (isPartlyAccepted && unnamed.length > 1 && mayOutputErrors) return rowsOfUnnamed();
	const [problem, ...others] = named.length === 0 || !goesOn ? unnamed : [];
	if (problem) {
		const { errors } = await endedBeforeSubmit(context, named, outcome, run);
		await handOverBeforeFailing(context, named, outcome);
		sayAlso(context, problem, [...others, ...errors]);
		throw problem;
	}
	const output = await completeUnlessEnded(context, named, outcome, run).catch((error: unknown) => {
		context.getExecutionCancelSignal()?.throwIfAborted();
		// The others of the item have their own outcomes.
		if (unnamed.length > 0 && mayOutputErrors) return [failedItem(context, error, run)];
		sayAlso(context, error, unnamed);
		throw error;
	});
	return [...output, ...rowsOfUnnamed()];
}

/** If a webhook comes although the item fails, the trigger can check it. */
async function handOverBeforeFailing(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	outcome: Outcome,
): Promise<void> {
	if (onCompletionOf(context) !== 'notifyTrigger') return;
	const age = ageOf(outcome);
	await Promise.allSettled(
		tasks.map(async ({ index }) => await handSecretOver(context, index, age)),
	);
}

/** The same as {@link complete}. Each task that had ended before the submit is an error beside the others. */
async function completeUnlessEnded(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	outcome: Outcome,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const ended = await endedBeforeSubmit(context, tasks, outcome, run);
	const [failure, ...others] = ended.errors;
	if (!failure) return await complete(context, tasks, outcome, run);
	if (tasks.length === 1 || !goesOnAfterErrors(context)) {
		await handOverBeforeFailing(context, tasks, outcome);
		sayAlso(context, failure, others);
		throw failure;
	}
	const hadEnded = ({ index }: Submitted) => ended.indexes.has(index);
	await handOverBeforeFailing(context, tasks.filter(hadEnded), outcome);
	const left = tasks.filter((task) => !hadEnded(task));
	const output = await complete(context, left, outcome, run).catch((error: unknown) => {
		context.getExecutionCancelSignal()?.throwIfAborted();
		return [failedItem(context, error, run)];
	});
	return [...output, ...ended.errors.map((error) => failedItem(context, error, run))];
}

/** How old what was submitted is, for its trigger. */
function ageOf({ accepted, isFresh, isRepeat }: Outcome): 'new' | SubmissionAge {
	if (!isFresh) return 'earlier';
	if (isRepeat) return 'repeated';
	return isYoung(accepted) ? 'new' : 'slow';
}

async function complete(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	outcome: Outcome,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
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
			const age = ageOf(outcome);
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

/** When a bot starts, in ms since 1970: the later of what was sent and what the service answered. */
function scheduledStart(answer: IDataObject, { startAt }: AcceptedMemory): IDataObject {
	const starts = [answer, { scheduled_start_at: startAt }].flatMap((at) =>
		startsIn(at).slice(0, 1),
	);
	return starts.length > 0 ? { scheduled_start_at: Math.max(...starts) } : {};
}
