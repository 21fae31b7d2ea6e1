/** Files of the size that n8n's `database` mode, the one for workers without a shared disk, can hold, and beyond. */
import { open } from 'node:fs/promises';
import path from 'node:path';

import { Bench, inOneLine, NODE_TYPE, type NodeOutcome } from '../e2e/harness';
import type { WorkflowNode } from '../n8n/rest';

const MEBIBYTE = 1024 * 1024;

describe('an upload from the database', () => {
	let bench: Bench;

	beforeAll(async () => {
		bench = await Bench.open();
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	async function upload(bytes: number): Promise<NodeOutcome> {
		const file = path.join(bench.n8n.files, 'long-meeting.mp4');
		const handle = await open(file, 'w');
		await handle.truncate(bytes);
		await handle.close();
		const nodes: WorkflowNode[] = [
			{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
			{
				name: 'Read',
				type: 'n8n-nodes-base.readWriteFile',
				typeVersion: 1,
				parameters: { operation: 'read', fileSelector: file, options: {} },
			},
			{
				name: 'Subject',
				type: NODE_TYPE,
				typeVersion: 1,
				parameters: {
					resource: 'transcription',
					operation: 'transcribeFile',
					onCompletion: 'returnTask',
				},
				credentials: { transcriberApi: { name: '' } },
			},
		];
		const workflow = { name: 'Upload', nodes, connections: inOneLine(nodes) };
		return await bench.outcome(workflow, 240_000);
	}

	it('255 MiB pass through', async () => {
		const size = 255 * MEBIBYTE;
		const { error } = await upload(size);
		expect(error).toBeUndefined();
		expect(bench.simulator.requests).toMatchObject([{ status: 200, file: { size } }]);
	}, 300_000);

	it('257 MiB, which n8n stores but cannot read back, are refused before that is tried', async () => {
		const { error } = await upload(257 * MEBIBYTE);
		expect(error?.message).toContain('more than n8n can read back from its database');
		expect(error?.description).toContain('S3');
		expect(bench.asked()).toEqual([]);
	}, 300_000);

	it('513 MiB do not get as far as the node: n8n says that its store does not take them', async () => {
		const { error, items } = await upload(513 * MEBIBYTE);
		console.log(`n8n says: ${error?.message} ${error?.description ?? ''}`);
		expect(error?.node?.name).toBe('Read');
		expect(error?.message).toMatch(/512/);
		expect(items).toEqual([]);
		expect(bench.asked()).toEqual([]);
	}, 300_000);
});
