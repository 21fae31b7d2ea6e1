/** A hand-over that fails where errors do not stop the node: its message is all that the output shows. */
// Also covers confirmedByTrigger.ts.

import {
	HAND_OVER,
	handOver,
} from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { answeringTrigger } from '../../../support/answeringTrigger';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

it.each([{ taskId: '7f3c' }, { botId: 'bot-1' }])(
	'says where the transcript of %j is to be had, because a second submit would cost again',
	async (ids) => {
		jest.replaceProperty(HAND_OVER, 'patience', 0);
		const trigger = await answeringTrigger('test-api-key', () => ({ status: 502, body: '' }));
		const context = itemContext(
			{ ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url },
			{ node: { onError: 'continueRegularOutput' } },
		);
		await expect(handOver(context, trigger.url, ids, 'secret')).rejects.toThrow(
			/ continues at the service and is not lost: fetch its result with Transcript: Wait Until Finished \(a bot with Meeting: Wait Until Transcribed\)/,
		);
		trigger.close();
	},
);
