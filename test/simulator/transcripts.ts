import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ExportFormat } from './options';

/** The prepared transcript of a known recording: the simulator recognises no speech. */
export interface ScriptedRecording {
	/** SHA-256 of the file, in hexadecimal. */
	sha256?: string;
	/** Source of a regular expression for the file name, the link or the meeting's address. */
	name?: string;
	seconds: number;
	language?: string;
	segments: Segment[];
	summary: string;
	/** The task fails with this reason. */
	fail?: string;
}

export interface Segment {
	start: number;
	end: number;
	speaker: string;
	text: string;
}

export interface Transcript {
	text: string;
	segments: Segment[];
	summary: string;
	speakers: string[];
}

export interface TermChange {
	segment: number;
	before: string;
	after: string;
}

const SIMULATED_LINES = [
	'Hello, and welcome. This transcript is simulated.',
	'Simulated? So nobody listened to the recording?',
	'Nobody did. The simulator answers every unknown recording with these same lines.',
	'Then what are they good for?',
	'They show how segments, speakers and subtitles arrive in a workflow.',
	'Understood. Thank you, and goodbye.',
];
const SIMULATED_SUMMARY =
	'Simulated summary: two speakers explain that this transcript is scripted and that no speech was recognised.';

/** The prepared recordings: every `recordings/*.json`, which has one recording or an array. */
export function bundledRecordings(): ScriptedRecording[] {
	const folder = join(__dirname, 'recordings');
	return jsonFiles(folder).flatMap(
		(name): ScriptedRecording | ScriptedRecording[] =>
			JSON.parse(readFileSync(join(folder, name), 'utf8')) as
				ScriptedRecording | ScriptedRecording[],
	);
}

function jsonFiles(folder: string): string[] {
	try {
		return readdirSync(folder)
			.filter((name) => name.endsWith('.json'))
			.sort();
	} catch {
		return [];
	}
}

/** The first recording with this hash, else the first whose name matches. */
export function findRecording(
	recordings: ScriptedRecording[],
	sha256: string,
	name: string,
): ScriptedRecording | undefined {
	return (
		recordings.find((known) => known.sha256 !== undefined && known.sha256 === sha256) ??
		recordings.find((known) => known.name !== undefined && new RegExp(known.name).test(name))
	);
}

/** The transcript of a known recording, or the default one, stretched to the recording's length. */
export function transcribe(
	known: ScriptedRecording | undefined,
	seconds: number,
	speakers = 2,
): Transcript {
	return transcriptOf(
		known?.segments ?? simulatedSegments(seconds, speakers),
		known?.summary ?? SIMULATED_SUMMARY,
	);
}

function transcriptOf(segments: Segment[], summary: string): Transcript {
	return {
		text: segments.map((segment) => segment.text).join(' '),
		segments,
		summary,
		speakers: [...new Set(segments.map((segment) => segment.speaker))],
	};
}

function simulatedSegments(seconds: number, speakers: number): Segment[] {
	const letters = SIMULATED_LINES.reduce((sum, line) => sum + line.length, 0);
	const timeOf = (lettersBefore: number) => Math.round((seconds * 1000 * lettersBefore) / letters);
	let before = 0;
	return SIMULATED_LINES.map((text, index) => {
		const start = timeOf(before) / 1000;
		before += text.length;
		const end = timeOf(before) / 1000;
		return { start, end, speaker: `Speaker ${(index % speakers) + 1}`, text };
	});
}

/** Section "Dictionary": writes the terms as the dictionary spells them, wherever they occur. */
export function applyTerms(
	transcript: Transcript,
	terms: string[],
): { transcript: Transcript; changes: TermChange[] } {
	const changes: TermChange[] = [];
	const segments = transcript.segments.map((segment, index) => {
		let text = segment.text;
		for (const term of terms) {
			text = text.replace(wholeWord(term), (before) => {
				if (before !== term) changes.push({ segment: index, before, after: term });
				return term;
			});
		}
		return { ...segment, text };
	});
	return { transcript: transcriptOf(segments, transcript.summary), changes };
}

function wholeWord(term: string): RegExp {
	const escaped = term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
	return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'giu');
}

/** Resource "Export": `content` in one of the four formats. */
export function exportTranscript(transcript: Transcript, format: ExportFormat): string {
	const { segments } = transcript;
	switch (format) {
		case 'txt':
			return segments.map(({ speaker, text }) => `${speaker}: ${text}\n`).join('');
		case 'srt':
			return segments
				.map(
					({ start, end, speaker, text }, index) =>
						`${index + 1}\n${cueTimes(start, end, ',')}\n${speaker}: ${oneLine(text)}\n`,
				)
				.join('\n');
		case 'vtt':
			return [
				'WEBVTT\n',
				...segments.map(
					({ start, end, speaker, text }) =>
						`${cueTimes(start, end, '.')}\n<v ${vttText(speaker)}>${vttText(text)}\n`,
				),
			].join('\n');
		case 'json':
			return JSON.stringify(transcript, null, 2);
	}
}

function cueTimes(start: number, end: number, separator: string): string {
	return `${timecode(start, separator)} --> ${timecode(end, separator)}`;
}

function timecode(seconds: number, separator: string): string {
	const ms = Math.round(seconds * 1000);
	const pad = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
	const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) => pad(part));
	return `${clock.join(':')}${separator}${pad(ms % 1000, 3)}`;
}

/** A blank line would end the cue. */
function oneLine(text: string): string {
	return text.replace(/\s*[\r\n]+\s*/g, ' ');
}

function vttText(text: string): string {
	return oneLine(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
