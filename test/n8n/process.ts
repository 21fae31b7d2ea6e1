/** Processes that end with this one, however this one ends. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_WITHIN_MS = 12_000;
const LOG_LIMIT = 4_000_000;

/** Ctrl-C, a crash or `kill -9` of this process must leave nothing behind: see guard.mjs. */
export class Guard {
	private readonly child: ChildProcess;

	constructor(folder = '') {
		this.child = spawn(process.execPath, [path.join(__dirname, 'guard.mjs'), folder], {
			detached: true,
			stdio: ['pipe', 'ignore', 'ignore'],
		});
		this.child.unref();
		// It ends with its run at the latest: a line that comes too late is no reason to fail.
		this.child.stdin?.on('error', () => {});
	}

	watch(pid: number): void {
		this.child.stdin?.write(`+${pid}\n`);
	}

	forget(pid: number): void {
		this.child.stdin?.write(`-${pid}\n`);
	}

	/** Nothing is left to guard. */
	release(): void {
		this.child.kill('SIGKILL');
	}
}

/** One process, in a group of its own, so that whatever it starts ends with it. */
export class OwnProcess {
	private readonly child: ChildProcess;

	private text = '';

	constructor(
		command: string,
		args: string[],
		{ onOutput, ...options }: SpawnOptions & { onOutput?: (text: string) => void },
		private readonly guard: Guard,
	) {
		this.child = spawn(command, args, {
			...options,
			detached: true,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const collect = (chunk: Buffer | string) => {
			const text = chunk.toString();
			this.text = (this.text + text).slice(-LOG_LIMIT);
			onOutput?.(text);
		};
		this.child.stdout?.on('data', collect);
		this.child.stderr?.on('data', collect);
		this.child.on('error', (error) => collect(`${error.message}\n`));
		if (this.child.pid !== undefined) guard.watch(this.child.pid);
	}

	/** Undefined if it could not be started. */
	get pid(): number | undefined {
		return this.child.pid;
	}

	/** Everything it wrote, the oldest left out where that is very much. */
	get output(): string {
		return this.text;
	}

	get hasEnded(): boolean {
		const { exitCode, signalCode, pid } = this.child;
		return exitCode !== null || signalCode !== null || pid === undefined;
	}

	/** What has ended it; null if it runs, or has ended by itself. */
	get signal(): NodeJS.Signals | null {
		return this.child.signalCode;
	}

	/** Waits until it is as wanted, and says what went wrong where it is not. */
	async until(isReady: () => Promise<boolean> | boolean, name: string, withinMs: number) {
		const deadline = Date.now() + withinMs;
		while (!(await isReady())) {
			if (this.hasEnded || Date.now() > deadline) {
				const what = this.hasEnded
					? 'ended while starting'
					: `was not ready after ${withinMs / 60_000} minutes`;
				throw new Error(`${name} ${what}. The end of its log:\n${lastLines(this.text)}`);
			}
			await sleep(200);
		}
	}

	async whenEnded(): Promise<void> {
		if (this.hasEnded) return;
		await new Promise((resolve) => this.child.once('exit', resolve));
	}

	/** With SIGKILL at once, as a power cut would; otherwise in an orderly way, if that does not take too long. */
	async end(signal: NodeJS.Signals): Promise<void> {
		const { pid } = this.child;
		if (pid === undefined) return;
		const ended = this.whenEnded();
		killGroup(pid, signal);
		await Promise.race([ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
		// Also for what it started and what outlived an orderly end.
		killGroup(pid, 'SIGKILL');
		await ended;
		this.guard.forget(pid);
	}
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(-pid, signal);
	} catch {
		// The group is gone already.
	}
}

function lastLines(text: string): string {
	return text.trimEnd().split('\n').slice(-25).join('\n');
}
