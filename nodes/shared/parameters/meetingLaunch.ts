import { isNothing } from './checkedValues';
import { addressIn } from './joinedText';
import { checkStart, startAtFrom, type LaunchReader } from './startAt';
import { checkLink } from './recordingLink';
import { refuse } from './refuse';

/** The parameters for sending a meeting bot. */
interface Launch {
	meetingUrl: string;
	/** ISO 8601 with an offset; without it the bot joins now. */
	startAt?: string;
}

/** Reads 'Meeting URL' and 'Start At' of the action node or the trigger. */
export function launchFrom(context: LaunchReader): Launch {
	const { meetingUrl: entered } = context.getNode().parameters;
	const given = context.getNodeParameter('meetingUrl', '');
	const meetingUrl = addressIn(context, entered, given, 'Meeting URL');
	checkLink(context, meetingUrl, 'Meeting URL', 'Enter the full invitation link of the meeting.');
	return { meetingUrl, startAt: startAtFrom(context) };
}

/** Only `true` is consent. */
export function hasConsent(context: Pick<LaunchReader, 'getNodeParameter'>): boolean {
	return context.getNodeParameter('consentAcknowledged', false) === true;
}

/**
 * Checks what a bot needs besides a link (service document, "Meeting launch parameters"): consent,
 * and a valid start time if there is one.
 */
export function checkLaunch(context: LaunchReader, { startAt }: Launch): void {
	const consent = context.getNodeParameter('consentAcknowledged', false);
	if (!isNothing(consent) && typeof consent !== 'boolean') {
		throw refuse(
			context,
			"'Consent Acknowledged' has to be true or false, and not a text or a number, so no bot was sent",
			"Let the expression give true or false. For a column of a sheet that says TRUE, for example: {{ $json.consent === 'TRUE' }}",
		);
	}
	if (!hasConsent(context)) {
		throw refuse(
			context,
			"'Consent Acknowledged' is off, so no bot was sent",
			'Turn it on once the participants know about the recording and agree to the processing of their personal data (152-FZ).',
		);
	}
	if (startAt) checkStart(context, startAt);
}
