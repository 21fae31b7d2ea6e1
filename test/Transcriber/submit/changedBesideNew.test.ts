/** n8n's Retry: one item was changed after its submit, and another one has not been sent yet. */
// Also covers once/refuseChangedItem.ts.

import type { INodeParameters } from 'n8n-workflow';

import { again } from '../../support/again';
import { BOT, FILE, LINK, PLAYLIST } from '../../support/parameters';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();

it.each<[string, INodeParameters, INodeParameters]>([
	['a file', FILE, { language: 'en' }],
	['a link', LINK, { url: 'https://files.example.com/other.mp3' }],
	['a bot', BOT, { meetingUrl: 'https://meet.example.com/other' }],
])(
	'of %s: the other item is not sent, and paid for, in a run that fails',
	async (_, before, change) => {
		const items = [itemWithFile('one'), itemWithFile('two')];
		const refusal = { kind: 'respond', status: 422, readBody: true } as const;
		service.running().fault({ match: { method: 'POST' }, skip: 1, times: 1, action: refusal });
		const first = await service.run(before, { items, executionId: '41' });
		expect(first.error).toBeDefined();
		const accepted = () => [...service.running().tasks(), ...service.running().bots()].length;
		const sent = accepted();
		const after = { ...before, ...change };
		const data = again(first, after, items, { asFirstRun: true });
		const retried = await service.run(after, { items, data, mode: 'retry', executionId: '42' });
		expect(retried.error?.message).toContain('was changed after');
		expect(accepted()).toBe(sent);
	},
);

it('To undo the change, and to retry, leads to all of them, as the error says', async () => {
	const waiting = { ...PLAYLIST, url: '={{ "https://video.example.com/" + $itemIndex }}' };
	const items = [{ json: {} }, { json: {} }];
	const ids = [await service.pendingTask(), await service.pendingTask()];
	for (const id of ids) service.answer({ task_id: id });
	const short = { ...waiting, waitOptions: { ...waiting.waitOptions, timeout: 0.005 } };
	const first = await service.run(short, { items, executionId: '41' });
	expect(first.error?.message).toContain('has not ended');
	const changed = { ...waiting, language: 'en' };
	const retry = async (before: typeof first, now: INodeParameters, executionId: string) => {
		const data = again(before, now, items, { asFirstRun: true });
		return await service.run(now, { items, data, mode: 'retry', executionId });
	};
	const refused = await retry(first, changed, '42');
	expect(refused.error?.description).toMatch(/Undo the change, save the workflow, and choose/);
	for (const id of ids) service.running().finish(id);
	const { json } = await retry(refused, waiting, '43');
	expect(json.map(({ task_id: id }) => id)).toEqual(ids);
});
