import { createHash } from 'crypto';
import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import { fillPath } from '../../item/idParameters';
import { choiceIn, jsonObjectIn, required } from '../../../shared/parameters/checkedValues';
import { checkJoinedJson, joinedTextIn } from '../../../shared/parameters/joinedText';
import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import { isAnotherOperation, staysBelowApi } from './summaryPath';
import { refuse } from '../../../shared/parameters/refuse';
import { ServiceError, said } from '../../../shared/api/serviceError';
import { inOutput } from '../../item/itemFailure';
import { sendWithoutKey } from '../../submit/once/sendWithoutKey';
import { steadyParameter } from '../../submit/once/steadyValue';
import type { NodeRun } from '../../item/nodeRun';
import { sendOperation } from '../../item/sendOperation';
import { saysOnlyNo } from '../../../shared/api/undocumented/answers';
import { refuseNo } from '../successThatSaysNo';
import type { Policy, RoutingRequest } from '../../../shared/api/types';

/** The user enters the method, path and payload, because the service does not document them. */
export const regenerateSummary: INodePropertyOptions = {
	name: 'Regenerate Summary (Advanced)',
	value: 'regenerateSummary',
	action: 'Regenerate summary (advanced)',
	description: 'Have the service write a new summary of a finished task',
	routing: {
		request: { method: 'POST', url: '' },
		operations: {
			pagination: performOperation({
				prepare: [asTheUserSays],
				policy: { limit: 'summary', repeatable: false },
				carryOut: regenerateOnce,
			}),
		},
	},
};

export const regenerateSummaryFields: INodeProperties[] = shownFor(
	'task',
	['regenerateSummary'],
	[
		{
			displayName:
				'The service has this operation but does not document its address. Ask its support for method and path.',
			name: 'undocumentedNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Method',
			name: 'method',
			type: 'options',
			default: 'POST',
			description: 'HTTP method of the operation',
			options: [
				{ name: 'PATCH', value: 'PATCH' },
				{ name: 'POST', value: 'POST' },
				{ name: 'PUT', value: 'PUT' },
			],
		},
		{
			displayName: 'Path',
			name: 'path',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. /tasks/{taskId}/…',
			description: 'Path below /api/v1. {taskId} stands for the task.',
		},
		{
			displayName: 'Summary Template',
			name: 'summaryTemplate',
			type: 'string',
			default: '',
			placeholder: 'e.g. meeting',
			description: 'Sent as summary_template if given',
		},
		{
			displayName: 'Body',
			name: 'bodyJson',
			type: 'json',
			default: '{}',
			description: 'Further request fields, as a JSON object',
		},
	],
);

function asTheUserSays(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const { parameters: entered } = context.getNode();
	const path = required(
		context,
		joinedTextIn(context, entered.path, context.getNodeParameter('path', ''), 'Path', {
			isExact: true,
		}),
		'Path',
	);
	if (!staysBelowApi(path)) {
		throw refuse(
			context,
			`'Path' is not a path below /api/v1: '${path}'`,
			'Enter a path that begins with a slash, such as /tasks/{taskId}/…',
		);
	}
	const [placeholder] = path.replaceAll('{taskId}', '').match(/\{.*?\}/) ?? [];
	if (placeholder) {
		throw refuse(
			context,
			`'Path' has an unknown placeholder: ${placeholder}`,
			'Write {taskId} where the ID of the task belongs.',
		);
	}
	const method = choiceIn(context, context.getNodeParameter('method', ''), 'Method', METHODS);
	const template = context.getNodeParameter('summaryTemplate', '');
	const summaryTemplate = joinedTextIn(
		context,
		entered.summaryTemplate,
		template,
		'Summary Template',
	);
	const body = jsonObjectIn(context, context.getNodeParameter('bodyJson', ''), 'Body') ?? {};
	checkJoinedJson(context, entered.bodyJson, body, 'Body');
	request.options.method = method ?? 'POST';
	// The service document writes its paths with this beginning, which the base URL already has.
	request.options.url = path.replace(/^\/api\/v1(?=\/)/, '');
	fillPath(context, request);
	if (isAnotherOperation(request.options.url)) {
		throw refuse(
			context,
			`'Path' leads to another operation of the service: '${path}'`,
			'Use the operation of this node for it, which keeps its own safeguards.',
		);
	}
	request.options.body = {
		...body,
		...(summaryTemplate && { summary_template: summaryTemplate }),
	};
}

async function regenerateOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	return await sendWithoutKey(context, {
		asked: askedFor(context, request),
		send: async () => {
			const items = await sendOperation(context, request, policy, run);
			const no = items.find(({ json }) => saysOnlyNo(json));
			if (no) throw refuseNo(context, 'no new summary is written', no.json, LOOK_AT_SUMMARY);
			return items;
		},
		submissionsIn: (items) => items.map(({ json }) => ({ answer: json })),
		again: ({ submissions }) => submissions.map(({ answer }) => ({ json: answer })),
		unknownOutcome: () =>
			refuse(
				context,
				'It is not known whether the service writes a new summary, so it is not asked again',
				LOOK_AT_SUMMARY,
			),
		explain: (failure) => {
			if (!(failure instanceof ServiceError)) return;
			failure.message = inOutput(context, failure.message, LOOK_AT_SUMMARY);
			failure.description = [LOOK_AT_SUMMARY, said(failure.problem)].filter(Boolean).join(' ');
		},
	});
}

/** A hash of what the item asks for. It stays the same in another try, also if the body holds the time. */
function askedFor(context: IExecutePaginationFunctions, { options }: RoutingRequest): string {
	const { method, url, body } = options;
	const read = ['bodyJson', 'summaryTemplate'].map((name) => steadyParameter(context, name));
	const isSteady = read.every(({ isText }) => !isText);
	const compared = isSteady ? body : [...read, context.getInputData().json];
	return createHash('sha256')
		.update(JSON.stringify([method, url, compared]))
		.digest('hex');
}

const LOOK_AT_SUMMARY =
	'Look at the summary of the transcript first (Transcript: Get Result). If it is the old one, ask again for this task alone (By ID) in a workflow that does not submit the recording again.';

const METHODS = ['PATCH', 'POST', 'PUT'] as const;
