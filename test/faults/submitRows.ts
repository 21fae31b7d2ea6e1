/** What costs money: each with every way to get its transcript. */
import { LINK, MEETING, WAIT, type ActionRow } from './acts';
import {
	BOT,
	EXPORT,
	POST_BOT,
	POST_FILE,
	POST_LINK,
	RESULT,
	SUBTITLES,
	TASK,
	operationNamed,
	row,
	later,
	type Row,
} from './row';
import { isDelivered, isTask, isTranscript, textOf } from './wrong';

export const SUBMITS = [
	{ name: 'transcription.transcribeFile', post: POST_FILE, more: {}, file: true },
	{ name: 'transcription.transcribeUrl', post: POST_LINK, more: { url: LINK }, file: false },
	{ name: 'meeting.sendBot', post: POST_BOT, more: MEETING, file: false },
];

export const submitRows = SUBMITS.flatMap(({ name, post, more, file }): Row[] => {
	const isBot = post === POST_BOT;
	const kind = file ? 'file' : 'once';
	const with_ = (onCompletion: string, wrong: ActionRow['wrong'], extra = {}): ActionRow => ({
		parameters: (_, { receiver }) => ({
			...operationNamed(name),
			...more,
			onCompletion,
			waitOptions: { ...WAIT, ...extra },
			...(onCompletion === 'callUrl' ? { webhookUrl: receiver } : {}),
		}),
		file,
		wrong,
	});
	const poll = with_('poll', isTranscript);
	const asleep = with_('awaitWebhook', isTranscript);
	const subtitles = with_('poll', textOf('export', '-->'), SUBTITLES);
	return [
		row(`${name}, poll: submit`, kind, post, poll, 1),
		...(isBot ? [row(`${name}, poll: bot`, 'look', later(BOT), poll, 1)] : []),
		row(`${name}, poll: status`, 'look', later(TASK), poll, 1),
		row(`${name}, poll: result`, 'result', later(RESULT), poll, 1),
		row(`${name}, poll: export`, 'result', later(EXPORT), subtitles, 1),
		row(`${name}, returnTask: submit`, kind, post, with_('returnTask', isTask), 1),
		row(`${name}, awaitWebhook: submit`, kind, post, asleep, 1),
		row(`${name}, awaitWebhook: asleep`, 'asleep', post, { ...asleep, asleep: true }, 1),
		...(isBot ? [] : [row(`${name}, awaitWebhook: status`, 'look', later(TASK), asleep, 1)]),
		row(`${name}, awaitWebhook: result`, 'result', later(RESULT), asleep, 1),
		row(`${name}, notifyTrigger: submit`, kind, post, with_('notifyTrigger', isTask), 1),
		row(`${name}, callUrl: submit`, kind, post, with_('callUrl', isDelivered), 1),
	];
});

const received: ActionRow = {
	parameters: () => ({
		...operationNamed('transcription.transcribeFile'),
		onCompletion: 'poll',
		waitOptions: WAIT,
	}),
	isReceived: true,
	wrong: isTranscript,
};

/** Not in the soak, whose bounds were measured without them. */
export const receivedRows: Row[] = [
	row('transcription.transcribeFile, file of the trigger: submit', 'file', POST_FILE, received, 1),
	row(
		'transcription.transcribeFile, file of the trigger: status',
		'look',
		later(TASK),
		received,
		1,
	),
];
