/** With On Error = Continue: what the steps after the node can read of its items, if one of them has failed. */
import { itemsOf, type Workflow, type WorkflowNode } from '../n8n/rest';
import { Bench, NODE_TYPE } from './harness';

let bench: Bench;
beforeAll(async () => {
	bench = await Bench.open();
});
afterAll(async () => await bench.close());

const LINKS = ['https://example.com/a.mp3', 'example.com/b.mp3', 'https://example.com/c.mp3'];

/** The ways in which people read the items of the step before. */
const READ = {
	all: "={{ $input.all().map(({ json }) => json.task_id ?? json.error).join(' / ') }}",
	first: '={{ $input.first().json.task_id ?? $input.first().json.error }}',
	byName:
		"={{ $('Transcriber').all(OUTPUT).map(({ json }) => json.task_id ?? json.error).join(' / ') }}",
};

const node = (name: string, type: string, more: Partial<WorkflowNode>): WorkflowNode => ({
	name,
	type,
	typeVersion: 1,
	parameters: {},
	...more,
});

function workflow(onError: 'continueErrorOutput' | 'continueRegularOutput'): Workflow {
	const output = onError === 'continueErrorOutput' ? 1 : 0;
	const rows = JSON.stringify({ links: LINKS.map((link) => ({ link })) });
	const assignments = Object.entries(READ).map(([name, value]) => ({
		id: name,
		name,
		type: 'string',
		value: value.replace('OUTPUT', String(output)),
	}));
	const to = (name: string) => [{ node: name, type: 'main' as const, index: 0 }];
	return {
		name: onError,
		nodes: [
			node('Start', 'n8n-nodes-base.manualTrigger', {}),
			node('Rows', 'n8n-nodes-base.set', {
				typeVersion: 3.4,
				parameters: { mode: 'raw', jsonOutput: rows, options: {} },
			}),
			node('Split', 'n8n-nodes-base.splitOut', {
				parameters: { fieldToSplitOut: 'links', options: {} },
			}),
			node('Transcriber', NODE_TYPE, {
				onError,
				parameters: {
					resource: 'transcription',
					operation: 'transcribeUrl',
					url: '={{ $json.link }}',
					onCompletion: 'returnTask',
				},
				credentials: { transcriberApi: { name: '' } },
			}),
			node('Report', 'n8n-nodes-base.set', {
				typeVersion: 3.4,
				executeOnce: true,
				parameters: { assignments: { assignments }, options: {} },
			}),
		],
		connections: {
			Start: { main: [to('Rows')] },
			Rows: { main: [to('Split')] },
			Split: { main: [to('Transcriber')] },
			Transcriber: { main: output === 1 ? [[], to('Report')] : [to('Report')] },
		},
	};
}

it.each([
	['continueRegularOutput', /^[\w-]+ \/ 'URL' .* \[item 1\] \/ [\w-]+$/, /^[\w-]+$/],
	['continueErrorOutput', /^'URL' .* \[item 1\]$/, /^'URL' .* \[item 1\]$/],
] as const)('%s: they can read all of them', async (onError, all, first) => {
	const stored = await bench.rest.createWorkflow(workflow(onError), {
		transcriberApi: bench.credential,
	});
	const execution = await bench.rest.runToEnd(stored);
	expect(execution.error).toBeUndefined();
	expect(itemsOf(execution, 'Report').map(({ json }) => json)).toMatchObject([
		{
			all: expect.stringMatching(all),
			byName: expect.stringMatching(all),
			first: expect.stringMatching(first),
		},
	]);
});
