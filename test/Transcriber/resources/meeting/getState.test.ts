/** Meeting: Get outputs the state of the bot that was asked for, as Transcript: Get does that of a task. */
// Also covers get.ts, nodes/Transcriber/item/idParameters.ts.

import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

const answer = (body: unknown) =>
	service
		.running()
		.fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 200, body } });
const get = async (botId: string) =>
	(await service.run({ resource: 'meeting', operation: 'get', botId })).json;

it('without what is around it, and with a documented status as in the document', async () => {
	answer({ success: true, data: { bot_id: 'b1', status: 'COMPLETED', task_id: 't1' } });
	expect(await get('b1')).toEqual([
		{ success: true, bot_id: 'b1', status: 'completed', task_id: 't1' },
	]);
});

it('out of a list of several, also for an id that is encoded in the path', async () => {
	answer({
		data: [
			{ bot_id: 'other', status: 'failed' },
			{ bot_id: 'b/1', status: 'joining' },
		],
	});
	expect(await get('b/1')).toEqual([{ bot_id: 'b/1', status: 'joining' }]);
});
