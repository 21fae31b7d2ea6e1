/** A file far larger than what may be held in memory: it passes through, and arrives as it left. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

import type { Workflow, WorkflowNode } from '../n8n/rest';
import { Bench, inOneLine, NODE_TYPE, sharedN8n, type NodeOutcome } from './harness';

const MEGABYTE = 1_000_000;
/** Then n8n holds a file as text, and saves it with the execution, for which it takes many times its size. */
const IS_IN_MEMORY = sharedN8n().binaryMode === 'default';
const SIZE = IS_IN_MEMORY ? 50 * MEGABYTE : 1500 * MEGABYTE;
const MOST_GROWTH = 250 * MEGABYTE;
const WITHIN_MS = 300_000;

describe(`an upload of ${inMegabytes(SIZE)} through a real n8n`, () => {
	let bench: Bench;
	let file: string;
	let sha256: string;

	beforeAll(async () => {
		bench = await Bench.open();
		file = path.join(bench.n8n.files, 'long-meeting.mp4');
		await makeSparseFile(file);
		sha256 = await hashOf(file);
	}, WITHIN_MS);

	afterAll(async () => await bench.close());

	it(
		'grows the n8n process by less than 250 MB and arrives with its SHA-256 intact',
		async () => {
			// What n8n itself needs to read the file into its store is not the node's doing.
			const reading = await withPeak(bench, async () => await run(workflow(file, false)));
			const upload = await withPeak(bench, async () => await run(workflow(file, true)));
			console.log(
				[
					`resident memory of n8n: ${inMegabytes(reading.before)} before`,
					`${inMegabytes(reading.peak)} at most while reading alone`,
					`${inMegabytes(upload.peak)} at most with the upload`,
					`(${upload.seconds} s, of which reading ${reading.seconds} s)`,
				].join(', '),
			);

			expect(upload.outcome.error).toBeUndefined();
			expect(bench.simulator.requests).toHaveLength(1);
			expect(bench.simulator.requests[0]).toMatchObject({
				method: 'POST',
				path: '/api/v1/transcribe',
				status: 200,
				headers: { 'content-length': expect.stringMatching(/^\d+$/) },
				file: { name: 'long-meeting.mp4', size: SIZE, sha256 },
			});
			expect(upload.peak - reading.peak).toBeLessThan(MOST_GROWTH);
			if (!IS_IN_MEMORY) expect(upload.peak - upload.before).toBeLessThan(MOST_GROWTH);
		},
		WITHIN_MS,
	);

	async function run(subject: Workflow): Promise<NodeOutcome> {
		return await bench.outcome(subject, WITHIN_MS);
	}
});

function workflow(file: string, withUpload: boolean): Workflow {
	const nodes: WorkflowNode[] = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		{
			name: 'Read',
			type: 'n8n-nodes-base.readWriteFile',
			typeVersion: 1,
			parameters: { operation: 'read', fileSelector: file, options: {} },
		},
	];
	if (withUpload) {
		nodes.push({
			name: 'Subject',
			type: NODE_TYPE,
			typeVersion: 1,
			parameters: {
				resource: 'transcription',
				operation: 'transcribeFile',
				onCompletion: 'returnTask',
			},
			credentials: { transcriberApi: { name: '' } },
		});
	}
	return { name: 'Upload', nodes, connections: inOneLine(nodes) };
}

async function withPeak<T>(bench: Bench, work: () => Promise<T>) {
	const started = Date.now();
	const before = bench.memory();
	let peak = before;
	const timer = setInterval(() => (peak = Math.max(peak, bench.memory())), 50);
	const outcome = await work().finally(() => clearInterval(timer));
	return { outcome, before, peak, seconds: Math.round((Date.now() - started) / 1000) };
}

/** Takes no room on the disk, yet no two megabytes with something in them are the same. */
async function makeSparseFile(file: string): Promise<void> {
	const handle = await open(file, 'w');
	await handle.truncate(SIZE);
	for (let at = 0; at < SIZE; at += 100 * MEGABYTE)
		await handle.write(randomBytes(MEGABYTE), 0, MEGABYTE, at);
	await handle.close();
}

async function hashOf(file: string): Promise<string> {
	const hash = createHash('sha256');
	for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
	return hash.digest('hex');
}

function inMegabytes(bytes: number): string {
	return `${Math.round(bytes / MEGABYTE)} MB`;
}
