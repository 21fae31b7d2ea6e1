/** All recordings of a folder, with a report. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Execution } from '../../n8n/rest';
import { Bench, readExample } from '../harness';
import { jsonOf, NO_SPEECH, withSettings } from './support';

describe('examples/folder-of-recordings.json', () => {
	const FAILED: Record<string, RegExp> = {
		'call-05.mp3': /No speech was found/,
		'call-09.wav': /is empty/,
		'call-13.m4a': /longer than 4 hours/,
		'call-17.mp4': /No speech was found/,
	};
	let bench: Bench;
	let folder: string;
	let execution: Execution;

	beforeAll(async () => {
		bench = await Bench.open({
			script: [
				{ ...NO_SPEECH, name: 'call-05.mp3' },
				{ ...NO_SPEECH, name: 'call-13.m4a', seconds: 5 * 3600 },
				{ ...NO_SPEECH, name: 'call-17.mp4' },
			],
		});
		folder = path.join(bench.n8n.files, 'recordings');
		await mkdir(folder, { recursive: true });
		const kinds = ['mp4', 'mp3', 'wav', 'mp3', 'm4a'];
		for (let number = 1; number <= 20; number++) {
			const name = `call-${String(number).padStart(2, '0')}`;
			const known = Object.keys(FAILED).find((file) => file.startsWith(name));
			const file = known ?? `${name}.${kinds[number % kinds.length]}`;
			await writeFile(path.join(folder, file), file === 'call-09.wav' ? '' : `sound ${number}`);
		}
		await writeFile(path.join(folder, 'notes.txt'), 'not a recording');
		const workflow = await readExample('folder-of-recordings.json');
		const outcome = await bench.outcome(withSettings(workflow, { folder }), 280_000);
		execution = outcome.execution;
	}, 300_000);

	afterAll(async () => await bench.close());

	it('transcribes 20 recordings, and one that fails does not stop the others', () => {
		expect(execution.error).toBeUndefined();
		expect(jsonOf(execution, 'Summary')).toEqual([
			{ done: 16, failed: 4, report: path.join(folder, 'report.csv') },
		]);
	});

	it('no recording is submitted twice, and none that cannot be right is submitted at all', () => {
		const names = bench.simulator.requests.flatMap(({ file }) => (file ? [file.name] : []));
		expect(new Set(names).size).toBe(names.length);
		expect(names).toHaveLength(19);
		expect(names).not.toContain('call-09.wav');
		expect(bench.simulator.requests.filter(({ status }) => status === 429)).toEqual([]);
	});

	it('leaves a subtitle file beside each recording that was transcribed', async () => {
		const subtitles = (await readdir(folder)).filter((file) => file.endsWith('.srt'));
		expect(subtitles).toHaveLength(16);
		expect(await readFile(path.join(folder, 'call-01.mp3.srt'), 'utf8')).toMatch(
			/^1\r?\n00:00:00,000 --> /,
		);
	});

	it('reports every recording, and the reason where there is no transcript', () => {
		const rows = jsonOf(execution, 'In the Order of Names') as Array<Record<string, string>>;
		expect(rows.map(({ file }) => file?.slice(0, 7))).toEqual(
			Array.from({ length: 20 }, (_, index) => `call-${String(index + 1).padStart(2, '0')}`),
		);
		for (const { file = '', result, reason, task_id: taskId } of rows) {
			const why = FAILED[file];
			expect({ file, result }).toEqual({ file, result: why ? 'failed' : 'done' });
			if (why) expect(reason).toMatch(why);
			else expect(bench.simulator.task(taskId ?? '').name).toBe(file);
		}
	});

	it('saves the report as a CSV file', async () => {
		const lines = (await readFile(path.join(folder, 'report.csv'), 'utf8')).trim().split(/\r?\n/);
		expect(lines[0]).toMatch(/file,result,task_id,words,summary,reason$/);
		expect(lines).toHaveLength(21);
	});

	it('stops and says so where the folder has no recordings', async () => {
		const empty = path.join(bench.n8n.files, 'nothing here');
		const from = bench.simulator.requests.length;
		const workflow = withSettings(await readExample('folder-of-recordings.json'), {
			folder: empty,
		});
		const { execution: stopped } = await bench.outcome(workflow);
		expect(stopped.status).toBe('error');
		expect(stopped.error?.message).toBe(
			`No recordings were found in '${empty}'. In 'Settings', enter a folder with recordings that n8n may read.`,
		);
		expect(bench.asked(from)).toEqual([]);
	});

	it('as it is imported, it says that the folder is not yet entered', async () => {
		const { execution: stopped } = await bench.outcome(
			await readExample('folder-of-recordings.json'),
		);
		expect(stopped.error?.message).toContain("'/path/to/your/recordings'");
	});
});
