/** examples/recording-to-subtitles.json as it is imported, on the recording that it carries. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { ScriptedRecording } from '../simulator';
import { Bench, readExample, root, type NodeOutcome } from './harness';

describe('examples/recording-to-subtitles.json', () => {
	let bench: Bench;
	let outcome: NodeOutcome;
	let script: ScriptedRecording;

	beforeAll(async () => {
		const file = path.join(root, 'test/simulator/recordings/welcome-to-transcriber.json');
		script = JSON.parse(await readFile(file, 'utf8')) as ScriptedRecording;
		bench = await Bench.open();
		const workflow = await readExample('recording-to-subtitles.json');
		outcome = await bench.outcome(workflow, undefined, 'Transcriber');
	});

	afterAll(async () => await bench.close());

	it('sends the bundled recording, unchanged, with the settings of the node', async () => {
		const recording = await readFile(path.join(root, 'examples/media/welcome-to-transcriber.mp3'));
		const upload = bench.simulator.requests.find(({ file }) => file !== undefined);
		expect(upload).toMatchObject({
			method: 'POST',
			path: '/api/v1/transcribe',
			status: 200,
			body: { language: 'en', num_speakers: '2' },
			file: {
				field: 'file',
				name: 'welcome-to-transcriber.mp3',
				mimeType: 'audio/mpeg',
				size: recording.length,
				sha256: createHash('sha256').update(recording).digest('hex'),
			},
		});
	});

	it('puts out the transcript, paired with its item', () => {
		expect(outcome.error).toBeUndefined();
		expect(outcome.items).toHaveLength(1);
		expect(outcome.items[0]).toMatchObject({
			json: {
				task_id: expect.any(String),
				status: 'completed',
				text: expect.stringContaining(script.segments[0]?.text ?? '?'),
				summary: script.summary,
			},
			pairedItem: { item: 0 },
		});
		expect(outcome.items[0]?.json.segments).toHaveLength(script.segments.length);
	});

	it('puts out a subtitle file with every sentence that is spoken', async () => {
		const subtitles = outcome.items[0]?.binary?.subtitles;
		expect(subtitles?.fileName).toMatch(/\.srt$/);
		expect(subtitles?.mimeType).toBe('application/x-subrip');
		const srt = subtitles ? (await bench.rest.download(subtitles)).toString() : '';
		expect(srt).toMatch(/^1\r?\n00:00:00,000 --> 00:00:03,930\r?\n/);
		for (const { text } of script.segments) expect(srt).toContain(text);
	});
});
