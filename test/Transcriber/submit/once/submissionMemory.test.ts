/** What the node remembers of the submits of an execution. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import {
	forget,
	memoryAt,
	recall,
	remember,
	submissionIds,
	submissionNames,
	submittedBefore,
	takeOverFromEarlierRun,
} from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { oncePerPlace } from '../../../../nodes/Transcriber/submit/once/oncePerPlace';
import { runExecutionDataOf } from '../../../../nodes/shared/n8nInternals/suspendExecution';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { BOT, LINK } from '../../../support/parameters';

const items = [{ json: {} }, { json: {} }];

let saved: IDataObject;
beforeEach(() => {
	saved = {};
});

const at = (place: ItemPlace = {}, parameters: INodeParameters = LINK) =>
	itemContext(parameters, { saved, items, ...place });

const ACCEPTED = {
	state: 'accepted',
	submissions: [{ answer: { task_id: '7f3c' } }, { answer: { task_id: '8a4d' } }],
	at: 1,
} as const;
const accepted = { ...ACCEPTED, submissions: [...ACCEPTED.submissions] };

describe('What is remembered of an item', () => {
	it('is found in the same execution and in its Retry, and not by another item or run', () => {
		remember(at(), accepted);
		expect(recall(at())).toEqual(accepted);
		expect(recall(at({ executionId: '42', mode: 'retry' }))).toEqual(accepted);
		expect(memoryAt(at({ itemIndex: 1 }), '0:0')).toEqual(accepted);
		expect(recall(at({ itemIndex: 1 }))).toBeUndefined();
		expect(recall(at({ runIndex: 1 }))).toBeUndefined();
	});

	it("of a tool is found in the execution's Retry, also if the user has renamed the tool, and by no other tool or node", () => {
		const call = {};
		const retried = (place: ItemPlace) =>
			recall(at({ savedAs: 'Transcriber', executionId: '42', mode: 'retry', ...place }));
		remember(at({ call }), accepted);
		expect(retried({ call, node: { name: 'Better' } })).toEqual(accepted);
		expect(retried({ call, node: { name: 'Other', id: 'other' } })).toBeUndefined();
		saved = {};
		remember(at(), accepted);
		expect(retried({})).toEqual(accepted);
		expect(retried({ node: { name: 'Better' } })).toBeUndefined();
	});

	it('of a tool that the user has renamed is found also beside what n8n keeps of other nodes', () => {
		const call = {};
		remember(at({ call }), accepted);
		const place: ItemPlace = { call, node: { name: 'Better' }, executionId: '42', mode: 'retry' };
		const context = at({ ...place, saved: { done: true }, savedAs: 'Loop Over Items' });
		const { contextData = {} } = runExecutionDataOf(context)?.executionData ?? {};
		expect(recall(context)).toBeUndefined();
		contextData['node:Transcriber'] = saved;
		expect(recall(context)).toEqual(accepted);
	});

	it('is gone when it is forgotten, and only of that item', () => {
		remember(at(), accepted);
		remember(at({ itemIndex: 1 }), accepted);
		forget(at());
		expect(recall(at())).toBeUndefined();
		expect(recall(at({ itemIndex: 1 }))).toEqual(accepted);
	});

	it('is read as version 1.0.0 has saved it, with a single answer', () => {
		const [{ answer }] = ACCEPTED.submissions;
		const others = { state: 'accepted', at: 1, deliversTo: '' };
		saved = { accepted: { '0:0': { ...others, answer, sealedSecret: 's', handedOver: true } } };
		const submissions = [{ answer, sealedSecret: 's', handedOver: true }];
		expect(recall(at())).toEqual({ ...others, submissions });
	});

	describe('by an earlier Retry of the same execution, of which n8n has saved nothing for this one,', () => {
		const lineage = (id: string) => ({ id, firstExecution: '41', executionId: '41' });
		const earlier = { executionId: '42', mode: 'retry' } as const;
		const now = { executionId: '43', mode: 'retry' } as const;
		const reload = (id: string, more = {}) => {
			saved = { lineage: lineage(id), ...more };
		};

		it('is found', () => {
			reload('a');
			remember(at(earlier), accepted);
			reload('a');
			expect(recall(at(now))).toEqual(accepted);
			forget(at(now));
			reload('a');
			expect(recall(at(now))).toBeUndefined();
		});

		it('counts more than that the first execution has sent it', () => {
			reload('b');
			remember(at(earlier), accepted);
			reload('b', { accepted: { '0:0': { state: 'sent' } } });
			expect(recall(at(now))).toEqual(accepted);
		});

		it('counts less than what the first execution knows to be accepted', () => {
			reload('c');
			remember(at(earlier), { state: 'sent' });
			reload('c', { accepted: { '0:0': accepted } });
			expect(recall(at(now))).toEqual(accepted);
		});
	});
});

describe('An answer to a submit', () => {
	it('has the plain id of a task, but not of a bot, which is no task', () => {
		expect(submissionIds(at(), { id: '7f3c' })).toMatchObject({ taskId: '7f3c' });
		expect(submissionIds(at({}, BOT), { id: '7f3c' })).toEqual({});
	});

	it('about a bot may name both, and the bot by its own name', () => {
		const answer = { bot_id: 'b1', task_id: '7f3c' };
		expect(submissionIds(at({}, BOT), answer)).toEqual({ botId: 'b1', taskId: '7f3c' });
	});

	it('gives the names of all tasks in messages', () => {
		expect(submissionNames(at(), accepted)).toEqual(['task 7f3c', 'task 8a4d']);
	});
});

describe('An item is checked and built', () => {
	it('if nothing was submitted for it', () => {
		expect(submittedBefore(at())).toBeUndefined();
	});

	it('again if an Idempotency-Key makes a repeat safe', () => {
		remember(at(), { state: 'sent', key: 'file-17' });
		expect(submittedBefore(at())).toBeUndefined();
	});

	it('but not if it was sent without a key, or accepted', () => {
		remember(at(), { state: 'sent' });
		expect(submittedBefore(at())).toEqual([]);
		remember(at(), accepted);
		expect(submittedBefore(at())).toEqual(['task 7f3c', 'task 8a4d']);
	});

	it('while an identical call of an AI agent is being sent, which the service may still refuse', async () => {
		await oncePerPlace(at(), async () => {
			remember(at(), { state: 'sent' });
			await Promise.resolve();
			expect(submittedBefore(at())).toBeUndefined();
		});
		expect(submittedBefore(at())).toEqual([]);
	});
});

describe('An item that a loop brings back after it has failed', () => {
	const FAILED = [{ json: { error: 'The connection broke' } }, { json: { error: 'No' } }];
	const BODY = 'a hash of the body';
	const sent = () => ({ state: 'sent', body: BODY }) as const;
	/** What is remembered of the item in a later run. */
	const takenOver = (place: ItemPlace = {}, body = BODY) => {
		const later = at({ runIndex: 1, items: FAILED, ...place });
		takeOverFromEarlierRun(later, body);
		return recall(later);
	};

	it('is the one of which the answer was lost in an earlier run, whatever its index was', () => {
		remember(at({ itemIndex: 1 }), sent());
		expect(takenOver()).toEqual(sent());
		expect(takenOver({ runIndex: 2, itemIndex: 1 })).toEqual(sent());
	});

	it('is the one that was accepted without an id, also beside others, but not with one', () => {
		const nameless = {
			...sent(),
			state: 'accepted',
			submissions: [{ answer: {} }],
			at: 1,
		} as const;
		remember(at(), { ...nameless, submissions: [...nameless.submissions] });
		expect(takenOver()).toMatchObject({ state: 'accepted' });
		for (const id of [{ task_id: '7f3c' }, { bot_id: 'b1' }]) {
			const beside = (answer: { [name: string]: string }) => {
				saved = {};
				remember(at(), { ...nameless, submissions: [{ answer: id }, { answer }] });
				return takenOver({ runIndex: 3 });
			};
			expect(beside({})).toMatchObject({ state: 'accepted' });
			expect(beside({ task_id: '8a4d' })).toBeUndefined();
			expect(beside({ error: 'Private' })).toBeUndefined();
		}
		saved = { accepted: { '0:0': { ...sent(), state: 'accepted', at: 1, answer: {} } } };
		expect(takenOver({ runIndex: 4 })).toBeUndefined();
	});

	it.each<[string, ItemPlace, string]>([
		['of the same run', { runIndex: 0, itemIndex: 1 }, BODY],
		['without the field of an error', { items: [{ json: { error: '' } }] }, BODY],
		['that asks for something else', {}, 'another hash'],
		['of an agent', { call: {} }, BODY],
	])('is none %s', (_what, place, body) => {
		remember(at(), sent());
		takenOver(place, body);
		expect(Object.keys(saved.accepted as object)).toEqual(['0:0']);
	});

	it('is none of the same run or a later one, or where nothing was sent', () => {
		remember(at({ runIndex: 1, itemIndex: 1 }), sent());
		expect(takenOver()).toBeUndefined();
		saved = {};
		remember(at({ runIndex: 2 }), sent());
		expect(takenOver()).toBeUndefined();
		saved = {};
		expect(takenOver()).toBeUndefined();
	});
});
