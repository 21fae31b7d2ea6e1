// Also covers nodes/Transcriber/Transcriber.node.ts, sendOperation.ts.

import { Transcriber } from '../../../nodes/Transcriber/Transcriber.node';
import { EVERY_OPERATION, WITH_SUMMARY_REGENERATION } from '../../support/everyOperation';
import { ACCOUNT } from '../../support/parameters';
import { byId, failureOf, itemsOf, serviceForTests } from '../../support/service';
import { few } from '../../support/long';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);

const pairs = (items: Array<{ pairedItem?: unknown }>) => items.map(({ pairedItem }) => pairedItem);

describe('every output item is paired with its input item', () => {
	/** Those that yield one item for each input item; the others stand below. */
	const once = EVERY_OPERATION.filter(
		({ name }) => !['apiKey.rotate', 'dictionary.sync', 'task.getAll'].includes(name),
	);

	few.it.each(once)('$name', async ({ parameters, input }) => {
		const items = [await input(service), await input(service), await input(service)];
		const outcome = await service.run(parameters, { items });
		expect(outcome.error).toBeUndefined();
		expect(pairs(outcome.items)).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	it('no operation of the node is left out here', () => {
		const offered = new Transcriber().description.properties.flatMap((property) =>
			property.name === 'operation'
				? (property.options ?? []).map(
						(option) =>
							`${String(property.displayOptions?.show?.['resource']?.[0])}.${'value' in option ? option.value : ''}`,
					)
				: [],
		);
		expect(EVERY_OPERATION.map(({ name }) => name).sort()).toEqual(offered.sort());
	});

	it('apiKey.rotate', async () => {
		const outcome = await service.run({
			resource: 'apiKey',
			operation: 'rotate',
			confirm: true,
		});
		expect(pairs(outcome.items)).toEqual([{ item: 0 }]);
	});

	it('dictionary.sync: its one output is that of all items', async () => {
		const outcome = await service.run(
			{ resource: 'dictionary', operation: 'sync', terms: '={{ $json.term }}' },
			{ items: itemsOf({ term: 'a' }, { term: 'b' }, { term: 'c' }) },
		);
		expect(pairs(outcome.items)).toEqual([[{ item: 0 }, { item: 1 }, { item: 2 }]]);
	});

	it('the output is in the order of the input, however late an answer comes', async () => {
		const ids = [
			await service.pendingTask(),
			await service.pendingTask(),
			await service.pendingTask(),
		];
		service.running().fault({
			match: { path: `/tasks/${ids[0]}$` },
			action: { kind: 'delay', ms: 150 },
		});
		const { items } = await service.run(
			{ resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
			{ items: itemsOf(...ids.map((id) => ({ id }))) },
		);
		expect(items.map(({ json }) => json['task_id'])).toEqual(ids);
		expect(pairs(items)).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});
});

describe('where one input yields many, each is paired with it', () => {
	const getAll = { resource: 'task', operation: 'getAll' };

	it('task.getAll, several tasks for each input', async () => {
		for (let made = 0; made < 3; made += 1) await service.pendingTask();
		const { items } = await service.run(
			{ ...getAll, limit: '={{ $json.limit }}' },
			{ items: itemsOf({ limit: 2 }, { limit: 3 }) },
		);
		expect(pairs(items)).toEqual([{ item: 0 }, { item: 0 }, { item: 1 }, { item: 1 }, { item: 1 }]);
	});

	it('task.getAll, also when there happen to be as many outputs as inputs', async () => {
		await service.pendingTask();
		await service.pendingTask();
		const { items } = await service.run(
			{ ...getAll, filters: { status: '={{ $json.status }}' } },
			{ items: itemsOf({ status: 'failed' }, { status: 'pending' }) },
		);
		expect(pairs(items)).toEqual([{ item: 1 }, { item: 1 }]);
	});

	it('task.getAll, over several pages', async () => {
		service.running().configure({ shapes: { taskListMaximum: 1 } });
		await service.pendingTask();
		await service.pendingTask();
		const { items } = await service.run({ ...getAll, returnAll: true }, { items: itemsOf({}, {}) });
		expect(pairs(items)).toEqual([{ item: 0 }, { item: 0 }, { item: 1 }, { item: 1 }]);
	});
});

it.each(['URL: https://transcriber.example.com', 'ftp://https://transcriber.example.com'])(
	'a Base URL with something in front of the address is refused by name: %s',
	async (baseUrl) => {
		const credentials = service.credentials({ baseUrl });
		const { error } = await service.run(ACCOUNT, { credentials });
		const message = "The 'Base URL' of the credential is not a web address";
		expect(error).toMatchObject(failureOf(0, message));
	},
);
