/** Contract, "Webhook calls": which ids of a delivery are accepted, and so may be remembered. */

import { deliveredId } from '../../../nodes/shared/webhook/deliveredId';

it('An id has 256 characters at most', () => {
	expect(deliveredId('a'.repeat(256))).toBe('a'.repeat(256));
	expect(deliveredId('a'.repeat(257))).toBeUndefined();
});

it.each([
	['7f3c', '7f3c'],
	[7, '7'],
	['', undefined],
	[null, undefined],
])('%j is the id %j', (given, id) => expect(deliveredId(given)).toBe(id));
