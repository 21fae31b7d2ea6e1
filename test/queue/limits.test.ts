/** The service's rate limits with two workers, each of which knows only its own requests. */
import { Bench, chain } from '../e2e/harness';
import { itemsOf } from '../n8n/rest';
import { workerOf } from './harness';

const EXECUTIONS = 6;
const RECORDINGS = 3;

describe('two workers that submit at once', () => {
	let bench: Bench;

	beforeAll(async () => {
		// In real time, because the node keeps to real minutes.
		bench = await Bench.open({ clockRate: 1, processingSeconds: 1 });
	});

	afterAll(async () => await bench.close());

	it('together exceed what the service allows: nothing is refused to the user, nothing submitted twice', async () => {
		const run = async (execution: number) => {
			const items = Array.from({ length: RECORDINGS }, (_, index) => ({
				file: Buffer.from(`recording ${execution}/${index}`).toString('base64'),
			}));
			const workflow = chain(
				{ resource: 'transcription', operation: 'transcribeFile', onCompletion: 'returnTask' },
				{ file: { name: 'talk.mp3', mimeType: 'audio/mpeg', content: '' } },
			);
			const stored = await bench.rest.createWorkflow(
				{ ...workflow, pinData: { Start: items.map((json) => ({ json })) } },
				{ transcriberApi: bench.credential },
			);
			return await bench.rest.runToEnd(stored, 240_000);
		};
		const executions = await Promise.all(Array.from({ length: EXECUTIONS }, (_, no) => run(no)));

		expect(new Set(executions.map(({ id }) => workerOf(id))).size).toBe(2);
		// Beside them the workers look whether there is room.
		const submits = bench.simulator.requests.filter(({ method }) => method === 'POST');
		const answers = submits.map(({ status }) => status);
		// Each worker keeps to the limit on its own; so this is what only the service could tell them.
		expect(answers).toContain(429);
		expect(executions.map(({ error }) => error?.message)).toEqual(
			Array(EXECUTIONS).fill(undefined),
		);
		const ids = executions.flatMap((each) =>
			itemsOf(each, 'Subject').map(({ json }) => json.task_id),
		);
		expect(ids.sort()).toEqual(
			bench.simulator
				.tasks()
				.map(({ id }) => id)
				.sort(),
		);
		expect(ids).toHaveLength(EXECUTIONS * RECORDINGS);
		const accepted = submits.filter(({ status }) => status === 200);
		expect(new Set(accepted.map(({ file }) => file?.sha256)).size).toBe(accepted.length);
		console.log(
			`${accepted.length} accepted, ${answers.length - accepted.length} times told to wait`,
		);
	}, 300_000);
});
