/** The same with two workflows: one sends the bots, the other completes a row for each transcript. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { StoredWorkflow } from '../../n8n/rest';
import { Bench, readExample } from '../harness';
import {
	crmRows,
	imported,
	jsonOf,
	meetingsOf,
	NO_SPEECH,
	nodeOf,
	withCrmTable,
	withSettings,
} from './support';

describe('examples/meeting-to-crm-with-trigger.json and its send-bots', () => {
	let bench: Bench;
	let trigger: StoredWorkflow;
	let sending: StoredWorkflow;

	beforeAll(async () => {
		bench = await Bench.open({ script: [NO_SPEECH] });
		const credentials = { transcriberApi: bench.credential };
		const receiving = await imported('meeting-to-crm-with-trigger.json');
		trigger = await bench.rest.createWorkflow(await withCrmTable(bench, receiving), credentials);
		await bench.rest.activate(trigger);
	});

	afterAll(async () => {
		await bench.rest.deactivate(trigger);
		await bench.close();
	});

	/** The first workflow, with this address of the trigger in its settings. */
	async function sender(triggerUrl?: string): Promise<StoredWorkflow> {
		const example = await readExample('meeting-to-crm-with-trigger-send-bots.json');
		const settings: Record<string, string> = triggerUrl === undefined ? {} : { triggerUrl };
		return await bench.rest.createWorkflow(
			await withCrmTable(bench, withSettings(example, settings)),
			{ transcriberApi: bench.credential },
		);
	}

	it('as it is imported, the first says which address is missing, and sends no bot', async () => {
		const execution = await bench.rest.runToEnd(await sender());
		expect(execution.error?.message).toContain('The Production URL of the trigger is missing.');
		expect(meetingsOf(bench)).toEqual([]);
	});

	it('with the address of a workflow that is not published, it sends no bot either', async () => {
		const execution = await bench.rest.runToEnd(
			await sender(`${bench.n8n.url}/webhook/${randomUUID()}/transcriber`),
		);
		expect(execution.status).toBe('error');
		expect(execution.error?.node?.name).toBe('Say What Went Wrong');
		const [, ...reasons] = (execution.error?.message ?? '').split('its workflow is not active');
		expect(reasons).toHaveLength(1);
		expect(reasons[0]).not.toContain('[item');
		expect(meetingsOf(bench)).toEqual([]);
	});

	it('the first ends at once, and the second completes each row when its transcript is ready', async () => {
		const { webhookId } = nodeOf(trigger, 'Transcript Ready');
		sending = await sender(`${bench.n8n.url}/webhook/${webhookId}/transcriber`);
		const sent = await bench.rest.runToEnd(sending);
		expect(sent.error).toBeUndefined();
		expect(jsonOf(sent, 'Open the Row')).toMatchObject([
			{ title: 'Kick-off', outcome: 'bot sent' },
			{ title: 'Quarterly review', outcome: 'bot sent' },
		]);

		const done = async () => (await crmRows(bench)).filter(({ outcome }) => outcome !== 'bot sent');
		const deadline = Date.now() + 60_000;
		while ((await done()).length < 2 && Date.now() < deadline) await sleep(500);
		expect(await done()).toEqual(
			expect.arrayContaining([
				expect.objectContaining({
					title: 'Kick-off',
					customer: 'Acme',
					outcome: 'transcribed',
					summary: expect.stringMatching(/simulat/i),
					speakers: expect.stringMatching(/./),
				}),
				expect.objectContaining({
					title: 'Quarterly review',
					customer: 'Globex',
					outcome: 'no transcript: No speech was found',
				}),
			]),
		);
		expect(await bench.rest.executions(trigger.id)).toHaveLength(2);
	});

	it('run again on the same day, the first sends no second bot to the same meeting', async () => {
		const again = await bench.rest.runToEnd(sending);
		expect(again.error).toBeUndefined();
		expect(meetingsOf(bench)).toHaveLength(2);
		expect(await crmRows(bench)).toHaveLength(2);
	});
});
