/** Bots for the meetings of the day, in an execution that waits until all have been transcribed. */
import type { Execution, StoredWorkflow } from '../../n8n/rest';
import { Bench, readExample } from '../harness';
import { crmRows, meetingsOf, NO_SPEECH, nodeOf, rowsOf, withCrmTable } from './support';

describe('examples/meeting-to-crm.json', () => {
	let bench: Bench;
	let stored: StoredWorkflow;
	let execution: Execution;

	beforeAll(async () => {
		bench = await Bench.open({ script: [NO_SPEECH] });
		const workflow = await readExample('meeting-to-crm.json');
		stored = await bench.rest.createWorkflow(await withCrmTable(bench, workflow), {
			transcriberApi: bench.credential,
		});
		execution = await bench.rest.runToEnd(stored, 90_000);
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

	it('needs no public address: it asks the service for the transcripts', () => {
		expect(meetingsOf(bench).filter((bot) => 'webhook_url' in bot)).toEqual([]);
		expect(execution.status).toBe('success');
	});

	it('writes a row for each meeting: summary and speakers, or why there is no transcript and what to do', async () => {
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
					outcome: expect.stringMatching(
						/No speech was found.*\. The recording of the meeting has no transcript\./,
					),
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

	it('where a bot could not be sent, it writes all rows, then ends in an error that says how to send again', async () => {
		const workflow = await readExample('meeting-to-crm.json');
		const { parameters } = nodeOf(workflow, "Today's Meetings");
		parameters.jsonOutput = String(parameters.jsonOutput)
			.replace("'Kick-off'", "'Coming meeting'")
			.replace("'Quarterly review'", "'Past meeting'")
			.replace('plus({ minutes: 3 })', 'minus({ minutes: 3 })');
		const late = await bench.rest.createWorkflow(await withCrmTable(bench, workflow), {
			transcriberApi: bench.credential,
		});
		const failed = await bench.rest.runToEnd(late, 90_000);

		expect(failed.error?.node?.name).toBe('Say What Went Wrong');
		expect(failed.error?.message).toMatch(
			/^'Start At' is in the past: '[^']+'\. Use a time such as .+ send the missing ones by hand with Meeting: Send Bot\.$/,
		);
		expect(await rowsOf(bench, 'Meetings (CRM)')).toEqual(
			expect.arrayContaining([
				expect.objectContaining({
					bot_id: '',
					title: 'Past meeting',
					outcome: expect.stringMatching(/is in the past: '[^']+'\. Use a time such as /),
				}),
				expect.objectContaining({ title: 'Coming meeting', outcome: 'transcribed' }),
			]),
		);
	});
});
