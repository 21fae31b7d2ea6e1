/** Contract, "Every request": a request outside an execution is sent with the API key, as n8n would send it. */

import type { IHttpRequestOptions } from 'n8n-workflow';

import {
	requestWithApiKey,
	sendingWithoutSandbox,
} from '../../../nodes/shared/api/requestWithApiKey';
import type { Caller } from '../../../nodes/shared/api/types';

const OPTIONS: IHttpRequestOptions = {
	method: 'GET',
	url: '/account',
	headers: { Accept: 'application/json' },
};

/** What n8n's HTTP client is asked to send with this key, and what comes of that. */
async function sent(apiKey: string) {
	const requests: IHttpRequestOptions[] = [];
	const helpers = {
		httpRequest: async (options: IHttpRequestOptions) => {
			requests.push(options);
			return await Promise.resolve({ statusCode: 200 });
		},
	};
	const answer: unknown = await requestWithApiKey({ helpers }).call(
		{} as Caller as never,
		'transcriberApi',
		OPTIONS,
		{ credentialsDecrypted: { id: '', name: '', type: 'transcriberApi', data: { apiKey } } },
	);
	return { requests, answer };
}

it('The given key goes into the header of the service, beside all else that is to be sent', async () => {
	const headers = { Accept: 'application/json', 'X-API-Key': 'key of now' };
	expect(await sent('key of now')).toEqual({
		requests: [{ ...OPTIONS, headers }],
		answer: { statusCode: 200 },
	});
});

it('Invisible characters around a pasted key are not sent', async () => {
	const { requests } = await sent('\u200b key \n');
	expect(requests[0]?.headers).toMatchObject({ 'X-API-Key': 'key' });
});

it('The requests of a tool call end with the signal of their context', async () => {
	const requests: IHttpRequestOptions[] = [];
	const helpers = {
		httpRequest: async (options: IHttpRequestOptions) =>
			await Promise.resolve(requests.push(options)),
	};
	const { signal } = new AbortController();
	const context = { helpers, getExecutionCancelSignal: () => signal };
	const { helpers: own } = sendingWithoutSandbox(context as never);
	await own.httpRequestWithAuthentication.call(context as never, 'transcriberApi', OPTIONS);
	expect(requests).toMatchObject([{ url: '/account', abortSignal: signal }]);
});
