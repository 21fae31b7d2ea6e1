/** An item of several tasks, of which the trigger has got only some of the secrets: 'Trigger URL' in a Retry. */
// Also covers prepareCompletion.ts.

import { checkTakenUpCompletion } from '../../../nodes/Transcriber/submit/prepareCompletion';
import { remember } from '../../../nodes/Transcriber/submit/once/submissionMemory';
import type { RoutingRequest } from '../../../nodes/shared/api/types';
import { itemContext } from '../../support/itemContext';
import { LINK } from '../../support/parameters';

it.each([
	['first', [true, false]],
	['last', [false, true]],
])(
	'is checked although the %s of two has been handed over: its secret goes there, too',
	(_which, done) => {
		const triggerUrl = 'https://n8n.example.com/webhook/1/transcriber?token=hush';
		const context = itemContext({ ...LINK, onCompletion: 'notifyTrigger', triggerUrl });
		const submissions = done.map((handedOver, index) => ({
			answer: { task_id: `task-${index}` },
			handedOver,
		}));
		remember(context, { state: 'accepted', submissions, at: Date.now() });
		const request = { options: { baseURL: 'https://api.example.com/api/v1' } } as RoutingRequest;
		expect(() => checkTakenUpCompletion(context, request)).toThrow('holds more than an address');
	},
);
