import type { IWebhookFunctions } from 'n8n-workflow';

import { booleanIn, choicesIn, collectionIn } from '../shared/parameters/checkedValues';
import { outputOptionsOf, type OutputOptions } from '../shared/parameters/outputOptions';
import { EVENTS, type EventName } from './deliveredEvent';
import { refuse } from '../shared/parameters/refuse';

/** The trigger's parameters, checked. */
export interface Settings extends OutputOptions {
	/** 'Trigger On': at least one. */
	selected: EventName[];
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
	const given = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	return {
		selected,
		...outputOptionsOf(context, given),
		emitDuplicates: booleanIn(context, given.emitDuplicates, 'Emit Duplicates') ?? false,
	};
}
