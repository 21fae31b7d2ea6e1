/** The node as a tool of n8n's MCP Server Trigger: what a client gets, and what it pays for if it gives up and calls again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../simulator/testing-client';
import { Bench } from './harness';
import { LINK, serve, type Parameters } from './mcpServer';

/** Longer than any test takes. */
const NEVER_SECONDS = 1e6;

let bench: Bench;
beforeAll(async () => {
	bench = await Bench.open({ rateLimits: false, processingSeconds: NEVER_SECONDS });
});
afterAll(async () => await bench.close());

function finishAll(): void {
	const open = bench.simulator.tasks().filter(({ status }) => status !== 'completed');
	for (const { id } of open) bench.simulator.finish(id);
}

const submits = (from: number) =>
	bench.asked(from).filter((line) => line.startsWith('POST /transcribe-url'));

it.each<[string, Parameters]>([
	['the transcript', {}],
	['the transcript with a document', { exportFormat: 'srt', exportAs: 'text' }],
])(
	'A client that hangs up, and calls again, gets %s, and nothing is paid twice',
	async (_, waitOptions) => {
		const call = await serve(bench, { ...LINK, waitOptions: { pollInterval: 1, ...waitOptions } });
		const from = bench.simulator.requests.length;
		const args = { url: `https://files.example.com/${randomUUID()}.mp3` };
		await expect(call(args, 3_000)).rejects.toThrow();
		await until(() => submits(from).length === 1);
		const again = call(args);
		await sleep(2_000);
		finishAll();
		expect(await again).toContain('text');
		expect(submits(from)).toHaveLength(1);
	},
);

it('A client that hangs up before the service has answered, and calls again, pays once', async () => {
	const call = await serve(bench, { ...LINK, waitOptions: { pollInterval: 1 } });
	const from = bench.simulator.requests.length;
	const action = { kind: 'delay', ms: 4_000, processed: true } as const;
	bench.simulator.fault({ match: { method: 'POST' }, times: 1, action });
	const args = { url: `https://files.example.com/${randomUUID()}.mp3` };
	await expect(call(args, 2_000)).rejects.toThrow();
	const again = call(args);
	await sleep(4_000);
	finishAll();
	expect(await again).toContain('text');
	expect(submits(from)).toHaveLength(1);
});

it('Waiting by webhook is refused before anything is sent', async () => {
	const call = await serve(bench, { ...LINK, onCompletion: 'awaitWebhook' });
	const from = bench.simulator.requests.length;
	expect(await call({ url: 'https://files.example.com/talk.mp3' })).toContain('what_to_do');
	expect(submits(from)).toEqual([]);
});
