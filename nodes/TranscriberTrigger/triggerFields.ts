import type { INodeProperties } from 'n8n-workflow';
import { launchFields, outputOptions } from '../shared/sharedFields';

const forMeeting = { show: { source: ['meeting'] } };

const eventOptions = [
	{
		name: 'Meeting Completed',
		value: 'meetingCompleted',
		description: 'The transcript of a meeting recording is ready',
	},
	{
		name: 'Meeting Failed',
		value: 'meetingFailed',
		description: 'A meeting recording could not be transcribed',
	},
	{
		name: 'Transcription Completed',
		value: 'transcriptionCompleted',
		description: 'The transcript of a file or link is ready',
	},
	{
		name: 'Transcription Failed',
		value: 'transcriptionFailed',
		description: 'A file or link could not be transcribed',
	},
];

const eventsField: INodeProperties = {
	displayName: 'Trigger On',
	name: 'events',
	type: 'multiOptions',
	required: true,
	default: ['meetingCompleted', 'meetingFailed', 'transcriptionCompleted', 'transcriptionFailed'],
	description: 'The events that start the workflow',
	options: eventOptions,
};

/** What the descriptions of {@link outputOptions} say for an event. */
const DESCRIPTIONS: Record<string, string> = {
	exportFormat: 'A file to output beside the event, for example subtitles',
	includeResult:
		'Whether to output text, summary, speakers and segments, or the reason of a failure, not just the event',
};

const deliveryOutputOptions = outputOptions
	// The trigger always outputs a file.
	.filter(({ name }) => name !== 'exportAs')
	.map((field) => ({ ...field, description: DESCRIPTIONS[field.name] ?? field.description }));

export const triggerFields: INodeProperties[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		noDataExpression: true,
		default: 'submissions',
		description: 'Whose transcripts this trigger waits for',
		options: [
			{
				name: 'One Meeting (Sends a Bot)',
				value: 'meeting',
				description:
					'Publishing (activating) the workflow sends a bot to one meeting; unpublishing cancels the bot',
			},
			{
				name: 'Recordings Sent by Transcriber Nodes',
				value: 'submissions',
				description: "Recordings that Transcriber nodes send with this trigger's URL",
			},
		],
	},
	{
		displayName:
			"Open 'Webhook URLs' above and copy the Production URL. In the Transcriber node choose 'Start Another Workflow When Ready' under 'Get the Transcript', and paste it there. Use the same credential in both nodes. Your n8n needs a public https address; without one, use the Transcriber Account Trigger. Use no other trigger in this workflow.",
		name: 'submissionsNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { source: ['submissions'] } },
	},
	{
		displayName:
			"The bot is sent when you publish the workflow (n8n 1: activate it), not when you execute this step for a test. A new version of the workflow keeps the bot; if you have entered another 'Meeting URL' or 'Start At', it cancels the bot and sends another. For the next meeting, unpublish the workflow, wait half a minute, and publish it. Use no other trigger in this workflow.",
		name: 'meetingNotice',
		type: 'notice',
		default: '',
		displayOptions: forMeeting,
	},
	...launchFields.map((field) => ({ ...field, displayOptions: forMeeting })),
	{ ...eventsField, displayOptions: { show: { source: ['submissions'] } } },
	{
		...eventsField,
		default: ['meetingCompleted', 'meetingFailed'],
		// A bot causes only meeting events.
		options: eventOptions.filter(({ value }) => value.startsWith('meeting')),
		displayOptions: forMeeting,
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [
			{
				displayName: 'Emit Duplicates',
				name: 'emitDuplicates',
				type: 'boolean',
				default: false,
				description:
					'Whether to start the workflow again for a delivery that the service repeats. To recognise a genuine repeat, the trigger keeps the sealed secrets of the last 10,000 tasks, and without this option those of the last 1,000 finished ones.',
			},
			...deliveryOutputOptions,
		],
	},
];
