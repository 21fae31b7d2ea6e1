// Ends what a run started when that run is gone, however it went: its standard input is a pipe that only the run
// holds open. A line on it is a process group to end, `+<id>`, or one that has ended, `-<id>`. Argument: a folder to
// remove.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder] = process.argv.slice(2);
const groups = new Set();

/** Whether any of them was still there to get it. */
function signal(name) {
	for (const group of groups) {
		try {
			process.kill(-group, name);
		} catch {
			groups.delete(group);
		}
	}
	return groups.size > 0;
}

createInterface({ input: process.stdin })
	.on('line', (line) => groups[line.startsWith('+') ? 'add' : 'delete'](Number(line.slice(1))))
	.on('close', async () => {
		signal('SIGTERM');
		for (let waited = 0; waited < 5000 && signal(0); waited += 100) await sleep(100);
		signal('SIGKILL');
		if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		process.exit(0);
	});
