/** Bots for the meetings of the day, in an execution that is suspended until all have been transcribed. */
import type { Execution, StoredWorkflow } from '../../n8n/rest';
import { Bench, readExample } from '../harness';
import { crmRows, meetingsOf, NO_SPEECH, withCrmTable } from './support';

describe('examples/meeting-to-crm.json', () => {
	let bench: Bench;
	let stored: StoredWorkflow;
	let execution: Execution;
	let whileWaiting: Execution;

	beforeAll(async () => {
		bench = await Bench.open({ script: [NO_SPEECH] });
		const workflow = await readExample('meeting-to-crm.json');
		stored = await bench.rest.createWorkflow(await withCrmTable(bench, workflow), {
			transcriberApi: bench.credential,
		});
		const id = await bench.rest.run(stored);
		whileWaiting = await bench.rest.waitFor(id, ({ status }) => status === 'waiting');
		execution = await bench.rest.waitForEnd(id, 90_000);
	});

	afterAll(async () => await bench.close());

	it('sends bots at the time of the meetings, to those whose participants consent', () => {
		const bots = meetingsOf(bench);
		expect(bots.map(({ meeting_url: url }) => url).sort()).toEqual([
			'https://meet.example.com/acme-kick-off',
			'https://meet.example.com/globex-review',
		]);
		for (const { start_at: startAt, consent_acknowledged: consent } of bots) {
			expect(consent).toBe(true);
			expect(Date.parse(String(startAt)) - Date.parse(execution.startedAt ?? '')).toBeGreaterThan(
				100_000,
			);
		}
	});

	it('is suspended until the transcripts are ready', () => {
		expect(whileWaiting.status).toBe('waiting');
		expect(execution.status).toBe('success');
	});

	it('writes a row for each meeting: summary and speakers, or why there is no transcript', async () => {
		const rows = await crmRows(bench);
		expect(rows).toHaveLength(2);
		expect(rows).toEqual(
			expect.arrayContaining([
				expect.objectContaining({
					title: 'Kick-off',
					customer: 'Acme',
					outcome: 'transcribed',
					task_id: expect.stringMatching(/./),
					summary: expect.stringMatching(/simulat/i),
					speakers: expect.stringMatching(/./),
				}),
				expect.objectContaining({
					title: 'Quarterly review',
					customer: 'Globex',
					outcome: expect.stringContaining('No speech was found'),
				}),
			]),
		);
	});

	it('run again on the same day, it sends no second bot to the same meeting', async () => {
		const again = await bench.rest.runToEnd(stored);
		expect(again.error).toBeUndefined();
		expect(again.runData['Send Bot and Wait']).toBeUndefined();
		expect(meetingsOf(bench)).toHaveLength(2);
		expect(await crmRows(bench)).toHaveLength(2);
	});
});
