/** Parameters of the operations that most tests use. Only PLAYLIST waits for a transcript. */

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

/** A link of which the service makes several tasks; the node waits for them. */
export const PLAYLIST = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://video.example.com/playlist',
	onCompletion: 'poll',
	waitOptions: { pollInterval: 0.02 },
};

export const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: 'https://meet.example.com/abc',
	consentAcknowledged: true,
};

export const ACCOUNT = { resource: 'account', operation: 'get' };
