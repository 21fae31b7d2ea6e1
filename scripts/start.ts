/**
 * `npm start`: a real n8n with this package in it, transcribing a real recording. The service behind it is the
 * simulator, so nothing leaves this machine and no account is needed.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { startN8n, type N8nHost } from '../test/n8n/host';
import { packPackage } from '../test/n8n/npm';
import {
	itemsOf,
	OWNER,
	type Execution,
	type StoredWorkflow,
	type Workflow,
} from '../test/n8n/rest';
import { N8N_2 } from '../test/n8n/versions';
import { startSimulator, type Simulator } from '../test/simulator';

const root = path.join(__dirname, '..');
const output = path.join(root, 'output');
const EXAMPLE = 'recording-to-subtitles.json';
const NODE_TYPE = 'n8n-nodes-transcriber.transcriber';
/** Half a minute of processing becomes some four seconds: long enough to see it happen. */
const CLOCK_RATE = 8;
/** npm, tsx and the terminal may each pass on the same Ctrl-C. */
const AGAIN_AFTER_MS = 1_000;
const TRANSCRIPT_WITHIN_MS = 120_000;

const USAGE = `npm start                       run the example, then keep n8n running
npm start -- --once             run the example and end
npm start -- --n8n 1.123.81     the same with another of the tested n8n versions`;

/** Undone in reverse order, whichever way this ends. */
const cleanUps: Array<() => Promise<void>> = [];
let n8n: N8nHost | undefined;

async function main(): Promise<void> {
	const { once, version } = readArguments();
	stopOnSignals();

	say(`Starting the simulated service`);
	const simulator = await startSimulator({ clockRate: CLOCK_RATE, balance: 1_000 });
	cleanUps.push(async () => await simulator.close());

	say('Packing n8n-nodes-transcriber as it would be published');
	const packing = packPackage(root);
	cleanUps.push(async () => await (await packing).dispose());
	const { tarball } = await packing;

	say(`Starting n8n ${version} with the package installed`);
	const host = await startN8n({ version, packageTarball: tarball, log: detail });
	n8n = host;
	cleanUps.push(async () => await host.stop());
	detail(`ready at ${host.url}`);

	const workflows = await importExamples(host, simulator);
	const example = workflows.get(EXAMPLE);
	if (example === undefined) throw new Error(`examples/${EXAMPLE} is missing`);

	say(`Running "${example.name}"`);
	const execution = await runWithProgress(host, simulator, example);
	await showTranscript(host, execution);

	if (once) return;
	console.log(`
n8n is running.    Editor:   ${host.url}
                   E-mail:   ${OWNER.email}
                   Password: ${OWNER.password}
The service is the simulator at ${simulator.url}: it recognises no speech, its transcripts are scripted.
Press Ctrl-C to stop everything.`);
	await new Promise(() => {});
}

function readArguments(): { once: boolean; version: string } {
	try {
		const { values } = parseArgs({
			options: { once: { type: 'boolean' }, n8n: { type: 'string' } },
		});
		return { once: values.once ?? false, version: values.n8n ?? N8N_2 };
	} catch (error) {
		throw new Error(`${messageOf(error)}\n${USAGE}`);
	}
}

async function importExamples(
	host: N8nHost,
	simulator: Simulator,
): Promise<Map<string, StoredWorkflow>> {
	const credential = await host.rest.createCredential(
		'transcriberApi',
		{ baseUrl: simulator.url, apiKey: simulator.apiKey },
		'Transcriber API',
	);
	const folder = path.join(root, 'examples');
	const workflows = new Map<string, StoredWorkflow>();
	for (const file of (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()) {
		const workflow = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Workflow;
		workflows.set(file, await host.rest.createWorkflow(workflow, { transcriberApi: credential }));
		detail(`imported examples/${file}`);
	}
	return workflows;
}

async function runWithProgress(
	host: N8nHost,
	simulator: Simulator,
	workflow: StoredWorkflow,
): Promise<Execution> {
	const id = await host.rest.run(workflow);
	const watching = new AbortController();
	const watcher = watchTasks(simulator, watching.signal);
	const execution = await host.rest.waitForEnd(id, TRANSCRIPT_WITHIN_MS).finally(async () => {
		watching.abort();
		await watcher;
	});
	if (execution.status !== 'success') {
		const { message, description } = execution.error ?? { message: execution.status };
		throw new Error([`The workflow did not succeed: ${message}`, description].join('\n').trim());
	}
	return execution;
}

/** What a user of the service would see who asks for the task every half second. */
async function watchTasks(simulator: Simulator, signal: AbortSignal): Promise<void> {
	let shown = '';
	while (!signal.aborted) {
		const [task] = simulator.tasks();
		if (task !== undefined) {
			const answer = await fetch(`${simulator.url}/api/v1/tasks/${task.id}`, {
				headers: { 'X-API-Key': simulator.apiKey },
			});
			const state = (await answer.json()) as { status: string; progress?: number; stage?: string };
			const line = [
				`task ${task.id}: ${state.status}`,
				state.stage === undefined ? '' : `, ${state.stage}`,
				state.status === 'pending' ? '' : `, ${state.progress ?? 0} %`,
			].join('');
			if (answer.ok && line !== shown) detail(line);
			shown = line;
		}
		await sleep(500, undefined, { signal }).catch(() => undefined);
	}
}

async function showTranscript(host: N8nHost, execution: Execution): Promise<void> {
	const { nodes } = await host.rest.get<Workflow>(`/workflows/${execution.workflowId}`);
	const node = nodes.find(({ type }) => type === NODE_TYPE);
	const [item] = itemsOf(execution, node?.name ?? '');
	const subtitles = Object.values(item?.binary ?? {}).find(({ fileName }) =>
		fileName?.endsWith('.srt'),
	);
	if (item === undefined || subtitles?.fileName === undefined) {
		throw new Error('The workflow ended without a transcript and a subtitle file.');
	}
	await mkdir(output, { recursive: true });
	const file = path.join(output, path.basename(subtitles.fileName));
	await writeFile(file, await host.rest.download(subtitles));

	console.log('\nTranscript (scripted: the simulator recognises no speech)\n');
	console.log(readable(item.json));
	console.log(`\nSubtitles: ${file}`);
}

/** Who said what, where the result tells; the plain text otherwise. */
function readable({ text, segments }: Record<string, unknown>): string {
	if (!Array.isArray(segments)) return String(text);
	return (segments as Array<{ speaker?: string; text?: string }>)
		.map((segment) => `  ${segment.speaker ?? 'Speaker'}: ${segment.text ?? ''}`)
		.join('\n');
}

function stopOnSignals(): void {
	let first = 0;
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => {
			if (first === 0) {
				first = Date.now();
				console.log('\nStopping n8n and the simulator …');
				void cleanUp().then(() => process.exit(0));
			} else if (Date.now() - first > AGAIN_AFTER_MS) {
				// Whoever presses Ctrl-C again does not want to wait: the guard beside n8n ends it.
				process.exit(130);
			}
		});
	}
}

async function cleanUp(): Promise<void> {
	for (const undo of cleanUps.splice(0).reverse()) await undo().catch(() => undefined);
}

function say(line: string): void {
	console.log(`\n${line}`);
}

function detail(line: string): void {
	console.log(`  ${line}`);
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

async function explain(error: unknown): Promise<void> {
	console.error(`\nThis did not work.\n${messageOf(error)}`);
	if (n8n === undefined) return;
	await mkdir(output, { recursive: true });
	await writeFile(path.join(output, 'n8n.log'), n8n.log());
	console.error(`n8n's own log: ${path.join(output, 'n8n.log')}`);
}

main()
	.catch(async (error: unknown) => {
		process.exitCode = 1;
		await explain(error);
	})
	.then(cleanUp)
	.then(() => process.exit());
