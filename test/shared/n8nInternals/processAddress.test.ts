/** The address with which a process calls itself, in the WebhookContext of the n8n-core of the lock file. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WebhookContext } from 'n8n-core';
import {
	Workflow,
	type INode,
	type IWebhookData,
	type IWebhookFunctions,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import { addressOfThisProcess } from '../../../nodes/shared/n8nInternals/processAddress';
import { TranscriberTrigger } from '../../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { typesOf } from '../../support/n8n';

const node: INode = {
	id: '1',
	name: 'Transcriber Trigger',
	type: 'n8n-nodes-transcriber.transcriberTrigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** What a webhook call sees of this request. */
function contextOf(httpRequest: object): IWebhookFunctions {
	const nodeTypes = typesOf(new TranscriberTrigger());
	const workflow = new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes });
	const more = { httpRequest } as IWorkflowExecuteAdditionalData;
	const webhook = {} as IWebhookData;
	const context = new WebhookContext(workflow, node, more, 'webhook', webhook, [], null);
	return context as unknown as IWebhookFunctions;
}

it.each(['127.0.0.1', '::1'])('leads back to the process that was called at %s', async (host) => {
	const paths: Array<string | undefined> = [];
	let own: string | undefined;
	const server = createServer((request, response) => {
		paths.push(request.url);
		own ??= addressOfThisProcess(contextOf(Object.assign(request, { originalUrl: request.url })));
		response.end();
	});
	await new Promise<void>((resolve) => server.listen(0, host, resolve));
	const { port } = server.address() as AddressInfo;
	const name = host.includes(':') ? `[${host}]` : host;
	await fetch(`http://${name}:${port}/webhook/x/transcriber?a=b`);
	await fetch(String(own));
	server.close();
	expect(paths).toEqual(['/webhook/x/transcriber?a=b', '/webhook/x/transcriber']);
});

const calledAt = (localAddress: string | undefined, more: object = {}) =>
	addressOfThisProcess(
		contextOf({ socket: { localAddress, localPort: 5678, ...more }, originalUrl: '/webhook/x' }),
	);

it('has the scheme of the call', () => {
	expect(calledAt('10.0.0.1', { encrypted: true })).toBe('https://10.0.0.1:5678/webhook/x');
});

it('is unknown once the caller has hung up', () => {
	expect(calledAt(undefined)).toBeUndefined();
});

it('is not used if no URL can hold it: IPv6 with a zone', () => {
	expect(calledAt('fe80::1%eth0')).toBeUndefined();
});

it('has an IPv4 address in its plain form, also on a socket for both kinds, as NO_PROXY has it', () => {
	expect(calledAt('::ffff:172.18.0.3')).toBe('http://172.18.0.3:5678/webhook/x');
});
