import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { withoutResult } from '../../../shared/api/fetchResults';
import { idFrom } from '../../item/idParameters';
import { choicesIn } from '../../../shared/parameters/checkedValues';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { RESULT_PARTS, resultIn, silentResultIn } from '../../../shared/api/undocumented/results';
import { hasEnded, isInProgress, statusIn } from '../../../shared/api/statusMeaning';
import { isBlank } from '../../../shared/jsonValues';
import { shownFor } from '../commonFields';
import { answerOfFinished, emptyTranscript } from './requestFromFinishedTask';
import type { Policy, RoutingRequest } from '../../../shared/api/types';

export const getResult: INodePropertyOptions = {
	name: 'Get Result',
	value: 'getResult',
	action: 'Get transcript and summary',
	description: 'Read the text, segments, summary and speakers of a finished task',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}/result' },
		operations: {
			pagination: performOperation({ prepare: [checkInclude], carryOut: onlyIncluded }),
		},
	},
};

export const getResultFields: INodeProperties[] = shownFor(
	'task',
	['getResult'],
	[
		{
			displayName: 'Include',
			name: 'include',
			type: 'multiOptions',
			default: [...RESULT_PARTS],
			description: 'Parts of the result to output. Fewer parts suit AI agents and spreadsheets.',
			options: [
				{ name: 'Segments', value: 'segments', description: 'Phrases with timecodes' },
				{ name: 'Speakers', value: 'speakers' },
				{ name: 'Summary', value: 'summary' },
				{ name: 'Text', value: 'text', description: 'Full transcript' },
			],
		},
	],
);

function includeFrom(
	context: IExecuteSingleFunctions,
): ReadonlyArray<(typeof RESULT_PARTS)[number]> {
	const given = context.getNodeParameter('include', '');
	return choicesIn(context, given, 'Include', RESULT_PARTS) ?? RESULT_PARTS;
}

function checkInclude(context: IExecutePaginationFunctions): void {
	includeFrom(context);
}

/**
 * Drops the parts that the user did not choose. Fields beyond the documented four stay. An answer
 * without a result may come from an unfinished task.
 */
async function onlyIncluded(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const include = includeFrom(context);
	const left = new Set<string>(RESULT_PARTS.filter((part) => !include.includes(part)));
	const { items, isCompleted } = await answerOfFinished(context, request, policy, run, {
		isWhole,
		hasContent,
	});
	return items.map(({ json }) => {
		const result = resultIn(json) ?? (isCompleted ? silentResultIn(json) : undefined);
		if (!result) throw withoutResult(context, idFrom(context, 'taskId'));
		if (isSilent(result) && !isCompleted) throw emptyTranscript(context);
		const parts = Object.entries(result).filter(([name]) => !left.has(name));
		// `segments` comes last, as in the output of the operations that wait.
		const isLast = ([name]: [string, unknown]) => Number(name === 'segments');
		return { json: Object.fromEntries(parts.sort((one, other) => isLast(one) - isLast(other))) };
	});
}

/** Whether an answer holds a result that is not empty, under whatever name. */
function hasContent(json: IDataObject): boolean {
	const result = resultIn(json);
	return result !== undefined && !isSilent(result);
}

function isSilent(result: IDataObject): boolean {
	return result.text === '' && RESULT_PARTS.every((part) => isBlank(result[part]));
}

/**
 * Whether an answer has a documented part that is not empty, and does not say "not yet" or "failed". A
 * word that the document does not show, such as `succeeded`, says neither.
 */
function isWhole(json: IDataObject): boolean {
	const status = statusIn(json.status);
	if (isInProgress(status) || (hasEnded(status) && status !== 'completed')) return false;
	const result = resultIn(json);
	return RESULT_PARTS.some((part) => Object.keys(Object(result?.[part])).length > 0);
}
