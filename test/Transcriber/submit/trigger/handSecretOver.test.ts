/** Each secret is handed over to the trigger once, and then this node has it no more. */
import type { IDataObject } from 'n8n-workflow';

import { recall, remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { handSecretOver } from '../../../../nodes/Transcriber/submit/trigger/handSecretOver';
import { HAND_OVER } from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { isLasting } from '../../../../nodes/shared/parameters/refuse';
import { seal } from '../../../../nodes/shared/webhook/sealedSecret';
import { answeringTrigger, STORED, type TriggerAnswer } from '../../../support/answeringTrigger';
import { giveUpSoon } from '../../../support/scale';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const API_KEY = 'test-api-key';

let trigger: Awaited<ReturnType<typeof answeringTrigger>>;
let answer: TriggerAnswer;
beforeEach(async () => {
	answer = STORED;
	trigger = await answeringTrigger(API_KEY, () => answer);
	for (const name of ['patience', 'patienceWhenNotActive', 'patienceWhenRefused'] as const) {
		jest.replaceProperty(HAND_OVER, name, 0);
	}
});
afterEach(() => void trigger.close());

/** A submission as the node remembers it, with its secret sealed with the API key of then. */
const submission = (id: string, answered: IDataObject = {}, apiKey = API_KEY) => ({
	answer: { task_id: id, ...answered },
	sealedSecret: seal(apiKey, 'submission secret', `task ${id}`, `secret of ${id}`),
});

/** An item of which these were accepted. Each call is a new try, as in a Retry. */
function itemWith(...submissions: ReturnType<typeof submission>[]) {
	const saved = {};
	const parameters = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
	const credentials = { baseUrl: 'http://127.0.0.1:9', apiKey: API_KEY };
	const context = () => itemContext(parameters, { saved, credentials });
	remember(context(), { state: 'accepted', submissions, at: 0 });
	return {
		handOver: async (index = 0, age: Parameters<typeof handSecretOver>[2] = 'new') =>
			await handSecretOver(context(), index, age),
		memory: () => recall(context()),
		/** From now on, the node finds that the tasks have ended. */
		end: () => {
			const memory = recall(context());
			if (memory?.state !== 'accepted') throw new Error('Nothing is accepted');
			const ended = memory.submissions.map((one) => ({
				...one,
				answer: { ...one.answer, status: 'completed' },
			}));
			remember(context(), { ...memory, submissions: ended });
		},
		context,
	};
}

const handedOver = () => trigger.calls.flat().map(({ id, kind, secret }) => ({ id, kind, secret }));
const a = { id: 'a', kind: 'task', secret: 'secret of a' };

it('The secret is handed over once, and then forgotten', async () => {
	const item = itemWith(submission('a'));
	await item.handOver();
	await item.handOver();
	expect(handedOver()).toEqual([a]);
	const { answer: answered } = submission('a');
	expect(item.memory()).toMatchObject({ submissions: [{ answer: answered, handedOver: true }] });
	expect(JSON.stringify(item.memory())).not.toContain('sealedSecret');
});

it('Of several tasks of an item, each keeps its secret until it is handed over', async () => {
	const item = itemWith(submission('a'), submission('b'));
	await item.handOver(1);
	expect(handedOver()).toEqual([{ ...a, id: 'b', secret: 'secret of b' }]);
	expect(item.memory()).toMatchObject({
		submissions: [{ sealedSecret: expect.any(String) }, { handedOver: true }],
	});
});

it('Several tasks that are handed over at the same time are all noted', async () => {
	const item = itemWith(submission('a'), submission('b'));
	await Promise.all([item.handOver(0), item.handOver(1)]);
	expect(item.memory()).toMatchObject({
		submissions: [{ handedOver: true }, { handedOver: true }],
	});
});

it('A secret that was sealed with another API key is lost: the submission goes without one', async () => {
	await itemWith(submission('a', {}, 'before the rotation')).handOver();
	expect(handedOver()).toEqual([{ ...a, secret: undefined }]);
});

it('A submission for which the service gave no secret goes without one', async () => {
	await itemWith({ ...submission('a'), sealedSecret: '' }).handOver();
	expect(handedOver()).toEqual([{ ...a, secret: undefined }]);
});

it('What the trigger has not stored stays, and the next try hands it over', async () => {
	const item = itemWith(submission('a'));
	answer = { status: 404, body: '{}' };
	await expect(item.handOver()).rejects.toThrow('did not accept the hand-over of a');
	expect(item.memory()).toMatchObject({ submissions: [{ sealedSecret: expect.any(String) }] });
	answer = STORED;
	await item.handOver();
	expect(handedOver()).toEqual([a, a]);
});

it('Nothing is handed over of what is not accepted', async () => {
	const item = itemWith(submission('a'));
	await item.handOver(1);
	await handSecretOver(itemContext(LINK), 0, 'new');
	remember(item.context(), { state: 'sent', key: 'file-17' });
	await item.handOver();
	expect(trigger.calls).toEqual([]);
});

const UNHEARD = /^The Transcriber Trigger got the hand-over of task a only after its end/;

describe('A task that has ended before its hand-over', () => {
	const ended = () => itemWith(submission('a', { status: 'completed' }), submission('b'));

	it('is handed over, and then is an error in each try, because nobody may hear of its end', async () => {
		const item = ended();
		const failure = await item.handOver(0, 'earlier').catch((error: Error) => error);
		expect(failure).toMatchObject({ message: expect.stringMatching(UNHEARD) });
		expect(isLasting(failure as Error)).toBe(true);
		await expect(item.handOver(0, 'new')).rejects.toThrow(UNHEARD);
		expect(handedOver()).toEqual([a]);
		expect(item.memory()).toMatchObject({ submissions: [{ endedUnheard: true }, {}] });
	});

	it('may be one that the service cannot be asked about: each try hands it over and asks again', async () => {
		giveUpSoon();
		const item = itemWith(submission('a'));
		const unknown = /^It is not known whether task a had ended before the Transcriber Trigger got/;
		await expect(item.handOver(0, 'earlier')).rejects.toThrow(unknown);
		await expect(item.handOver(0, 'earlier')).rejects.toThrow(unknown);
		expect(handedOver()).toEqual([a, a]);
	});

	it('may be one that had ended before, if the service can be asked only after its end', async () => {
		giveUpSoon();
		const item = itemWith(submission('a'));
		await expect(item.handOver(0, 'earlier')).rejects.toThrow(/^It is not known whether task a/);
		item.end();
		const failure = await item.handOver(0, 'earlier').catch((error: Error) => error);
		expect(failure).toMatchObject({ message: expect.stringMatching(/got its hand-over/) });
		expect(String(failure)).not.toMatch(UNHEARD);
		expect(isLasting(failure as Error)).toBe(true);
		await expect(item.handOver(0, 'new')).rejects.toThrow(/^It is not known whether task a/);
	});

	it('is no error if it is new: the service repeats its webhook', async () => {
		const item = ended();
		await item.handOver(0, 'new');
		await item.handOver(0, 'earlier');
		expect(handedOver()).toEqual([a]);
		expect(JSON.stringify(item.memory())).not.toContain('endedUnheard');
	});
});
