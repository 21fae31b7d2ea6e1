/**
 * What a suspended execution writes into the log if deliveries go wrong.
 */
// Also covers wakeOnDelivery.ts.

import { captureLogs } from '../../../support/logs';
import { forgetEverything } from '../../../support/ownMemory';

import { itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';
import { sign } from '../../../TranscriberTrigger/client';

const service = serviceForTests();
const BEGINS = 'A delivery to a suspended execution gets 503: ';
const WRONG = `sha256=${'0'.repeat(64)}`;

/** An execution that sleeps for one task for each item. */
async function suspended(items = itemsOf({})) {
	const credentials = service.credentials();
	const parameters = {
		resource: 'transcription',
		operation: 'transcribeUrl',
		url: 'https://files.example.com/a.mp3',
		onCompletion: 'awaitWebhook',
	};
	const workflow = workflowWith(parameters, credentials);
	const asleep = await workflow.start(items);
	return {
		deliver: async (signature?: string, more = {}) => {
			const [task] = service.running().tasks();
			const raw = JSON.stringify({ task_id: task?.id, ...more });
			return await workflow.deliver(asleep, raw, signature ?? sign(raw, task?.webhookSecret ?? ''));
		},
		failCredential: () => {
			Object.defineProperty(credentials, 'apiKey', {
				enumerable: true,
				get: () => {
					throw new RangeError('words that may hold a secret');
				},
			});
		},
	};
}

let logs: ReturnType<typeof captureLogs>;
const lines = () => logs.lines.filter((line) => line.includes('suspended execution'));

beforeEach(() => {
	forgetEverything();
	logs = captureLogs();
});
afterEach(() => logs.release());

it('Many deliveries that go wrong write one line into the log', async () => {
	const { deliver, failCredential } = await suspended();
	failCredential();
	const answers = await Promise.all(Array.from({ length: 50 }, async () => await deliver(WRONG)));
	expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
	expect(lines()).toHaveLength(1);
});

it('The line says what the service has said, and of any other error its kind only', async () => {
	const { deliver, failCredential } = await suspended(itemsOf({}, {}));
	service.running().fault({
		match: { method: 'GET' },
		times: 100,
		action: { kind: 'respond', status: 500 },
	});
	expect(await deliver()).toEqual({ status: 503 });
	// The service is not asked again at once, which is no error.
	expect(await deliver()).toEqual({ status: 503 });
	expect(lines()).toEqual([expect.stringContaining(`${BEGINS}The service has an internal fault`)]);
	forgetEverything();
	failCredential();
	expect(await deliver()).toEqual({ status: 503 });
	expect(lines()).toEqual([expect.anything(), expect.stringContaining(`${BEGINS}RangeError`)]);
	expect(logs.lines.join('\n')).not.toContain('words that may hold a secret');
});

it.each<[string, number, object, string | undefined]>([
	['whose signature does not fit', 401, {}, WRONG],
	['whose signature a proxy has removed', 401, {}, ''],
	['that is larger than 1 MB', 413, { text: 'x'.repeat(1_100_000) }, undefined],
])('A delivery %s leaves a line', async (_, status, more, signature) => {
	const { deliver } = await suspended();
	expect(await deliver(signature, more)).toEqual({ status });
	expect(lines()).toEqual([
		expect.stringMatching(`gets ${status}: .*asks the service itself when its 'Timeout' is over`),
	]);
	expect(/may have changed it/.test(lines().join())).toBe(status === 401);
});

it('A genuine delivery for a task that has not ended leaves a line that says so', async () => {
	const { deliver } = await suspended();
	expect(await deliver(undefined, { status: 'processing' })).toEqual({ status: 400 });
	expect(lines()).toEqual([
		expect.stringMatching(/says that its recording has not ended\. The execution waits on\.\n$/),
	]);
});
