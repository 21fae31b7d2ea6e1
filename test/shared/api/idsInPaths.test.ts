/** "Every request" in the contract: ids are URL-encoded in paths, also where a transcript and its document are fetched. */
// Also covers attachExport.ts, fetchResults.ts.
import { byId, serviceForTests } from '../../support/service';

const service = serviceForTests();

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
