import type { IDataObject, IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { anyOf, unlessAborted } from '../../shared/api/deadlines';
import { withCancelSignal } from '../../shared/n8nInternals/wrappedContext';
import type { NodeRun } from '../item/nodeRun';
import { isCalledOff } from '../../shared/api/calledOffBot';
import { awaitsBalance, startsIn } from '../../shared/api/statusMeaning';
import { WAIT_OPERATIONS } from '../item/retryAdvice';
import { recordingOf } from '../item/inputFile';
import { inOutput } from '../item/itemFailure';
import { fetchPatiently } from './fetchPatiently';
import { untilEnded, type Outlook, type Polling } from './pollUntilEnded';
import { attachExport, storedBy, type WantedExport } from '../../shared/api/attachExport';
import { documentName, readableName } from '../../shared/recordingName';
import { isTool } from '../../shared/n8nInternals/runIdentity';
import { fetchResults, transcript } from '../../shared/api/fetchResults';
import { idFields, idsIn, submissionName, type SubmissionIds } from '../../shared/api/submission';
import { waitOptionsOf } from './waitOptions';
import { TOP_UP_AND_FETCH, endedBadly, notEnded, subjectOf } from './waitErrors';
import { refuse } from '../../shared/parameters/refuse';

/** A bot can be scheduled at most 30 days ahead (service document, "Limits"); in ms, with a day to spare. */
const LONGEST_SCHEDULE = 31 * 24 * 3600 * 1000;

/**
 * When waiting that began at `from` times out, both in ms since 1970. For a scheduled bot,
 * 'Timeout' counts from its start.
 */
export function deadlineFor(
	context: IExecutePaginationFunctions,
	starts: number[],
	from = Date.now(),
): number {
	const counted = Math.min(Math.max(from, ...starts), from + LONGEST_SCHEDULE);
	return counted + waitOptionsOf(context).timeout * 60_000;
}

/** Throws if a submission waits for balance and 'On Insufficient Balance' is set to fail. */
export function checkBalance(
	context: IExecutePaginationFunctions,
	state: IDataObject,
	ids: SubmissionIds,
): void {
	if (!awaitsBalance(state) || waitOptionsOf(context).onInsufficientBalance !== 'fail') return;
	const known = { ...ids, ...idsIn(state) };
	const needsNothing = known.taskId
		? 'The recording is stored and needs no second upload'
		: 'The bot needs no second submit';
	throw refuse(
		context,
		inOutput(context, `${subjectOf(known)} waits because the balance is too low`, TOP_UP_AND_FETCH),
		`${needsNothing}: top up the balance, and the service starts on its own within minutes. Fetch the result later with ${WAIT_OPERATIONS}.`,
	);
}

interface Waiting {
	run: NodeRun;
	/** Deadline (ms since 1970) and the end of the timeout message. Default: 'Timeout' from now, and in words. */
	bound?: { deadline: number; words?: string };
	/** The state of the task if that is final (see `isFinal`): no further status request. */
	ended?: IDataObject;
	/** The id comes from the user: a refusal of the first status request is reported at once. */
	reportsRefusal?: boolean;
}

/**
 * Waits until the submitted or given task has ended and returns its result (see `transcript`), with
 * an exported document if the user wants one. A list of several results gives one item for each. If
 * the task fails, is cancelled or times out, throws an error that names it. Throws {@link Abandoned}
 * as soon as another item of the run has stopped the node.
 */
export async function finishedTask(
	context: IExecutePaginationFunctions,
	submitted: IDataObject,
	waiting: Waiting,
): Promise<INodeExecutionData[]> {
	const signal = anyOf(context.getExecutionCancelSignal(), waiting.run.stopped);
	const watched = withCancelSignal(context, signal);
	return await unlessAborted(finished(watched, submitted, waiting), signal);
}

async function finished(
	context: IExecutePaginationFunctions,
	submitted: IDataObject,
	{ run, bound, ended, reportsRefusal }: Waiting,
): Promise<INodeExecutionData[]> {
	const options = waitOptionsOf(context);
	const given = idsIn(submitted);
	const began = Date.now();
	const sent = startsIn(submitted);
	// For a bot of unknown schedule the later reading counts: waiting longer costs nothing, but a bot
	// given up before its start is lost.
	const startsOf = (state: IDataObject) =>
		sent.length > 0 ? [...sent, ...startsIn(state).slice(0, 1)] : startsIn(state);
	const polling: Polling = {
		ids: given,
		state: submitted,
		pollInterval: options.pollInterval * 1000,
		deadlineFor: (state) => bound?.deadline ?? deadlineFor(context, startsOf(state), began),
		reportsRefusal,
		check: (state) => checkBalance(context, state, given),
	};
	const outlook: Outlook = ended
		? { state: ended, hasEnded: true }
		: await untilEnded(context, polling);
	const { state } = outlook;
	const ids = { ...given, ...withoutMissing(idsIn(state)) };
	const hasNoRecording = isCalledOff({ ...state, ...idFields(ids) });
	if (!outlook.hasEnded && !hasNoRecording) throw notEnded(context, outlook, ids, bound?.words);
	if (state.status !== 'completed' || !ids.taskId) {
		if (!hasNoRecording) run.submitted.endWithoutTranscript(submissionName(given));
		throw endedBadly(context, state, ids, run.submitted.hasSeveral(context.getItemIndex()));
	}
	return await completedOutput(context, ids.taskId, state, {
		...idFields(ids),
		status: state.status,
	});
}

/**
 * The output of a completed task, one item for each of its results. The results are fetched once,
 * however often the export is tried. The document of the task goes into the first item.
 */
async function completedOutput(
	context: IExecutePaginationFunctions,
	taskId: string,
	state: IDataObject,
	facts: IDataObject,
): Promise<INodeExecutionData[]> {
	const options = waitOptionsOf(context);
	const { exportFormat: format } = options;
	const jsons = options.includeResult
		? (
				await fetchPatiently(context, taskId, 'result', async (bounds) => {
					return await fetchResults(context, taskId, bounds);
				})
			).map((result) => transcript(result, facts))
		: [transcript({}, { ...state, ...facts })];
	const items = jsons.map((json): INodeExecutionData => ({ json }));
	if (!format) return items;
	const wanted: WantedExport = {
		taskId,
		format,
		// An agent gets text only: n8n leaves a file out.
		as: isTool(context) ? 'text' : options.exportAs,
		property: options.property,
		fileName: nameOfRecording(context),
	};
	return await fetchPatiently(context, taskId, format, async (bounds) => {
		return await attachExport(context, storedBy(context), items, { ...wanted, bounds });
	});
}

function withoutMissing(ids: SubmissionIds): SubmissionIds {
	return Object.fromEntries(Object.entries(ids).filter(([, id]) => id !== undefined));
}

/** The file name of the recording, if known: `interview.mp3` becomes `interview.srt`. */
function nameOfRecording(context: IExecutePaginationFunctions): string | undefined {
	try {
		const operation = context.getNodeParameter('operation');
		if (operation === 'transcribeUrl') return nameInLink(String(context.getNodeParameter('url')));
		if (operation !== 'transcribeFile') return undefined;
		return documentName(recordingOf(context).binary.fileName ?? '');
	} catch {
		// The transcript is paid for, so it must not fail for the name of its document.
		return undefined;
	}
}

/** The name in a link that ends with a file: `Team call` of `https://…/Team%20call.mp3?token=…`. */
function nameInLink(link: string): string | undefined {
	try {
		const [, name, ending] = /([^/]+)\.([a-z]\w{1,4})$/i.exec(new URL(link).pathname) ?? [];
		// The name of a script is the same for all recordings.
		const isScript = /^(php|aspx?|ashx|cgi|jsp)$/i.test(ending ?? '');
		return name && !isScript ? readableName(name) : undefined;
	} catch {
		return undefined;
	}
}
