// Ends what a run started when that run is gone, however it went: its standard input is a pipe that only the run
// holds open. Each line on it is the process group to end, the last one counts. Argument: a folder to remove.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [folder] = process.argv.slice(2);
let group = 0;

function signal(name) {
	if (group === 0) return false;
	try {
		process.kill(-group, name);
		return true;
	} catch {
		return false;
	}
}

createInterface({ input: process.stdin })
	.on('line', (line) => (group = Number(line)))
	.on('close', async () => {
		signal('SIGTERM');
		for (let waited = 0; waited < 5000 && signal(0); waited += 100) await sleep(100);
		signal('SIGKILL');
		if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		process.exit(0);
	});
