import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';

import { EXPORT_FORMATS, type ExportFormat } from '../shared/exportFormats';
import {
	booleanIn,
	choiceIn,
	choicesIn,
	collectionIn,
	textIn,
} from '../shared/parameters/checkedValues';
import { EVENTS, type EventName } from './deliveredEvent';
import { refuse } from '../shared/parameters/refuse';

/** The trigger's parameters, checked. */
export interface Settings {
	/** 'Trigger On': at least one. */
	selected: EventName[];
	includeResult: boolean;
	exportFormat?: ExportFormat;
	property?: string;
	emitDuplicates: boolean;
}

type SettingsReader = Pick<IWebhookFunctions, 'getNode' | 'getNodeParameter'>;

/**
 * Reads 'Trigger On' and 'Options'. Throws if they are invalid: a trigger without events would
 * discard paid transcripts.
 */
export function settingsOf(context: SettingsReader): Settings {
	const isMeeting = context.getNodeParameter('source', 'submissions') === 'meeting';
	const events = context.getNodeParameter('events', []);
	const selected = choicesIn(context, events, 'Trigger On', EVENTS) ?? [];
	// A bot causes only meeting events.
	if (!selected.some((name) => !isMeeting || name.startsWith('meeting'))) {
		throw refuse(
			context,
			isMeeting ? "'Trigger On' names no event of a meeting" : "'Trigger On' names no event",
			'Choose at least one event. If it comes from an expression, check what the expression gives.',
		);
	}
	const given: IDataObject = collectionIn(
		context,
		context.getNodeParameter('options', {}),
		'Options',
	);
	const formats = ['none', ...EXPORT_FORMATS] as const;
	const format = choiceIn(context, given.exportFormat, 'Export Format', formats) ?? 'none';
	return {
		selected,
		includeResult: booleanIn(context, given.includeResult, 'Include Result') ?? true,
		exportFormat: format === 'none' ? undefined : format,
		property: textIn(context, given.exportBinaryPropertyName, 'Put Output File in Field'),
		emitDuplicates: booleanIn(context, given.emitDuplicates, 'Emit Duplicates') ?? false,
	};
}
