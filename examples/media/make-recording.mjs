// Makes the bundled recording with a speech synthesiser, and from the same sentences everything that has to fit it:
// the simulator's script, and the copy inside the example workflow that lets it run wherever it is imported.
// Needs espeak-ng and ffmpeg. Run: node examples/media/make-recording.mjs
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import prettier from 'prettier';

const NAME = 'welcome-to-transcriber';
const PAUSE_SECONDS = 0.4;
const RATE = 22050;
const ANNA = { speaker: 'Speaker 1', voice: 'en-us+f3', speed: 150 };
const BEN = { speaker: 'Speaker 2', voice: 'en-gb+m3', speed: 148 };
const SPOKEN = [
	{ ...ANNA, text: 'Welcome. This is a short meeting about our new workflow.' },
	{
		...BEN,
		text: 'Every recording now becomes a text, a summary and subtitles, without a single line of code.',
	},
	{ ...ANNA, text: 'Great. Please send the notes to the whole team before Friday.' },
];
const SUMMARY =
	'The new workflow turns every recording into a text, a summary and subtitles without code. To do: send the notes to the whole team before Friday.';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '..', '..');
const mp3 = path.join(here, `${NAME}.mp3`);

const seconds = speak();
const recording = readFileSync(mp3);
await writeScript();
await fillExample();
console.log(`${path.relative(root, mp3)}: ${seconds.total} s, ${statSync(mp3).size} bytes`);

/** Speaks each sentence, joins them with pauses and says when each one starts and ends. */
function speak() {
	const folder = mkdtempSync(path.join(tmpdir(), 'transcriber-speech-'));
	const silence = Buffer.alloc(Math.round(PAUSE_SECONDS * RATE) * 2);
	const parts = [];
	const times = [];
	let at = 0;
	for (const [index, { voice, speed, text }] of SPOKEN.entries()) {
		const wav = path.join(folder, `${index}.wav`);
		execFileSync('espeak-ng', ['-v', voice, '-s', String(speed), '-w', wav, text]);
		const samples = execFileSync('ffmpeg', [
			...['-loglevel', 'error', '-i', wav],
			...['-f', 's16le', '-ac', '1', '-ar', String(RATE), '-'],
		]);
		const length = samples.length / 2 / RATE;
		times.push({ start: round(at), end: round(at + length) });
		at += length + PAUSE_SECONDS;
		parts.push(samples, silence);
	}
	execFileSync(
		'ffmpeg',
		[
			...['-loglevel', 'error', '-y', '-f', 's16le', '-ac', '1', '-ar', String(RATE), '-i', '-'],
			...['-b:a', '24k', '-map_metadata', '-1', '-bitexact', mp3],
		],
		{ input: Buffer.concat(parts) },
	);
	rmSync(folder, { recursive: true });
	return { times, total: round(at) };
}

async function writeScript() {
	await writeJson(path.join(root, 'test', 'simulator', 'recordings', `${NAME}.json`), {
		sha256: createHash('sha256').update(recording).digest('hex'),
		name: `^${NAME}\\.mp3$`,
		seconds: seconds.total,
		language: 'en',
		segments: SPOKEN.map(({ speaker, text }, index) => ({
			...seconds.times[index],
			speaker,
			text,
		})),
		summary: SUMMARY,
	});
}

async function fillExample() {
	const file = path.join(root, 'examples', 'recording-to-subtitles.json');
	const workflow = JSON.parse(readFileSync(file, 'utf8'));
	const node = workflow.nodes.find(({ name }) => name === 'Bundled Recording');
	const field = node.parameters.assignments.assignments.find(({ name }) => name === 'recording');
	field.value = recording.toString('base64');
	await writeJson(file, workflow);
}

async function writeJson(file, value) {
	const style = await prettier.resolveConfig(file);
	writeFileSync(file, await prettier.format(JSON.stringify(value), { ...style, filepath: file }));
}

function round(value) {
	return Math.round(value * 100) / 100;
}
