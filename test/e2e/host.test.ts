/** The host itself: nothing that it starts is left over. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { root } from './harness';

describe('an n8n whose starter was killed', () => {
	it('ends, and its folder is removed', async () => {
		const starter = spawn(
			process.execPath,
			[require.resolve('tsx/cli'), path.join(root, 'test/n8n/orphan.ts')],
			// A group of its own: tsx runs the script in a child process.
			{ stdio: ['ignore', 'pipe', 'inherit'], detached: true },
		);
		const line = await new Promise<string>((resolve) => {
			starter.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
		});
		const { pid, userFolder } = JSON.parse(line) as { pid: number; userFolder: string };
		expect(isRunning(pid)).toBe(true);
		expect(existsSync(userFolder)).toBe(true);

		process.kill(-Number(starter.pid), 'SIGKILL');
		const deadline = Date.now() + 15_000;
		while ((isRunning(pid) || existsSync(userFolder)) && Date.now() < deadline) await sleep(200);
		expect(isRunning(pid)).toBe(false);
		expect(existsSync(userFolder)).toBe(false);
	});
});

function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
