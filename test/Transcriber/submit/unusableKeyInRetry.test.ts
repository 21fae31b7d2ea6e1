/** A Retry with an 'Idempotency Key' that cannot be used: its error must lose nothing that was accepted before, and hold up nobody. */
// Also covers nodes/Transcriber/item/itemFailure.ts, nodes/Transcriber/item/givenIdempotencyKey.ts.

import type { INode } from 'n8n-workflow';

import { again } from '../../support/again';
import { FILE } from '../../support/parameters';
import { giveUpSoon } from '../../support/scale';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();
beforeEach(giveUpSoon);

/** Two files are accepted: the result of the first cannot be fetched, and the second does not end. */
async function retried(key: string | undefined, node: Partial<INode> = {}) {
	const ids = [await service.pendingTask(), await service.pendingTask()];
	const answers = (match: object, body: object, times = 1e6) =>
		service.running().fault({
			match,
			times,
			action: { kind: 'respond', status: 200, body, readBody: true },
		});
	ids.forEach((task_id, at) => {
		answers({ method: 'POST' }, { task_id, status: 'pending' }, 1);
		const status = at === 0 ? 'completed' : 'pending';
		answers({ method: 'GET', path: `/tasks/${task_id}$` }, { task_id, status });
	});
	const away = { kind: 'respond', status: 503 } as const;
	service.running().fault({ match: { path: '/result$' }, times: 1e6, action: away });
	const items = [itemWithFile('one'), itemWithFile('two')];
	const waitOptions = { pollInterval: 0.02, timeout: 0.1 };
	const polling = { ...FILE, onCompletion: 'poll', waitOptions };
	const first = await service.run(polling, { items, executionId: '41', node });
	const now = { ...polling, options: key === undefined ? {} : { idempotencyKey: key } };
	const data = again(first, now, items, { asFirstRun: true, node });
	const looks = () => service.lines().filter((line) => line.includes(`/tasks/${ids[1]}`)).length;
	const before = looks();
	const second = await service.run(now, { items, data, mode: 'retry', executionId: '42', node });
	return { ids, ...second, looks: looks() - before };
}

it.each([
	['no key, for comparison', undefined],
	['an object', '={{ {"a":1} }}'],
	['a whole row', '={{ $json }}'],
	['the word undefined', '={{ "undefined" }}'],
])(
	'%s: the error names both tasks, and comes before the other item ends its wait',
	async (_what, key) => {
		const { ids, error, looks } = await retried(key);
		for (const id of ids) expect(`${error?.message} ${error?.description}`).toContain(id);
		// It waits for six seconds, and looks every 20 ms.
		expect(looks).toBeLessThan(100);
	},
);

it('With On Error = Continue, the output of the item names its task', async () => {
	const { ids, json } = await retried('={{ $json }}', { onError: 'continueRegularOutput' });
	expect(json[0]?.error).toContain(ids[0]);
});
