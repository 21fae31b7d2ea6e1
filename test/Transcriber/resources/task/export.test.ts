/** Contract, "AI tools": an agent gets text, because n8n leaves the files of a tool out. More of Export in task.test.ts. */
import { callTool } from '../../../support/agent';
import { byId, serviceForTests } from '../../../support/service';
import { few } from '../../../support/long';

const service = serviceForTests();

few.it.each<[string, object]>([
	['Export', { operation: 'export', format: 'srt', output: 'file', binaryPropertyName: 'data' }],
	['Wait Until Finished', { operation: 'wait', waitOptions: { exportFormat: 'srt' } }],
])('%s gives an agent the document as text, although a file is chosen', async (_name, chosen) => {
	const id = await service.completedTask();
	const [answer = ''] = await callTool({
		credentials: service.credentials(),
		parameters: { resource: 'task', taskId: byId("={{ $fromAI('task') }}"), ...chosen },
		calls: [{ task: id }],
	});
	expect(answer).toContain('-->');
	expect(answer).toContain(id);
});
