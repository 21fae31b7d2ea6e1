/** What the editor of a real n8n asks the package for, beside running it. */
import { Bench, NODE_TYPE } from './harness';

describe('the editor of a real n8n', () => {
	let bench: Bench;

	beforeAll(async () => {
		bench = await Bench.open({ rateLimits: false });
	});

	afterAll(async () => await bench.close());

	interface Found {
		results: Array<{ name: string; value: string }>;
		paginationToken?: string;
	}

	async function searchTasks(node: string, filter?: string): Promise<Found> {
		return await bench.rest.post<Found>('/dynamic-node-parameters/resource-locator-results', {
			path: 'parameters.taskId',
			methodName: 'searchTasks',
			nodeTypeAndVersion: { name: node, version: 1 },
			currentNodeParameters: { resource: 'task', operation: 'get' },
			credentials: { transcriberApi: bench.credential },
			filter,
		});
	}

	it.each([NODE_TYPE, `${NODE_TYPE}Tool`])('lists the tasks to choose from in %s', async (node) => {
		const older = await bench.finishedTask();
		const newer = await bench.finishedTask();
		const { results } = await searchTasks(node);
		expect(results.slice(0, 2)).toEqual([
			{ name: `${newer} (completed)`, value: newer },
			{ name: `${older} (completed)`, value: older },
		]);
	});

	it('searches them as the user types', async () => {
		const id = await bench.finishedTask();
		await bench.finishedTask();
		const { results } = await searchTasks(NODE_TYPE, id.slice(0, 13));
		expect(results.map(({ value }) => value)).toEqual([id]);
	});

	it.each([
		[NODE_TYPE, '/dictionary/sync', 'ignored_terms'],
		[NODE_TYPE, '/task/getResult', 'segments'],
		[`${NODE_TYPE}Trigger`, '', 'text'],
		['n8n-nodes-transcriber.transcriberAccountTrigger', '', 'text'],
	])('knows what %s%s will output before it has run', async (node, operation, field) => {
		const url = `${bench.n8n.url}/schemas/${node}/1.0.0${operation}.json`;
		const answer = await fetch(url);
		expect(answer.status).toBe(200);
		const schema = (await answer.json()) as { properties: Record<string, unknown> };
		expect(schema.properties).toHaveProperty(field);
	});
});
