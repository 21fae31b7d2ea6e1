/** What can be the address of a Transcriber Trigger. */
import { checkTriggerUrl } from '../../../../nodes/Transcriber/submit/trigger/triggerUrl';
import type { RoutingRequest } from '../../../../nodes/shared/api/types';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const request = { options: { baseURL: 'https://api.example.com/api/v1' } } as RoutingRequest;
const check = (address: string) => () => checkTriggerUrl(itemContext(LINK), request, address);
const BASE = 'https://n8n.example.com/webhook/5d1a';

it.each([
	`${BASE}/transcriber`,
	`${BASE}/transcriber/`,
	'https://example.com/n8n/webhook-test/5d1a/transcriber',
])('an address that a Transcriber Trigger shows: %s', (address) => {
	expect(check(address)).not.toThrow();
});

it.each([
	'https://me@n8n.example.com/webhook/5d1a/transcriber',
	'https://:hush@n8n.example.com/webhook/5d1a/transcriber',
	`${BASE}/transcriber?key=hush`,
	`${BASE}/transcriber#hush`,
])('is refused, because the service would store what is beside the address: %s', (address) => {
	expect(check(address)).toThrow(/^'Trigger URL' holds more than an address/);
	expect(check(address)).not.toThrow('hush');
});

it.each([`${BASE}/other`, `${BASE}/transcriber/more`, `${BASE}/mytranscriber`, 'https://n8n.io/'])(
	'is refused as the address of something else: %s',
	(address) => {
		expect(check(address)).toThrow(/^'Trigger URL' is not the address of a Transcriber Trigger/);
	},
);

it.each(['n8n.example.com/transcriber', 'http://n8n.example.com/webhook/5d1a/transcriber'])(
	'is refused as any webhook address is: %s',
	(address) => {
		expect(check(address)).toThrow("'Trigger URL'");
	},
);
