/** Requests that go on after n8n's hook or webhook call has returned. */

import type { IHookFunctions } from 'n8n-workflow';

import { callService } from '../../../nodes/shared/api/callService';
import { credentialOf } from '../../../nodes/shared/api/credential';
import { backgroundCaller } from '../../../nodes/shared/webhook/backgroundCaller';
import { additionalDataFor } from '../../support/n8n';
import { serviceForTests } from '../../support/service';
import { contextsWith } from '../n8nInternals/contexts';

const service = serviceForTests();

it('Their errors name the node, and the service gets the API key', async () => {
	const hook = contextsWith(additionalDataFor(service.credentials())).hook as IHookFunctions;
	const { given } = await credentialOf(hook);
	const caller = backgroundCaller(hook, async () => await Promise.resolve(given as never));
	await expect(callService(caller, { method: 'GET', url: '/tasks/7f3c' })).rejects.toMatchObject({
		httpCode: '404',
		node: { name: 'Transcriber' },
	});
	expect(service.sent().headers['x-api-key']).toBe(service.running().apiKey);
});
