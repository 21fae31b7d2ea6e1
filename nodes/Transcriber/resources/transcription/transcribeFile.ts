import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { derivedKey, knownKey, setKey } from '../../submit/once/idempotencyKey';
import { isSameFile } from '../../submit/once/sameFile';
import { completionFields } from '../../submit/choice/onCompletionFields';
import { checkTakenUpCompletion, prepareCompletion } from '../../submit/prepareCompletion';
import { submit } from '../../submit/submit';
import { checkUnchanged, keyOfDownloadedAgain } from '../../submit/once/refuseChangedItem';
import { shareWithRepeats } from '../../submit/once/shareWithRepeats';
import { submittedBefore } from '../../submit/once/submissionMemory';
import { checkSentBefore } from '../../submit/once/checkSentBefore';
import { checkNotRefusedBefore } from '../../submit/suspension/suspendUntilDelivery';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { countTasksInProgress } from '../../../shared/api/countTasksInProgress';
import { attachRecording, fileOf, recordingOf } from '../../item/inputFile';
import { chargeNotice, shownFor } from '../commonFields';
import { addOptions, languageField, optionsField } from './options';
import { givenKey } from './checkGivenIdempotencyKey';
import type { Policy, RoutingRequest } from '../../../shared/api/types';

export const transcribeFile: INodePropertyOptions = {
	name: 'Transcribe File',
	value: 'transcribeFile',
	action: 'Transcribe file',
	description: 'Turn an audio or video file of up to 8 GB and 4 hours into text',
	routing: {
		request: { method: 'POST', url: '/transcribe' },
		operations: {
			pagination: performOperation({
				prepare: [
					checkNotRefusedBefore,
					addOptions,
					addKnownKey,
					prepareCompletion,
					attachRecording,
				],
				// The Idempotency-Key makes a repeat harmless.
				policy: {
					limit: 'submit',
					repeatable: true,
					upload: true,
					countTasks: countTasksInProgress,
				},
				submittedBefore,
				checkSentBefore,
				shareWithRepeats,
				takeUp: [checkUnchanged, checkTakenUpCompletion],
				carryOut: submitWithKey,
			}),
		},
	},
};

export const transcribeFileFields: INodeProperties[] = shownFor(
	'transcription',
	['transcribeFile'],
	[
		chargeNotice,
		{
			displayName: 'Input Data Field Name',
			name: 'binaryPropertyName',
			type: 'string',
			default: 'data',
			required: true,
			placeholder: 'e.g. data',
			hint: 'The name of the input field containing the file to transcribe. If the item has only one file, you can leave this as it is.',
		},
		languageField,
		...completionFields('poll'),
		optionsField,
	],
);

async function addKnownKey(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	const { binary } = recordingOf(context);
	const file = {
		name: binary.id ?? fileOf(binary),
		isSame: async (other: string) => await isSameFile(context, binary, other),
	};
	const key = knownKey(context, binary, await givenKey(context, file, 'files'));
	if (key !== undefined) setKey(request, key);
}

/**
 * Every upload has a key, so that it may be repeated (service document, "POST /transcribe"). Derives it
 * here and not with the checks, so that the upload of an item need not wait until the files of all items
 * are read.
 */
async function submitWithKey(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	if (submittedBefore(context) === undefined) {
		const { binary } = recordingOf(context);
		const known = request.options.headers?.['Idempotency-Key'];
		const sent = await keyOfDownloadedAgain(context, binary, run.stopped);
		const key = sent ?? known ?? (await derivedKey(context, binary, run.stopped));
		setKey(request, String(key));
	}
	return await submit(context, request, policy, run);
}
