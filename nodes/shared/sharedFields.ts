import type { INodeProperties } from 'n8n-workflow';

import { EXPORT_FORMATS } from './exportFormats';

export const exportFormatOptions = [...EXPORT_FORMATS].sort().map((value) => ({
	name: value.toUpperCase(),
	value,
}));

/** The first choice of each 'Export Format': n8n selects it when the user adds the option. */
const noExport = { name: 'None (Choose a Format)', value: 'none' };

/** The fields that launch a meeting bot, for the action node and for the trigger. */
export const launchFields: INodeProperties[] = [
	{
		displayName: 'Meeting URL',
		name: 'meetingUrl',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. https://meet.example.com/abc-defg-hij',
		description: 'Invitation link of the meeting, on one of the five supported meeting services',
	},
	{
		displayName:
			'Before the bot joins, all participants have to know that they are recorded and agree to the processing of their personal data: Russian law 152-FZ requires it. The bot is sent only if you confirm that they do. Recorded minutes are charged.',
		name: 'consentNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Consent Acknowledged',
		name: 'consentAcknowledged',
		type: 'boolean',
		default: false,
		description:
			'Whether the participants know about the recording and agree to the processing of their personal data (Russian law 152-FZ). Without it no bot is sent.',
	},
	{
		displayName: 'Start At',
		name: 'startAt',
		type: 'dateTime',
		default: '',
		placeholder: 'e.g. 2030-01-31T10:00:00+03:00',
		description:
			'When the bot joins, at most 30 days ahead. A time without an offset is in the time zone of the workflow.',
		hint: "In the time zone of the workflow (see 'Settings' in its menu), up to 30 days ahead. Leave empty to let the bot join at once.",
	},
];

/**
 * What is output beside the facts: in 'Transcript Options', and in 'Options' of both triggers. The
 * Transcriber Trigger leaves 'Export As' out.
 */
export const outputOptions: INodeProperties[] = [
	{
		displayName: 'Export As',
		name: 'exportAs',
		type: 'options',
		default: 'file',
		description: 'Where to put the document that Export Format asks for',
		hint: 'Only with an Export Format',
		options: [
			{
				name: 'File',
				value: 'file',
				description: 'A binary file that other nodes can save or send',
			},
			{ name: 'Text in a Field', value: 'text', description: 'The output field export' },
		],
	},
	{
		displayName: 'Export Format',
		name: 'exportFormat',
		type: 'options',
		default: 'none',
		description:
			'Also output the transcript as subtitles (SRT, VTT), as text with speakers (TXT) or as JSON',
		hint: 'TXT is the text with speakers. SRT and VTT are subtitles.',
		options: [noExport, ...exportFormatOptions],
	},
	{
		displayName: 'Include Result',
		name: 'includeResult',
		type: 'boolean',
		default: true,
		description:
			'Whether to output text, summary, speakers and segments, not just the status of the task',
	},
	{
		displayName: 'Put Output File in Field',
		name: 'exportBinaryPropertyName',
		type: 'string',
		default: 'data',
		placeholder: 'e.g. data',
		hint: 'The name of the output binary field to put the exported file in',
	},
];
