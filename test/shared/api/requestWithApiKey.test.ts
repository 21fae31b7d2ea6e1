/** Contract, "Every request": a request outside an execution is sent with the API key, as n8n would send it. */

import type { IHttpRequestOptions } from 'n8n-workflow';

import { requestWithApiKey } from '../../../nodes/shared/api/requestWithApiKey';
import type { Caller } from '../../../nodes/shared/api/types';

const OPTIONS: IHttpRequestOptions = {
	method: 'GET',
	url: '/account',
	headers: { Accept: 'application/json' },
};

/** What n8n's HTTP client is asked to send, with the key that the credential has now. */
async function sent(given?: object, apiKey: unknown = 'key of now') {
	const requests: IHttpRequestOptions[] = [];
	let readings = 0;
	const helpers = {
		httpRequest: async (options: IHttpRequestOptions) => {
			requests.push(options);
			return await Promise.resolve({ statusCode: 200 });
		},
	};
	const send = requestWithApiKey({ helpers }, async () => {
		readings += 1;
		return await Promise.resolve({ apiKey });
	});
	const answer: unknown = await send.call(
		{} as Caller as never,
		'transcriberApi',
		OPTIONS,
		given as never,
	);
	return { requests, readings, answer };
}

it('The key goes into the header of the service, beside all else that is to be sent', async () => {
	const headers = { Accept: 'application/json', 'X-API-Key': 'key of now' };
	expect(await sent()).toEqual({
		requests: [{ ...OPTIONS, headers }],
		readings: 1,
		answer: { statusCode: 200 },
	});
});

it('A key that was read a moment ago is not read again', async () => {
	const data = { apiKey: 'key of this second' };
	const { requests, readings } = await sent({ credentialsDecrypted: { data } });
	expect(requests[0]?.headers).toMatchObject({ 'X-API-Key': 'key of this second' });
	expect(readings).toBe(0);
	for (const given of [{}, { credentialsDecrypted: {} }]) {
		expect((await sent(given)).readings).toBe(1);
	}
});

it('Invisible characters around a pasted key are not sent', async () => {
	const { requests } = await sent(undefined, '\u200b key \n');
	expect(requests[0]?.headers).toMatchObject({ 'X-API-Key': 'key' });
});
