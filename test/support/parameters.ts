/** Parameters of the operations that most tests use. None of them waits for a transcript. */

export const FILE = {
	resource: 'transcription',
	operation: 'transcribeFile',
	onCompletion: 'returnTask',
};

export const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'returnTask',
	url: 'https://files.example.com/talk.mp3',
};

export const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: 'https://meet.example.com/abc',
	consentAcknowledged: true,
};

export const ACCOUNT = { resource: 'account', operation: 'get' };
