/** When n8n has certainly saved, or certainly not saved, the execution that a webhook call starts. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { IWebhookFunctions } from 'n8n-workflow';

import {
	HUNG_UP,
	hasSucceeded,
	savesExecutionFirst,
} from '../../../nodes/shared/n8nInternals/executionSaved';
import { until } from '../../simulator/testing-client';

it.each([
	[200, true],
	[500, false],
])(
	'a caller that has hung up decides nothing: n8n may wait long for a free place, then ends the response with %i',
	async (status, succeeded) => {
		const responses: ServerResponse[] = [];
		const caller = new AbortController();
		const server = createServer((_, response) => {
			responses.push(response);
			caller.abort();
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		const hungUp = fetch(`http://127.0.0.1:${port}`, { signal: caller.signal });
		await expect(hungUp).rejects.toThrow('aborted');
		const [response] = responses;
		const context = { getResponseObject: () => response } as unknown as IWebhookFunctions;
		let outcome: boolean | undefined;
		void hasSucceeded(context).then((value) => (outcome = value));
		await sleep(500);
		expect(outcome).toBeUndefined();
		if (response) response.statusCode = status;
		response?.end();
		await until(() => outcome !== undefined);
		expect(outcome).toBe(succeeded);
		server.close();
	},
);

it('a response that n8n never ends, because the waiting execution was stopped, is given up', async () => {
	jest.replaceProperty(HUNG_UP, 'giveUpMs', 150);
	const response = { closed: true, writableEnded: false, statusCode: 200 };
	const context = { getResponseObject: () => response } as unknown as IWebhookFunctions;
	expect(await hasSucceeded(context)).toBe(false);
});

it('an n8n that saves static data in the turn of the event loop in which webhook() returns does so before the execution', async () => {
	const isExecutionFirst = savesExecutionFirst();
	await Promise.resolve();
	expect(isExecutionFirst()).toBe(false);
});

it('an n8n that has taken a turn of the event loop has saved the execution before', async () => {
	const isExecutionFirst = savesExecutionFirst();
	await sleep(5);
	expect(isExecutionFirst()).toBe(true);
});
