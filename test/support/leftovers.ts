/** Kills a script with `kill -9`, and reports what the script's children and files left behind. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs a script that prints what it has started, as `{"pids": [], "folder": ""}`, and kills the
 * script. Returns which of these existed before the kill, and which are left some time later.
 */
export async function killStarter(script: string): Promise<{ before: unknown[]; left: unknown[] }> {
	const starter = spawn(
		process.execPath,
		[require.resolve('tsx/cli'), script],
		// Its own process group, because tsx runs the script in a child process.
		{ stdio: ['ignore', 'pipe', 'inherit'], detached: true },
	);
	const line = await new Promise<string>((resolve) => {
		starter.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
	});
	const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
	const there = () => [...pids.filter(isRunning), ...[folder].filter(existsSync)];
	const before = there();
	process.kill(-Number(starter.pid), 'SIGKILL');
	const deadline = Date.now() + 30_000;
	while (there().length > 0 && Date.now() < deadline) await sleep(200);
	return { before, left: there() };
}

function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}
