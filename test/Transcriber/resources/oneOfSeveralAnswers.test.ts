/** A service that answers with a list where one object is documented, and one element of it is another than the others. */
// Also covers apiKey/rotate.ts, task/export.ts.

import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();
const respond = (match: { method?: string; path: string }, body: unknown, status = 200) =>
	service.running().fault({ match, times: 9, action: { kind: 'respond', status, body } });

describe.each([0, 1])('in place %i', (place) => {
	it('the new API key reaches the output beside an empty answer: it may be the only copy', async () => {
		const body: object[] = [{}];
		body.splice(place, 0, { api_key: 'the-new-key' });
		respond({ method: 'POST', path: '/api-key/generate$' }, body);
		const { json, error } = await service.run({
			resource: 'apiKey',
			operation: 'rotate',
			confirm: true,
		});
		expect(error).toBeUndefined();
		expect(JSON.stringify(json)).toContain('the-new-key');
	});

	it('an empty document is none while nobody can say that the task has finished', async () => {
		const body = [{ content: 'Hello', format: 'txt' }];
		body.splice(place, 0, { content: '', format: 'txt' });
		respond({ path: '/export' }, body);
		respond({ path: '/tasks/17$' }, {}, 403);
		const { error } = await service.run({
			resource: 'task',
			operation: 'export',
			taskId: byId('17'),
			format: 'txt',
			output: 'json',
		});
		expect(error?.message).toContain('The service has given an empty transcript of task 17');
	});
});
