/** A hand-over of several secrets, of which one has an id that no delivery may have. */
// Also covers receiveHandOver.ts.

import { serviceForTests } from '../support/service';
import { putAll } from './client';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open } = hostsForTests(service);

it.each([0, 1, 2])('in place %i, it is refused, and nothing is acknowledged', async (place) => {
	const host = await open();
	const ids = ['a', 'b'];
	ids.splice(place, 0, 'x'.repeat(257));
	const handOvers = ids.map((id) => ({ id, kind: 'task', secret: 'a secret' }) as const);
	const answer = await putAll(host.url, handOvers, service.credentials().apiKey);
	expect(answer.status).toBe(400);
	expect(host.saved).toBe('{}');
});
