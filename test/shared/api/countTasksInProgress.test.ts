/** "Every request" in the contract: how many of the 20 tasks at once are in progress, and what it costs to know. */

import { countTasksInProgress } from '../../../nodes/shared/api/countTasksInProgress';
import { itemContext } from '../../support/itemContext';
import { serviceForTests } from '../../support/service';

const service = serviceForTests({ tasksInProgress: 10_000 });

const count = async () =>
	await countTasksInProgress(itemContext({}, { credentials: service.credentials() }));
const answer = (tasks: object[]) =>
	service.running().fault({
		match: { path: '/tasks$' },
		times: 1,
		action: { kind: 'respond', status: 200, body: { tasks } },
	});
const tasks = (length: number, status: string, name = 't') =>
	Array.from({ length }, (_, index) => ({ task_id: `${name}${index}`, status }));

it('Tasks that have ended do not count, and however many they are, they need not be read', async () => {
	service.running().seed(300);
	for (let made = 0; made < 3; made++) await service.pendingTask();
	expect(await count()).toBe(3);
});

it('A full account takes one request', async () => {
	answer(tasks(20, 'processing'));
	expect(await count()).toBe(20);
	expect(service.lines()).toHaveLength(1);
});

it('A list of which five pages do not show the end is not read further, and the number is not known', async () => {
	for (let page = 0; page < 9; page++) answer(tasks(20, 'completed', `${page}-`));
	expect(await count()).toBeUndefined();
	expect(service.lines()).toHaveLength(5);
});
