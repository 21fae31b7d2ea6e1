/** "Every request" in the contract: ids are URL-encoded in paths, also where a transcript and its document are fetched. */
// Also covers attachExport.ts, fetchResults.ts, askForState.ts.
import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();

const answer = (method: string, path: string, status: number, body: unknown) =>
	service.running().fault({ match: { method, path }, action: { kind: 'respond', status, body } });

it('an id with a slash stays one part of the path of each request', async () => {
	const answers = {
		'GET /tasks/': { task_id: 'a/b', status: 'completed' },
		result: { text: 'Hello' },
		export: { content: 'Hello', format: 'txt' },
	};
	for (const [path, body] of [
		['/result$', answers.result],
		['/export', answers.export],
		['/tasks/', answers['GET /tasks/']],
	] as const) {
		service.running().fault({
			match: { method: 'GET', path },
			times: 9,
			action: { kind: 'respond', status: 200, body },
		});
	}
	const waitOptions = { exportFormat: 'txt', exportAs: 'text' };
	const wait = { resource: 'task', operation: 'wait', taskId: byId('a/b'), waitOptions };
	const { json, error } = await service.run(wait);
	expect(error).toBeUndefined();
	expect(json).toMatchObject([{ task_id: 'a/b', text: 'Hello', export: 'Hello' }]);
	expect(new Set(service.lines())).toEqual(
		new Set(['', '/result', '/export'].map((end) => `GET /api/v1/tasks/a%2Fb${end}`)),
	);
});

it('the id of a bot is encoded in the request of a wait', async () => {
	answer('GET', '/meeting/', 200, { bot_id: 'a/b?c', task_id: 't', status: 'completed' });
	answer('GET', '/tasks/t$', 200, { task_id: 't', status: 'completed' });
	answer('GET', '/tasks/t/result$', 200, { text: 'Hello' });
	const { json } = await service.run({ resource: 'meeting', operation: 'wait', botId: 'a/b?c' });
	expect(json).toMatchObject([{ bot_id: 'a/b?c', text: 'Hello' }]);
	expect(service.lines()[0]).toBe('GET /api/v1/meeting/a%2Fb%3Fc');
});

it('the id of a bot is encoded in the look after a refused cancellation', async () => {
	answer('DELETE', '/meeting/', 409, { detail: { message: 'It was cancelled before' } });
	answer('GET', '/meeting/', 200, { bot_id: 'a/b?c', status: 'cancelled' });
	const { json } = await service.run({ resource: 'meeting', operation: 'cancel', botId: 'a/b?c' });
	expect(json).toMatchObject([{ bot_id: 'a/b?c', status: 'cancelled' }]);
	expect(service.lines()).toEqual([
		'DELETE /api/v1/meeting/a%2Fb%3Fc',
		'GET /api/v1/meeting/a%2Fb%3Fc',
	]);
});
