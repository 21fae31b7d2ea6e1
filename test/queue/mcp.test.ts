/**
 * In queue mode, a worker carries out a call of an MCP client, in an execution that does not show the tool as one. What a repeat
 * finds differs from worker to worker (docs/faults.md), so only a single process is tried for that: test/e2e/mcp.test.ts.
 */
import { Bench } from '../e2e/harness';
import { LINK, serve } from '../e2e/mcpServer';

let bench: Bench;
beforeAll(async () => {
	bench = await Bench.open({ rateLimits: false });
});
beforeEach(() => bench.simulator.reset());
afterAll(async () => await bench.close());

const args = { url: 'https://files.example.com/talk.mp3' };

it('Waiting by webhook is refused before anything is sent, and the model gets the advice', async () => {
	const call = await serve(bench, { ...LINK, onCompletion: 'awaitWebhook' });
	expect(await call(args)).toContain('what_to_do');
	expect(bench.asked()).toEqual([]);
});

it('A client gets an exported document as text', async () => {
	const id = await bench.finishedTask();
	const taskId = { __rl: true, mode: 'id', value: id };
	const call = await serve(bench, { resource: 'task', operation: 'export', taskId, format: 'srt' });
	expect(await call({})).toContain('-->');
});

it('A client gets the id of what it submits', async () => {
	const call = await serve(bench, { ...LINK, onCompletion: 'returnTask' });
	expect(await call(args)).toContain(bench.simulator.tasks()[0]?.id ?? 'no task');
	expect(bench.simulator.tasks()).toHaveLength(1);
});
