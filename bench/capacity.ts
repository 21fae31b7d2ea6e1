/** More recordings than the account takes at once: how much is uploaded for nothing. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { WorkflowNode } from '../test/n8n/rest';
import {
	inMegabytes,
	inSeconds,
	line,
	MEGABYTE,
	runToEnd,
	Service,
	successOf,
	sum,
	times,
	transcriber,
	withFolder,
	withN8n,
	type Report,
	type Run,
} from './parts';

const SIZES = {
	/** A simulated minute takes five real ones, because n8n's own pace of 10 a minute is real. */
	full: { recordings: 60, bytes: 20 * MEGABYTE, clockRate: 0.2 },
	quick: { recordings: 22, bytes: MEGABYTE, clockRate: 0.5 },
};
const PROCESSING_SECONDS = 60;
const MOST_BYTES = 1.3;
const ASK_EVERY_MS = 2000;

/** What a script does that has read "retry with exponential backoff". */
const NAIVE = { atOnce: 3, base: 1000, cap: 30_000 };

interface Outcome {
	accepted: number;
	/** Of all requests that uploaded something, refused ones included. */
	bytes: number;
	uploads: number;
	ms: number;
}

export async function capacity(run: Run): Promise<Report> {
	const size = run.isQuick ? SIZES.quick : SIZES.full;
	const whole = size.recordings * size.bytes;
	const [ours, naive] = await Promise.all([
		withService(size.clockRate, async (service) => await withNode(run, service, size)),
		withService(size.clockRate, async (service) => await naively(service, size)),
	]);
	run.log(JSON.stringify({ ours, naive }));
	const row = (name: string, { accepted, bytes, uploads, ms }: Outcome) => [
		name,
		`${accepted} of ${size.recordings}`,
		String(uploads),
		`${inMegabytes(bytes)} (${times(bytes / whole)})`,
		inSeconds(ms),
	];
	return {
		table: [
			['', 'Recordings accepted', 'Uploads', 'Sent', 'Time'],
			row('**Transcriber**', ours),
			row('Exponential backoff', naive),
		],
		goals: [
			{
				text: `all ${size.recordings} accepted (${ours.accepted})`,
				isReached: ours.accepted === size.recordings,
			},
			{
				text: `no more than ${MOST_BYTES} × the bytes of the recordings (${times(ours.bytes / whole)})`,
				isReached: ours.bytes <= MOST_BYTES * whole,
			},
		],
		remarks: [
			`${size.recordings} recordings of ${inMegabytes(size.bytes)} at once, ${inMegabytes(whole)} in all, at a service that takes 20 in progress, works ${PROCESSING_SECONDS / size.clockRate} s on each, and reads an upload to its end before it refuses it. Exponential backoff: three uploads at a time, each one sent again after 1 s, 2 s, … up to 30 s with full jitter.`,
		],
	};
}

async function withService(
	clockRate: number,
	work: (service: Service) => Promise<number>,
): Promise<Outcome> {
	return await Service.with(
		{
			clockRate,
			processingSeconds: PROCESSING_SECONDS,
			queueSeconds: 0,
			rateLimits: false,
			hashUploads: false,
			shapes: { refuseUploads: 'afterBody' },
		},
		async (service) => {
			const ms = await work(service);
			const all = await service.requests();
			const uploads = all.filter(({ method }) => method === 'POST');
			return {
				accepted: (await service.tasks()).length,
				bytes: sum(uploads.map(({ bodyBytes }) => bodyBytes)),
				uploads: uploads.length,
				ms,
			};
		},
	);
}

async function withNode(
	run: Run,
	service: Service,
	{ recordings, bytes }: (typeof SIZES)['full'],
): Promise<number> {
	return await withFolder(async (files) => {
		for (let index = 0; index < recordings; index++) {
			// Takes no room on the disk.
			const file = await open(path.join(files, `talk-${index}.mp3`), 'w');
			await file.truncate(bytes);
			await file.close();
		}
		return await withN8n(run, { files }, async (n8n) => {
			const read: WorkflowNode = {
				name: 'Read',
				type: 'n8n-nodes-base.readWriteFile',
				typeVersion: 1,
				parameters: { operation: 'read', fileSelector: `${files}/*.mp3`, options: {} },
			};
			const stored = await n8n.rest.createWorkflow(line([read, transcribeFile]), {
				transcriberApi: await service.credentialIn(n8n),
			});
			return successOf(await runToEnd(n8n, stored, ASK_EVERY_MS)).executionTime;
		});
	});
}

const transcribeFile = transcriber({
	resource: 'transcription',
	operation: 'transcribeFile',
	onCompletion: 'returnTask',
});

async function naively(
	service: Service,
	{ recordings, bytes }: (typeof SIZES)['full'],
): Promise<number> {
	const started = Date.now();
	const file = new Blob([new Uint8Array(bytes)]);
	const uploading = new Set<Promise<void>>();
	for (let index = 0; index < recordings; index++) {
		const upload = untilAccepted(service, file, `talk-${index}.mp3`).finally(() =>
			uploading.delete(upload),
		);
		uploading.add(upload);
		if (uploading.size >= NAIVE.atOnce) await Promise.race(uploading);
	}
	await Promise.all(uploading);
	return Date.now() - started;
}

async function untilAccepted(service: Service, file: Blob, name: string): Promise<void> {
	for (let tries = 1; ; tries++) {
		const body = new FormData();
		body.append('file', file, name);
		const answer = await fetch(`${service.url}/api/v1/transcribe`, {
			method: 'POST',
			headers: { 'X-API-Key': service.apiKey },
			body,
		});
		await answer.arrayBuffer();
		if (answer.ok) return;
		await sleep(Math.random() * Math.min(NAIVE.cap, NAIVE.base * 2 ** (tries - 1)));
	}
}
