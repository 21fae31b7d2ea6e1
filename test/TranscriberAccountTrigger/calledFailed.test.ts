/** Tasks that the list calls failed, without a reason: the task itself may say otherwise. */
// Also covers fetchTranscripts.ts, accountTriggerOutput.ts.
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { captureLogs } from '../support/logs';
import { atLength, few, long } from '../support/long';
import { AccountHost } from './host';
import type { ListService } from './listService';
import { listForTests } from './manyNewTasks';

jest.setTimeout(60_000);
const { active, list, wait } = listForTests();

/** The list is behind: it says failed, whatever the task itself says. */
const calledFailed =
	(ids: string[], listed = list().pageOf): ListService['pageOf'] =>
	(tasks, offset, limit) =>
		listed(tasks, offset, limit).map((one) =>
			ids.includes(String(one.task_id)) ? { ...one, status: 'failed' } : one,
		);

few.it.each([0, 35])(
	'one that the service ran again for %i polls, and whose result is away once: the workflow starts with the result',
	async (polls) => {
		jest.replaceProperty(ACCOUNT_POLL, 'failures', atLength(ACCOUNT_POLL.failures, 3));
		const { host } = await active(5, 100, 4, true);
		const [id = ''] = list().add(1);
		const task = list().tasks.find((one) => one.task_id === id);
		const asIs = list().pageOf;
		list().pageOf = calledFailed([id]);
		Object.assign(task ?? {}, { status: 'processing' });
		for (let poll = 0; poll < polls; poll++) {
			wait(1 / 60);
			await host.poll();
		}
		expect(host.started).toEqual([]);
		Object.assign(task ?? {}, { status: 'completed' });
		list().pageOf = asIs;
		// One bad moment of the service.
		list().refuses = ({ pathname }) => (pathname.endsWith('/result') ? 503 : undefined);
		wait(1 / 60);
		await host.poll();
		list().refuses = () => undefined;
		wait(1 / 60);
		await host.poll();
		expect(host.executions.flat().map(({ json }) => [json['text'], json['error']])).toEqual([
			[`Text of ${id}`, undefined],
		]);
	},
);

few.it.each([
	['between two polls', 1 / 60],
	['in a night', 8],
])(
	'forty-five of them %s, and the workflow wants only completed ones: no line in the log promises a start',
	async (_when, hours) => {
		list().add(5);
		const credentials = { baseUrl: list().url, apiKey: 'the key' };
		const host = new AccountHost(credentials, { events: ['transcriptCompleted'] });
		await host.activate();
		await host.polls(4);
		list().add(45);
		for (const task of list().tasks.slice(0, 45)) task.status = 'failed';
		wait(hours);
		const logs = captureLogs();
		await host.poll();
		logs.release();
		await host.polls(5);
		expect(host.started).toEqual([]);
		expect(logs.of(host.node.name)).toEqual([]);
	},
);

few.it.each([23, 20, 21, 22, 24])(
	'%i that have completed: a poll makes at most 25 requests',
	async (count) => {
		const { host } = await active(5, 100, 4, true);
		const ids = list().add(30);
		list().pageOf = calledFailed(ids.slice(0, count));
		wait(1 / 60);
		list().requests = 0;
		await host.poll();
		expect(list().requests).toBeLessThanOrEqual(25);
	},
);

long.it.each([undefined, 'srt'])(
	'a service that refuses each page once: one that has completed still starts the workflow (export: %s)',
	async (exportFormat) => {
		list().pageLength = 10;
		list().add(300);
		const options = exportFormat ? { exportFormat } : {};
		const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' }, { options });
		await host.activate();
		for (let poll = 0; poll < atLength(40, 6); poll++) {
			wait(1 / 60);
			await host.poll();
		}
		const ids = list().add(1);
		list().pageOf = calledFailed(ids);
		const asked = new Map<string, number>();
		list().refuses = ({ href, pathname }) => {
			if (!pathname.endsWith('/tasks')) return undefined;
			const times = (asked.get(href) ?? 0) + 1;
			asked.set(href, times);
			return times % 2 === 1 ? 503 : undefined;
		};
		for (let poll = 0; poll < 15 && host.started.length === 0; poll++) {
			wait(1 / 60);
			await host.poll();
		}
		expect(host.started).toEqual(ids);
	},
);
