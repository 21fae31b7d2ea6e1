import type { INodeProperties } from 'n8n-workflow';
import { updateDisplayOptions } from 'n8n-workflow';

/** Shows the fields only for these operations of a resource. */
export function shownFor(
	resource: string,
	operation: string[],
	fields: INodeProperties[],
): INodeProperties[] {
	return updateDisplayOptions({ show: { resource: [resource], operation } }, fields);
}

/** The 'Task' field: a task chosen by search or by id. */
export const taskField: INodeProperties = {
	displayName: 'Task',
	name: 'taskId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description:
		'The recording or meeting that was transcribed: choose it from the list, or enter the ID of its task',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			typeOptions: { searchListMethod: 'searchTasks', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. {{ $json.task_id }}',
		},
	],
};

export const botField: INodeProperties = {
	displayName: 'Bot ID',
	name: 'botId',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.bot_id }}',
	description: 'The meeting bot, as returned when it was sent',
};

/** A notice that submitting costs money, for the operations that submit. */
export const chargeNotice: INodeProperties = {
	displayName:
		'Charged by the second from the prepaid balance at the service. If the balance is too low, the recording is stored there and waits for a top-up.',
	name: 'chargeNotice',
	type: 'notice',
	default: '',
};

export const outputFileField: INodeProperties = {
	displayName: 'Put Output File in Field',
	name: 'binaryPropertyName',
	type: 'string',
	default: 'data',
	required: true,
	placeholder: 'e.g. data',
	hint: 'The name of the output binary field to put the file in',
};
