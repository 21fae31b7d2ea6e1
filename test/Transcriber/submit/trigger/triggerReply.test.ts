/**
 * What the log says if a trigger does not answer. The error for the user says what to do about it.
 */
import { captureLogs } from '../../../support/logs';

import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

it('an address where nobody listens: the log says why, in one line', async () => {
	const logs = captureLogs();
	const { error } = await service.run(
		{
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://files.example.com/a.mp3',
			onCompletion: 'notifyTrigger',
			triggerUrl: 'http://127.0.0.1:9/webhook/1/transcriber',
		},
		{ items: itemsOf({}) },
	);
	logs.release();
	expect(error?.message).toContain('n8n cannot reach its address');
	expect(service.lines()).toEqual([]);
	const lines = logs.lines.filter((line) => line.includes("the address in 'Trigger URL'"));
	expect(lines).toEqual([expect.stringContaining('ECONNREFUSED')]);
});
