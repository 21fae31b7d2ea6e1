import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	NodeOperationError,
} from 'n8n-workflow';

import { sendWithoutKey } from '../../submit/once/sendWithoutKey';
import { ServiceError, said } from '../../../shared/api/serviceError';
import { inOutput } from '../../item/itemFailure';
import { performOperation } from '../../item/performOperation';
import { itemCount } from '../../item/inputItems';
import { shownFor } from '../commonFields';
import { isNo } from '../../../shared/jsonValues';
import { isNothing } from '../../../shared/parameters/checkedValues';
import { refuse } from '../../../shared/parameters/refuse';
import { sendOperation } from '../../item/sendOperation';
import { saysOnlyNo } from '../../../shared/api/undocumented/answers';
import { refuseNo } from '../successThatSaysNo';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

export const rotateKey: INodePropertyOptions = {
	name: 'Rotate',
	value: 'rotate',
	action: 'Rotate API key',
	description: 'Replace the API key with a new one. The old key stops working at once.',
	routing: {
		request: { method: 'POST', url: '/api-key/generate' },
		operations: {
			pagination: performOperation({
				prepare: [checkConfirmed],
				policy: { limit: 'other', repeatable: false, takesAnyAnswer: true },
				carryOut: rotateOnce,
			}),
		},
	},
};

export const rotateKeyFields: INodeProperties[] = shownFor(
	'apiKey',
	['rotate'],
	[
		{
			displayName:
				'The new key appears only in the output of this step. The credential still holds the old key, which no longer works. Paste the new key into it.',
			name: 'rotateNotice',
			type: 'notice',
			default: '',
		},
		{
			displayName: 'Confirm',
			name: 'confirm',
			type: 'boolean',
			default: false,
			description: 'Whether the old key may stop working at once, everywhere it is used',
			hint: 'The old key stops working at once, everywhere it is used',
		},
	],
);

function checkConfirmed(context: IExecutePaginationFunctions): void {
	const confirm = context.getNodeParameter('confirm', false);
	if (confirm !== true) {
		const isOff = isNo(confirm) || isNothing(confirm);
		const wrong = isOff ? 'is off' : 'has to be true or false, and not a text or a number';
		throw refuse(
			context,
			`'Confirm' ${wrong}, so the API key was not rotated`,
			'Turn it on if the old key may stop working at once, everywhere it is used.',
		);
	}
	const items = itemCount(context);
	if (items > 1) {
		throw refuse(
			context,
			`The API key can be rotated once, but ${items} items came in`,
			"Turn on 'Execute Once' in the settings of this node: the second rotation would use a key that no longer works.",
		);
	}
}

const LOOK_FOR_KEY =
	'The old key may no longer work. Look in your account at the service, and put the key that is valid now into the credential.';

async function rotateOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	return await sendWithoutKey(context, {
		send: async () => {
			const items = await sendOperation(context, request, policy);
			const no = items.find(({ json }) => saysOnlyNo(json));
			if (no) throw refuseNo(context, 'the API key is not rotated', no.json, LOOK_FOR_KEY);
			if (items.every(({ json }) => Object.keys(json).length === 0)) throw noKey(context);
			return items;
		},
		// The new key is a secret.
		submissionsIn: () => [],
		again: () => {
			throw refuse(
				context,
				'This execution has rotated the API key before, so it is not rotated again',
				'The earlier output of this node has the new key. Put it into the credential. To rotate the key again, run the workflow in a new execution.',
			);
		},
		unknownOutcome: () =>
			mayBeRotated(
				context,
				'It is not known whether the API key was rotated, so it is not rotated again',
			),
		mayHaveSucceeded: mayBeOldKey,
		explain: (failure) => {
			// n8n 2 drops the error of an execution that was stopped.
			if (context.getExecutionCancelSignal()?.aborted) {
				context.logger.warn(
					`${context.getNode().name} was stopped while the API key was being rotated. ${LOOK_FOR_KEY}`,
				);
			}
			if (!(failure instanceof ServiceError)) return;
			const message = `${failure.message}, so it is not known whether the API key was rotated`;
			failure.message = inOutput(context, message, LOOK_FOR_KEY);
			failure.description = [LOOK_FOR_KEY, said(failure.problem)].filter(Boolean).join(' ');
		},
	});
}

/** Whether 401 may come because an earlier attempt has replaced the key. */
function mayBeOldKey(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status, attempts = 1 } = failure.problem;
	return status === 401 && attempts > 1;
}

function noKey(context: IExecutePaginationFunctions): NodeOperationError {
	return mayBeRotated(context, 'The service answered the rotation without a new API key');
}

function mayBeRotated(context: IExecutePaginationFunctions, message: string): NodeOperationError {
	return refuse(context, inOutput(context, message, LOOK_FOR_KEY), LOOK_FOR_KEY);
}
