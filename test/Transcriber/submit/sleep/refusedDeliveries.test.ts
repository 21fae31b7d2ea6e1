/**
 * What a suspended execution writes into the log if deliveries go wrong.
 *
 * n8n reads its log level once, so this file loads it for itself:
 * @jest-environment node
 */
import { captureLogs } from '../../../support/logs';

import { itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';

const service = serviceForTests();

it('Many deliveries that go wrong write one line into the log', async () => {
	const credentials = service.credentials();
	const parameters = {
		resource: 'transcription',
		operation: 'transcribeUrl',
		url: 'https://files.example.com/a.mp3',
		onCompletion: 'awaitWebhook',
	};
	const workflow = workflowWith(parameters, credentials);
	const asleep = await workflow.start(itemsOf({}));
	const [task] = service.running().tasks();
	Object.defineProperty(credentials, 'apiKey', {
		enumerable: true,
		get: () => {
			throw new Error('database is locked');
		},
	});
	const logs = captureLogs();
	const raw = JSON.stringify({ task_id: task?.id });
	const answers = await Promise.all(
		Array.from(
			{ length: 50 },
			async () => await workflow.deliver(asleep, raw, `sha256=${'0'.repeat(64)}`),
		),
	);
	logs.release();
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
	expect(logs.lines.filter((line) => line.includes('suspended execution'))).toHaveLength(1);
});
