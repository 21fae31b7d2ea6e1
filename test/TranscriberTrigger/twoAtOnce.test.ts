/** Contract, "The trigger's store", "Never twice": what two launches of one trigger, or two triggers of one workflow, share. */
// Also covers launchBot.ts, sendBotWhenPublished.ts, cancelBotWhenUnpublished.ts.

import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { pastGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();
/** Another account, at a service that counts its bots from 1, too. */
const other = serviceForTests();

const hosts: TriggerHost[] = [];
beforeEach(() => void jest.replaceProperty(GRACE, 'ms', 150));
afterEach(async () => {
	for (const one of [service, other]) await pastGrace(one);
	for (const host of hosts.splice(0)) await host.close();
});

async function open({ credentials } = service): Promise<TriggerHost> {
	const host = await new TriggerHost({
		credentials: credentials(),
		parameters: {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
		},
	}).open();
	hosts.push(host);
	return host;
}

const launches = () => service.lines().filter((line) => line === 'POST /api/v1/meeting').length;
const cancelled = ({ running } = service) =>
	running()
		.requests.filter(({ method }) => method === 'DELETE')
		.map(({ path }) => path.replace('/api/v1/meeting/', ''));

it('Of two publications at the same moment, the bot of one is called back at once', async () => {
	const host = await open();
	// n8n 1 and 2.30 have no lock.
	const both = [host.activate(), host.activate()].map(
		async (launch) => await launch.catch((error: Error) => error.message),
	);
	expect(await Promise.all(both)).toEqual([undefined, undefined]);
	await until(() => cancelled().length === 1);
	const ids = service
		.running()
		.bots()
		.map(({ id }) => id);
	expect([...cancelled(), host.stored.bot?.['id']].sort()).toEqual(ids.sort());
});

it('A launch that ends does not take another one of the same trigger from a switch-off', async () => {
	const host = await open();
	const path = '/meeting$';
	service.running().fault({ match: { path }, skip: 1, action: { kind: 'delay', ms: 1_500 } });
	// n8n 1 and 2.30 have no lock: two publications at the same moment.
	const both = [host.activate(), host.activate()].map(
		async (launch) => await launch.catch((error: Error) => error.message),
	);
	await until(() => launches() === 2);
	await Promise.race(both);
	await host.deactivate();
	expect(await Promise.all(both)).toContainEqual(
		expect.stringContaining('was switched off while the meeting bot was being sent'),
	);
	const ids = service
		.running()
		.bots()
		.map(({ id }) => id);
	await until(() => cancelled().length === 2);
	expect(cancelled().sort()).toEqual(ids.sort());
});

it('Two triggers of one workflow, at accounts that count their bots alike, both call theirs back', async () => {
	const bot = { bot_id: '7', status: 'joining', webhook_secret: 'whsec_of_the_bot' };
	for (const { running } of [service, other]) {
		const answers = { POST: bot, GET: bot, DELETE: { bot_id: '7', status: 'cancelled' } };
		for (const [method, body] of Object.entries(answers)) {
			const action = { kind: 'respond', status: 200, body } as const;
			running().fault({ match: { method, path: '/meeting' }, times: 9, action });
		}
	}
	const triggers = [await open(), await open(other)];
	for (const host of triggers) await host.activate();
	for (const host of triggers) await host.deactivate();
	for (const one of [service, other]) await pastGrace(one);
	expect([cancelled(), cancelled(other)]).toEqual([['7'], ['7']]);
});
