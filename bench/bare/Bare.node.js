/** Transcript: Get as n8n's declarative engine does it when a node adds nothing: no checks, pacing, retries, pairing. */
class Bare {
	description = {
		displayName: 'Bare',
		name: 'bare',
		group: ['transform'],
		version: 1,
		description: 'A request and nothing else',
		defaults: { name: 'Bare' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'transcriberApi', required: true }],
		requestDefaults: { baseURL: '={{ $credentials.baseUrl }}/api/v1' },
		properties: [
			{
				displayName: 'Task ID',
				name: 'taskId',
				type: 'string',
				default: '',
				routing: { request: { method: 'GET', url: '=/tasks/{{ $value }}' } },
			},
		],
	};
}

module.exports = { Bare };
