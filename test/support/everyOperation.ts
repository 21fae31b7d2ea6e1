/** Every operation with parameters that succeed, for tests of rules that all operations share. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { byId, itemWithFile, type ServiceForTests } from './service';

export interface Example {
	/** `resource.operation`. */
	name: string;
	parameters: INodeParameters;
	/** Creates what the operation needs, and returns the item that names it. */
	input: (service: ServiceForTests) => Promise<INodeExecutionData>;
}

const nothing = async () => ({ json: {} });
const pendingTask = async (service: ServiceForTests) => ({
	json: { id: await service.pendingTask() },
});
const completedTask = async (service: ServiceForTests) => ({
	json: { id: await service.completedTask() },
});
const bot = async (service: ServiceForTests) => ({ json: { id: await service.bot() } });
const transcribedBot = async (service: ServiceForTests) => {
	const id = await service.bot();
	service.running().endMeeting(id);
	service.running().finish(String(service.running().bots().at(-1)?.taskId));
	return { json: { id } };
};
const taskId = byId('={{ $json.id }}');
const botId = '={{ $json.id }}';
const onCompletion = 'returnTask';

export const SUMMARY_PATH = '/tasks/{taskId}/summary';

/** A failed status request means "not yet", so only the timeout ends a wait without answers. */
const SHORT_WAIT = { pollInterval: 0.05, timeout: 0.02 };

export const EVERY_OPERATION: Example[] = [
	example('transcription.transcribeFile', async () => itemWithFile(), { onCompletion }),
	example('transcription.transcribeUrl', nothing, {
		url: 'https://files.example.com/talk.mp3',
		onCompletion,
	}),
	example('task.get', pendingTask, { taskId }),
	example('task.getAll', pendingTask),
	example('task.getResult', completedTask, { taskId }),
	example('task.export', completedTask, { taskId }),
	example('task.cancel', pendingTask, { taskId }),
	example('task.regenerateSummary', completedTask, { taskId, path: SUMMARY_PATH }),
	example('task.wait', completedTask, {
		taskId,
		waitOptions: SHORT_WAIT,
	}),
	example('meeting.sendBot', nothing, {
		meetingUrl: 'https://meet.example.com/abc',
		consentAcknowledged: true,
	}),
	example('meeting.get', bot, { botId }),
	example('meeting.cancel', bot, { botId }),
	example('meeting.wait', transcribedBot, { botId, waitOptions: SHORT_WAIT }),
	example('dictionary.get', nothing),
	example('dictionary.clear', nothing),
	example('dictionary.replace', nothing, { terms: 'n8n' }),
	example('dictionary.add', nothing, { terms: 'n8n' }),
	example('dictionary.preview', completedTask, { taskId, terms: 'n8n' }),
	example('dictionary.sync', nothing, { terms: 'n8n' }),
	example('account.get', nothing),
	example('apiKey.rotate', nothing, { confirm: true }),
];

/** The service with the one undocumented operation too, so that all operations succeed. */
export const WITH_SUMMARY_REGENERATION = {
	shapes: { regenerateSummary: { method: 'POST', path: SUMMARY_PATH } },
};

function example(name: string, input: Example['input'], more: INodeParameters = {}): Example {
	const [resource = '', operation = ''] = name.split('.');
	return { name, parameters: { resource, operation, ...more }, input };
}
