/** A large recording through a real n8n: how long the node takes for it, and how much memory. */
import { execFile } from 'node:child_process';
import { open, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import type { N8nHost } from '../test/n8n/host';
import type { WorkflowNode } from '../test/n8n/rest';
import {
	httpUpload,
	inMegabytes,
	inSeconds,
	line,
	MEGABYTE,
	median,
	runOf,
	runToEnd,
	Service,
	SUBJECT,
	times,
	transcriber,
	withFolder,
	withN8n,
	type Report,
	type Run,
} from './parts';

/** Bytes, and how often it is measured. */
const SIZES = [
	{ name: '1.5 GB', bytes: 1500 * MEGABYTE, rounds: 3 },
	{ name: '8 GB', bytes: 8000 * MEGABYTE, rounds: 2 },
];
const QUICK_SIZES = [{ name: '200 MB', bytes: 200 * MEGABYTE, rounds: 1 }];

const MOST_GROWTH = 100 * MEGABYTE;
const MOST_TIME = 1.5;
const SAMPLE_EVERY_MS = 50;
const ASK_EVERY_MS = 1_000;
/** A node that takes more must not take the machine with it. */
const LEAST_FREE_MEMORY = 1500 * MEGABYTE;
const HOUR_MS = 3_600_000;

interface Measured {
	ms: number;
	/** Resident memory of n8n: its peak in the upload above its peak in reading the file. */
	growth: number;
}

export async function upload(run: Run): Promise<Report> {
	const table = [['', 'Time of the upload', 'Against curl', 'Memory n8n takes for it']];
	const goals: Report['goals'] = [];
	for (const size of run.isQuick ? QUICK_SIZES : SIZES) {
		await checkDisk(size.bytes * size.rounds);
		await withFolder(async (files) => {
			const file = path.join(files, 'recording.mp4');
			await makeSparseFile(file, size.bytes);
			const options = { rateLimits: false, hashUploads: false, balance: 1e6, clockRate: 1000 };
			await Service.with(options, async (service) => {
				const measure = async (subject: WorkflowNode, alsoCurl: boolean) =>
					await withN8n(run, { files }, async (n8n) => {
						const node: Measured[] = [];
						const curl: number[] = [];
						for (let round = 0; round < size.rounds; round++) {
							// In turns, so that both meet the same weather.
							if (alsoCurl) curl.push(await withCurl(service, file));
							node.push(await withNode(n8n, service, subject, file));
							run.log(told(size.name, subject, node.at(-1), curl.at(-1)));
						}
						return {
							curl,
							ms: median(node.map(({ ms }) => ms)),
							growth: Math.max(...node.map(({ growth }) => growth)),
						};
					});

				const ours = await measure(transcribeFile, true);
				const curl = median(ours.curl);
				const theirs = await measure(httpUpload(service, { timeout: HOUR_MS }), false).catch(
					(error: Error) => error.message,
				);
				table.push(
					[`\`curl -F\`, ${size.name}`, inSeconds(curl), '', ''],
					row(`**Transcriber**, ${size.name}`, ours, curl),
					typeof theirs === 'string'
						? [`HTTP Request, ${size.name}`, theirs, '', '']
						: row(`HTTP Request, ${size.name}`, theirs, curl),
				);
				goals.push(
					{
						text: `${size.name}: no more than ${MOST_TIME} × the time of curl (${times(ours.ms / curl)})`,
						isReached: ours.ms <= MOST_TIME * curl,
					},
					{
						text: `${size.name}: no more than ${inMegabytes(MOST_GROWTH)} of memory (${inMegabytes(ours.growth)})`,
						isReached: ours.growth <= MOST_GROWTH,
					},
				);
			});
		});
	}
	return {
		table,
		goals,
		remarks: [
			'The time is that of the node alone, without n8n reading the file into its store; the memory is the peak of the n8n process in the upload above its peak in that reading (the worst round; time: the median). Fresh n8n for each line, files in its filesystem store.',
		],
	};
}

const transcribeFile = transcriber({
	resource: 'transcription',
	operation: 'transcribeFile',
	onCompletion: 'returnTask',
});

function row(name: string, { ms, growth }: Measured, curl: number): string[] {
	return [name, inSeconds(ms), times(ms / curl), inMegabytes(Math.max(0, growth))];
}

async function withCurl(service: Service, file: string): Promise<number> {
	const { stdout } = await promisify(execFile)('curl', [
		...['-sS', '-o', '/dev/null', '-w', '%{http_code} %{time_total}'],
		...['-H', `X-API-Key: ${service.apiKey}`, '-F', `file=@${file}`],
		`${service.url}/api/v1/transcribe`,
	]);
	const [status, seconds] = stdout.split(' ');
	if (status !== '200') throw new Error(`curl: HTTP ${status}`);
	return Number(seconds) * 1000;
}

async function withNode(
	n8n: N8nHost,
	service: Service,
	subject: WorkflowNode,
	file: string,
): Promise<Measured> {
	const read: WorkflowNode = {
		name: 'Read',
		type: 'n8n-nodes-base.readWriteFile',
		typeVersion: 1,
		parameters: { operation: 'read', fileSelector: file, options: {} },
	};
	const stored = await n8n.rest.createWorkflow(line([read, subject]), {
		transcriberApi: await service.credentialIn(n8n),
	});
	const before = (await service.requests()).length;
	const memory = watchMemory(n8n);
	const execution = await runToEnd(n8n, stored, ASK_EVERY_MS)
		.catch((error: Error) => {
			throw new Error(memory.ended() ?? error.message);
		})
		.finally(memory.stop);
	const { startTime, executionTime, error } = runOf(execution, SUBJECT);
	if (error) throw new Error(`fails: ${error.message}`);

	const [request, ...more] = (await service.requests()).slice(before);
	if (request?.status !== 200 || more.length > 0) throw new Error('Not exactly one upload');
	const reading = runOf(execution, 'Read');
	const peakOfReading = memory.peak(reading.startTime, startTime);
	return {
		ms: executionTime,
		growth: memory.peak(startTime, startTime + executionTime) - peakOfReading,
	};
}

/** Resident memory of n8n over time. */
function watchMemory(n8n: N8nHost) {
	const samples: Array<{ at: number; bytes: number }> = [];
	let end: string | undefined;
	const timer = setInterval(() => {
		try {
			samples.push({ at: Date.now(), bytes: n8n.memory() });
		} catch {
			end ??= 'ends n8n';
		}
		if (freemem() > LEAST_FREE_MEMORY || end !== undefined) return;
		end = 'takes all memory of the machine';
		void n8n.kill();
	}, SAMPLE_EVERY_MS);
	return {
		stop: () => clearInterval(timer),
		/** Why n8n is gone, if it is. */
		ended: () => end,
		peak: (from: number, to: number) =>
			Math.max(...samples.filter(({ at }) => at >= from && at <= to).map(({ bytes }) => bytes)),
	};
}

/** Takes no room on the disk. n8n's copy of it does. */
async function makeSparseFile(file: string, bytes: number): Promise<void> {
	const handle = await open(file, 'w');
	await handle.truncate(bytes);
	await handle.close();
}

async function checkDisk(bytes: number): Promise<void> {
	const { bavail, bsize } = await statfs(tmpdir());
	if (bavail * bsize > bytes * 1.1) return;
	throw new Error(`This needs ${inMegabytes(bytes)} in ${tmpdir()}, where n8n keeps its copies`);
}

function told(
	size: string,
	{ type }: WorkflowNode,
	node: Measured | undefined,
	curl: number | undefined,
): string {
	const parts = [`${size}, ${type.split('.').pop()}: ${inSeconds(node?.ms ?? 0)}`];
	parts.push(`${inMegabytes(node?.growth ?? 0)} more memory`);
	if (curl !== undefined) parts.push(`curl: ${inSeconds(curl)}`);
	return parts.join(', ');
}
