/**
 * Several items, of which one can never succeed: the error advises how to get the transcripts of the others,
 * because every Retry would end with the same error before it outputs them.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { until } from '../../simulator/testing-client';
import { giveUpSoon } from '../../support/scale';
import { itemsOf, serviceForTests } from '../../support/service';
import { long } from '../../support/long';
import { workflowWith, type Ended } from '../../support/suspended';

const service = serviceForTests();
beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(POLL, 'perTask', 5);
	jest.replaceProperty(POLL, 'refused', 200);
});

const CONTINUE = "set 'On Error' of this node to Continue";
const links = itemsOf(
	{ url: 'https://files.example.com/one.mp3' },
	{ url: 'https://files.example.com/two.mp3' },
);
const POLLING = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'poll',
	waitOptions: { pollInterval: 0.05, timeout: 1 },
};
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: '={{ $json.url }}',
	startAt: '={{ $json.start }}',
	consentAcknowledged: true,
	onCompletion: 'returnTask',
};
const refusal = (status: number, errorCode: string) =>
	({
		kind: 'respond',
		status,
		body: JSON.stringify({ detail: { error_code: errorCode, message: `Sorry: ${errorCode}` } }),
	}) as const;
const ids = () =>
	service
		.running()
		.tasks()
		.map(({ id }) => id);

/** `between`: what happens before the Retry. `during`: what happens while the first execution runs. */
async function withRetry(
	parameters: INodeParameters,
	items: INodeExecutionData[],
	{ between = () => {}, during = () => {} }: Record<string, () => Promise<void> | void>,
): Promise<{ first: Ended; retry: Ended }> {
	const { start, retry } = workflowWith(parameters, service.credentials());
	const running = start(items);
	await during();
	const first = await running;
	await between();
	return { first, retry: await retry(first) };
}

it.each([
	[403, 'private_video'],
	[404, 'video_not_found'],
])('one of two links that the service refuses with %i %s', async (status, code) => {
	service.running().fault({
		match: { method: 'POST', path: '/transcribe-url$' },
		skip: 1,
		times: 1e6,
		action: refusal(status, code),
	});
	const between = () => ids().forEach((id) => service.running().finish(id));
	const { first, retry } = await withRetry(POLLING, links, { between });
	expect(first.error).toContain(`The service refuses the link: Sorry: ${code}`);
	expect([retry.error, retry.next]).toEqual([first.error, undefined]);
	expect(retry.description).toContain(CONTINUE);
});

it('one of two tasks whose result the service no longer keeps', async () => {
	const during = async () => {
		await until(() => ids().length === 2);
		service.running().fault({
			match: { method: 'GET', path: `/tasks/${ids()[0]}/result$` },
			times: 1e6,
			action: refusal(410, 'expired'),
		});
		ids().forEach((id) => service.running().finish(id));
	};
	const { retry } = await withRetry(POLLING, links, { during });
	expect(retry.error).toContain('its result cannot be fetched');
	expect(retry.description).toContain(CONTINUE);
});

it('one of two tasks that was deleted at the service', async () => {
	const during = async () => {
		await until(() => ids().length === 2);
		service.running().discard(ids()[0] ?? '');
	};
	const { first } = await withRetry(POLLING, links, { during });
	expect(first.error).toContain('The service has no task with this ID');
	expect(first.description).toContain(CONTINUE);
});

long.it('one of two bots whose start has passed before the balance was topped up', async () => {
	const at = (ms: number) => new Date(Date.now() + ms).toISOString();
	service.running().fault({
		match: { method: 'POST', path: '/meeting$' },
		skip: 1,
		action: refusal(402, 'api_balance_exhausted'),
	});
	const items = itemsOf(
		{ url: 'https://meet.example.com/one', start: at(86_400_000) },
		{ url: 'https://meet.example.com/two', start: at(1_500) },
	);
	const between = async () => await sleep(1_600);
	const { first, retry } = await withRetry(BOT, items, { between });
	expect(first.error).toContain('The balance is empty, so no bot was sent');
	expect(retry.error).toContain("'Start At' is in the past");
	expect(retry.description).toContain(CONTINUE);
});
