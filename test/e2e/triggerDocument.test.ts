/** The document of a trigger can be read in the whole of its execution, also if another one ends meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';

import { itemsOf } from '../n8n/rest';
import { Bench } from './harness';
import { Triggers } from './triggers';

jest.setTimeout(120_000);

let bench: Bench;
beforeAll(async () => {
	bench = await Bench.open();
	bench.simulator.configure({ processingSeconds: 1e9 });
});
afterAll(async () => await bench.close());

const STEPS = [
	{
		name: 'Slow Step',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		parameters: { amount: 4, unit: 'seconds' },
	},
	{
		name: 'Subtitles',
		type: 'n8n-nodes-base.moveBinaryData',
		typeVersion: 1.1,
		parameters: { mode: 'binaryToJson', setAllData: false, options: {} },
	},
];

it('of recordings that end one after the other, each execution reads its subtitles four seconds later', async () => {
	const { n8n, rest, simulator, credential } = bench;
	const triggers = new Triggers({ url: n8n.url, rest }, simulator, credential);
	const trigger = await triggers.activeTrigger({ options: { exportFormat: 'srt' } }, STEPS);
	const ids = await triggers.submitted(3, trigger.url);
	for (const id of ids) await triggers.handOver(trigger.url, id);
	for (const id of ids) {
		simulator.finish(id);
		await sleep(1_500);
	}
	const executions = await triggers.executionsOf(trigger, 3);
	const read = executions.map((one) => [
		one.status,
		itemsOf(one, 'Trigger')[0]?.json['task_id'],
		String(itemsOf(one, 'Subtitles')[0]?.json['data']).includes('-->'),
	]);
	expect(read.sort()).toEqual(ids.map((id) => ['success', id, true]).sort());
	await rest.deactivate(trigger.workflow);
});
