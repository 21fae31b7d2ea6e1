/** A file whose answer was lost, and whose 'Get the Transcript' is another one in the Retry. */
// Also covers formerAddress.ts.

import { setFormerAddress } from '../../../../nodes/Transcriber/submit/once/formerAddress';
import type { RoutingRequest } from '../../../../nodes/shared/api/types';
import { itemContext } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const BEFORE = 'https://n8n.example.com/webhook-waiting/41/node?signature=a';
const NOW = 'https://hooks.example.com/now';

it.each([
	['callUrl', NOW],
	['notifyTrigger', NOW],
	['poll', null],
	['returnTask', null],
	['awaitWebhook', BEFORE],
])('%s: the service gets the address %s', (onCompletion, address) => {
	const form = new FormData();
	if (address !== null) form.set('webhook_url', NOW);
	const request = { options: { body: form } } as unknown as RoutingRequest;
	const context = itemContext({ ...FILE, onCompletion });
	setFormerAddress(context, request, { state: 'sent', resumeUrl: BEFORE });
	expect(form.get('webhook_url')).toBe(address);
});
