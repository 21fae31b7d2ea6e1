/** Words for a wait that fails, where the workflow may submit again what others have paid for. */
// Also covers waitErrors.ts, nodes/Transcriber/resources/task/regenerateSummary.ts.

import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { LINK } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();
beforeEach(giveUpSoon);
const respond = (path: string, status: number, body: object) =>
	service.running().fault({
		match: { method: 'GET', path },
		times: 1e6,
		action: { kind: 'respond', status, body },
	});

it('Another bot goes to the one meeting alone, and not to all meetings of the workflow', async () => {
	respond('/meeting/', 200, { bot_id: 'b-1', status: 'failed', error: 'Not let in' });
	const parameters = { resource: 'meeting', operation: 'wait', botId: 'b-1' };
	const { error } = await service.run(parameters, { items: itemsOf({}) });
	expect(error?.description).toContain('another bot to this meeting alone');
});

it('A task that the service does not know any more is not called "not lost"', async () => {
	jest.replaceProperty(POLL, 'refused', 200);
	respond('/tasks/', 404, { detail: { error_code: 'task_not_found', message: 'Deleted' } });
	const parameters = { ...LINK, onCompletion: 'poll', waitOptions: { pollInterval: 0.02 } };
	const { error } = await service.run(parameters, { items: itemsOf({}) });
	expect(error?.description).toContain('answered this for two minutes');
	expect(error?.description).not.toMatch(/not lost/);
});

it('A summary whose answer was lost: also the output of the item says where to look', async () => {
	const action = { kind: 'cut', when: 'beforeBody' } as const;
	service.running().fault({ match: { method: 'POST' }, times: 9, action });
	const parameters = {
		resource: 'task',
		operation: 'regenerateSummary',
		taskId: byId('t1'),
		path: '/tasks/{taskId}/summary',
	};
	const node = { onError: 'continueRegularOutput' } as const;
	const { json } = await service.run(parameters, { items: itemsOf({}), node });
	expect(json[0]?.error).toContain('Look at the summary of the transcript first');
});
