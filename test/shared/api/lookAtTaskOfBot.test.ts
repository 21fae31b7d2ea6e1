/** "Waiting" in the contract: `timeout` holds whatever a look is answered, also the look at the task of a bot. */
// Also covers askForState.ts.
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

it('a service that does not answer about the task of a bot does not make the wait longer', async () => {
	const botId = await service.bot();
	const body = { bot_id: botId, status: 'completed', task_id: 'task-1' };
	const fault = (path: string, action: object) =>
		service.running().fault({ match: { path }, times: 99, action: action as never });
	fault('/meeting/', { kind: 'respond', status: 200, body });
	fault('/tasks/', { kind: 'stall' });
	const waitOptions = { timeout: 0.02 };
	// Without this limit, a look takes longer than this test may.
	const { error } = await service.run({
		resource: 'meeting',
		operation: 'wait',
		botId,
		waitOptions,
	});
	expect(error?.message).toContain('within 0.02 minutes');
});
