/** A repeat of a delivery about a meeting: it names a task, too, and the ending may stand under either name. */
// Also covers verifyDelivery.ts.

import { createHmac } from 'node:crypto';

import { proofOf, verifyDelivery } from '../../nodes/TranscriberTrigger/verifyDelivery';

it.each(['bot b1', 'task 17'])(
	'is known as one by its own bytes, also when the secret of %s is not kept any more',
	(name) => {
		const body = { bot_id: 'b1', task_id: '17', status: 'completed' };
		const raw = Buffer.from(JSON.stringify(body));
		const digest = createHmac('sha256', 'the secret').update(raw).digest('hex');
		const delivery = { raw, signature: `sha256=${digest}`, body };
		const ending = { by: 'own', statuses: 'c', proof: proofOf(delivery) } as const;
		const store = {
			secretOf: () => undefined,
			endingOf: (one: string) => (one === name ? ending : undefined),
		};
		const verdict = verifyDelivery(delivery, store, { apiKey: 'the key' });
		expect(verdict).toMatchObject({ kind: 'repeat', name });
	},
);
