/** What the user gets to read, in part. */
export const KEY = 'The service does not accept the API key';
export const UNREACHABLE = 'The service cannot be reached';
export const BROKEN = 'The connection to the service broke before it answered';
export const GATEWAY = 'Something between n8n and the service got no usable answer from it';
export const LATE = 'The service did not answer in time';
export const SOMETHING_ELSE = 'Something other than the service answered at this address';
export const REDIRECT = 'The service answered with a redirect, which is not followed';
export const NO_BOT_KNOWN = 'the workflow is published, but the trigger knows of no meeting bot';
export const UNKNOWN_BOT = 'It is not known whether the service has sent the bot';
export const NOT_CANCELLED = 'could not be cancelled, so it may go on recording, which costs money';
export const BOT_WITHOUT_ID = 'The service accepted the bot, but without an id';
export const ENDED_UNHEARD =
	'only after its end, so the workflow of the trigger may never start for it';
export const WITHOUT_ID = 'The service answered that this item is accepted, but without an id';

export const NOT_ROTATED_AGAIN =
	'It is not known whether the API key was rotated, so it is not rotated again';
export const NOT_ASKED_AGAIN =
	'It is not known whether the service writes a new summary, so it is not asked again';

export const EMPTY = 'the output is [{}]';
export const PASSED_ON = 'The fields of the answer are passed on, and there are none';
export const AT_ONCE = 'The address is not that of the service: no later look can succeed';
export const NOT_SENT_AGAIN =
	'It is not known whether the service accepted this item, so it is not sent again';
