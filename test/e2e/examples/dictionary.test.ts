/** The rows of a sheet and the dictionary of the account. */
import type { StoredWorkflow } from '../../n8n/rest';
import { Bench, readExample } from '../harness';
import { jsonOf } from './support';

describe('examples/sync-dictionary.json', () => {
	let bench: Bench;
	let workflow: StoredWorkflow;

	beforeAll(async () => {
		bench = await Bench.open({ limitTerms: 3 });
		workflow = await bench.rest.createWorkflow(await readExample('sync-dictionary.json'), {
			transcriberApi: bench.credential,
		});
	});

	afterAll(async () => await bench.close());

	const TERMS = ['Kubernetes', 'Анна Петрова', 'OKR', 'n8n'];

	it('the rows of the sheet become the dictionary, with one read and one write', async () => {
		await bench.call('PUT', 'dictionary', { terms: ['n8n', 'outdated'] });
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(workflow);
		expect(execution.error).toBeUndefined();
		expect(bench.asked(from)).toEqual(['GET /dictionary', 'PUT /dictionary']);
		expect(await bench.call('GET', 'dictionary')).toMatchObject({ terms: TERMS });
		expect(jsonOf(execution, 'Tell What Changed')).toEqual([
			{
				message:
					'4 terms with 28 of 20000 characters. Added: Kubernetes, Анна Петрова, OKR. Removed: outdated. Not applied, because only the first 3 are: n8n.',
			},
		]);
	});

	it('the next run finds nothing to do and writes nothing', async () => {
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(workflow);
		expect(bench.asked(from)).toEqual(['GET /dictionary']);
		expect(jsonOf(execution, 'Nothing to Tell')).toMatchObject([
			{ changed: false, unchanged: TERMS },
		]);
		expect(execution.runData['Tell What Changed']).toBeUndefined();
	});
});
