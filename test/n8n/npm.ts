/** Runs npm in the same way whether it was npm that started us (`npm start`, `npm test`) or not. */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export function spawnNpm(args: string[], options: SpawnOptions): ChildProcess {
	const env = { ...withoutProjectSettings(process.env), ...options.env };
	// npm says where it is when it runs us; that way is the same on every platform.
	const script = process.env.npm_execpath;
	return script?.endsWith('.js')
		? spawn(process.execPath, [script, ...args], { ...options, env })
		: spawn('npm', args, { ...options, env, shell: process.platform === 'win32' });
}

/** Under `npm run` the environment holds this project's own settings, which are not meant for other packages. */
function withoutProjectSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const projectOnly =
		/^(npm_package_|npm_lifecycle_|npm_config_(local_prefix|ignore_scripts|prefix)$|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$)/;
	return Object.fromEntries(Object.entries(env).filter(([name]) => !projectOnly.test(name)));
}

/** A tarball of the package in `root`, exactly as it would be published, in a temporary folder. */
export async function packPackage(
	root: string,
): Promise<{ tarball: string; dispose: () => Promise<void> }> {
	const folder = await mkdtemp(path.join(tmpdir(), 'transcriber-pack-'));
	const dispose = async () => await rm(folder, { recursive: true, force: true });
	const child = spawnNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const out = { stdout: '', stderr: '' };
	child.stdout?.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()));
	child.stderr?.on('data', (chunk: Buffer) => (out.stderr += chunk.toString()));
	const code = await new Promise<number | null>((resolve, reject) => {
		child.on('error', reject);
		child.on('close', resolve);
	});
	if (code !== 0) {
		await dispose();
		throw new Error(`npm pack did not work:\n${out.stderr.trim()}`);
	}
	const [packed] = JSON.parse(out.stdout) as [{ filename: string }];
	return { tarball: path.join(folder, packed.filename), dispose };
}
