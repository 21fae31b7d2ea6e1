/** The answer to one item is lost, and the execution is stopped later: n8n 2 drops the error, so n8n's log has to name the item. */
// Also covers nodes/Transcriber/item/submittedItems.ts.

import type { INode } from 'n8n-workflow';

import { captureLogs } from '../../support/logs';
import { itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();
const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'poll',
	waitOptions: { pollInterval: 0.02 },
};

/** Loses the answer to the first link, and stops the execution after so many calls of n8n's question whether to. */
async function logOf(names: string[], node: Partial<INode>, isTime: () => boolean) {
	service.running().fault({
		match: { method: 'POST', path: '/transcribe-url$' },
		action: { kind: 'cut', when: 'afterProcessing' },
	});
	const logs = captureLogs();
	const items = itemsOf(...names.map((name) => ({ url: `https://files.example.com/${name}.mp3` })));
	await service.run(LINK, { items, node, cancelWhen: isTime });
	logs.release();
	return logs.of('Transcriber').filter((line) => line.includes('may have accepted'));
}

it('While another item is waited for, with On Error = Continue', async () => {
	const looks = () => service.lines().filter((line) => /\/tasks\/[^/]+$/.test(line)).length;
	const lines = await logOf(
		['one', 'two'],
		{ onError: 'continueRegularOutput' },
		() => looks() > 5,
	);
	expect(lines).toEqual([
		expect.stringMatching(
			// Get Many lists no bot.
			/may have accepted item 0.*Look in your account at the service \(for a recording also with/,
		),
	]);
});

it('In the pause before the next try of Retry On Fail', async () => {
	let asked = 0;
	const isTime = () => service.running().tasks().length > 0 && ++asked > 20;
	const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1_000 };
	const lines = await logOf(['one'], node, isTime);
	expect(lines).toHaveLength(1);
});

it('A task that has failed before the stop is not said to go on', async () => {
	const [failed, left] = [await service.pendingTask(), await service.pendingTask()];
	service.running().finish(failed, { status: 'failed' });
	for (const id of [failed, left]) service.answer({ task_id: id });
	const looksAtLeft = () => service.lines().filter((line) => line.endsWith(left)).length;
	const isFailureSeen = () => service.lines().some((line) => line.endsWith(failed));
	const logs = captureLogs();
	await service.run(LINK, {
		items: itemsOf(
			{ url: 'https://files.example.com/a.mp3' },
			{ url: 'https://files.example.com/b.mp3' },
		),
		node: { onError: 'continueRegularOutput' },
		cancelWhen: () => isFailureSeen() && looksAtLeft() > 5,
	});
	logs.release();
	const [line = ''] = logs.of('Transcriber').filter((one) => one.includes('may charge'));
	expect(line).toContain(left);
	expect(line).not.toContain(failed);
});

it.each<[string, object[], string[]]>([
	['no refused one', [{ error: 'Private' }], []],
	[
		'one without an id once',
		[{ status: 'pending' }, { error: 'Private' }],
		['something without an id'],
	],
])('Of several recordings of a link, the log names %s', async (_what, others, names) => {
	const left = await service.pendingTask();
	service.answer([{ task_id: left }, ...others]);
	const looks = () => service.lines().filter((line) => line.endsWith(left)).length;
	const logs = captureLogs();
	await service.run(LINK, {
		items: itemsOf({ url: 'https://video.example.com/playlist' }),
		node: { onError: 'continueRegularOutput' },
		cancelWhen: () => looks() > 1,
	});
	logs.release();
	const list = [`task ${left}`, ...names].map((name) => `item 0: ${name}`).join(', ');
	expect(logs.of('Transcriber')).toEqual([
		expect.stringContaining(`The service goes on, and may charge: ${list}. `),
	]);
});
