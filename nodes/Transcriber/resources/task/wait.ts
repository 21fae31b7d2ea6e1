import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { waitOptionsField } from '../../completion/fields';
import { finishedTask } from '../../completion/wait';
import { checkWaitOptions } from '../../completion/waitOptions';
import { idFrom } from '../../request/ids';
import { perform } from '../../request/perform';
import { shownFor } from '../fields';

export const wait: INodePropertyOptions = {
	name: 'Wait Until Finished',
	value: 'wait',
	action: 'Wait for transcript',
	description: 'Stay in this step until a task has finished, and output its result',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}' },
		operations: { pagination: perform({ prepare: [checkWaitOptions], carryOut: waitForTask }) },
	},
};

export const waitFields: INodeProperties[] = shownFor('task', ['wait'], [waitOptionsField]);

async function waitForTask(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const submitted = { task_id: idFrom(this, 'taskId') };
	return [await finishedTask.call(this, submitted, { reportsRefusal: true })];
}
