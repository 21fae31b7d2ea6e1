/** An agent that answers from transcripts, with a model that follows a script. */
import { startModel, type ScriptedModel } from '../../support/model';
import { Bench, readExample } from '../harness';
import { jsonOf } from './support';

describe('examples/ask-your-meetings.json', () => {
	let bench: Bench;
	let model: ScriptedModel;

	beforeAll(async () => {
		bench = await Bench.open();
		model = await startModel();
	});

	afterAll(async () => {
		await model.close();
		await bench.close();
	});

	it('the agent lists recordings, reads a summary and a transcript, and answers', async () => {
		const taskId = await bench.finishedTask();
		model.script(
			[{ tool: 'List_Recordings', args: { limit: 5 } }],
			([list = '']) => {
				expect(list).toContain(taskId);
				return [{ tool: 'Read_Summary', args: { task_id: taskId } }];
			},
			[{ tool: 'Read_Transcript', args: { task_id: taskId } }],
			'It was a simulation.',
		);
		const openAiApi = await bench.rest.createCredential('openAiApi', {
			apiKey: 'none',
			url: model.url,
		});
		const workflow = await readExample('ask-your-meetings.json');
		workflow.pinData = {
			'When Chat Message Received': [
				{ json: { chatInput: 'What was said?', sessionId: 'session', action: 'sendMessage' } },
			],
		};
		const stored = await bench.rest.createWorkflow(workflow, {
			transcriberApi: bench.credential,
			openAiApi,
		});
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(stored);
		expect(execution.error).toBeUndefined();
		expect(jsonOf(execution, 'Meeting Assistant')).toMatchObject([
			{ output: 'It was a simulation.' },
		]);
		expect(bench.asked(from).filter((line) => line !== 'GET /tasks')).toEqual([
			`GET /tasks/${taskId}/result`,
			`GET /tasks/${taskId}/result`,
		]);
		const [, summary = '', transcript = ''] = model.toolResults();
		expect(summary).toContain('summary');
		expect(summary).not.toContain('segments');
		expect(transcript).toContain('text');
		expect(transcript).not.toContain('summary');
	});

	it('its tools can neither rotate keys nor send bots nor change anything', async () => {
		const { nodes } = await readExample('ask-your-meetings.json');
		const tools = nodes.filter(({ type }) => type.endsWith('.transcriberTool'));
		expect(tools.map(({ parameters }) => parameters.operation)).toEqual([
			'getAll',
			'getResult',
			'getResult',
		]);
	});
});
