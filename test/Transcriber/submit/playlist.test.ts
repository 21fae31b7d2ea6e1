/** A playlist: one link of which the service makes several tasks, each with its own secret. */
// Also covers suspension/suspendUntilDelivery.ts, once/endedBeforeSubmit.ts.
import type { INode } from 'n8n-workflow';

import { STORE } from '../../../nodes/TranscriberTrigger/triggerMemory';
import { answeringTrigger } from '../../support/answeringTrigger';
import { itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';
import { deliver, sign } from '../../TranscriberTrigger/client';
import { TriggerHost } from '../../TranscriberTrigger/host';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://video.example.com/playlist',
	waitOptions: { pollInterval: 0.02 },
};
const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const one = () => itemsOf({});

/** The id of the accepted video, which comes after a refused one. */
async function refusedFirst(): Promise<string> {
	const id = await service.pendingTask();
	const body = [{ error: 'Private video' }, { task_id: id, webhook_secret: 'secret of second' }];
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'respond', status: 200, body, readBody: true },
	});
	return id;
}

describe('If the service refuses the first video, the secret of the second stays its own:', () => {
	it('"Call a URL When Ready" outputs the secret that its receiver needs', async () => {
		const id = await refusedFirst();
		const webhookUrl = 'https://hooks.example.com/a';
		const parameters = { ...LINK, onCompletion: 'callUrl', webhookUrl };
		const { json } = await service.run(parameters, { items: one(), node: CONTINUE });
		expect(json).toContainEqual({ task_id: id, webhook_secret: 'secret of second' });
	});

	it('a suspended execution wakes with the delivery, and refuses one that is not signed', async () => {
		const id = await refusedFirst();
		const parameters = { ...LINK, onCompletion: 'awaitWebhook' };
		const workflow = workflowWith(parameters, service.credentials(), CONTINUE);
		const sleeping = await workflow.start(one());
		service.running().finish(id);
		const raw = JSON.stringify({ task_id: id });
		expect(await workflow.deliver(sleeping, raw, sign(raw, 'forged'))).toEqual({ status: 401 });
		const { woken } = await workflow.deliver(sleeping, raw, sign(raw, 'secret of second'));
		expect(woken?.next).toContainEqual(
			expect.objectContaining({ task_id: id, status: 'completed' }),
		);
	});

	it('a suspended execution that wakes with its failure says that the first was refused, too', async () => {
		const id = await refusedFirst();
		const parameters = { ...LINK, onCompletion: 'awaitWebhook' };
		const workflow = workflowWith(parameters, service.credentials(), CONTINUE);
		const sleeping = await workflow.start(one());
		service.running().finish(id, { status: 'failed', error: 'Noise' });
		const raw = JSON.stringify({ task_id: id });
		const { woken } = await workflow.deliver(sleeping, raw, sign(raw, 'secret of second'));
		expect(JSON.stringify(woken?.next)).toMatch(
			/Task \S+ failed: Noise.*refused one of the recordings: Private video/,
		);
	});

	it('a Transcriber Trigger gets the secret, and starts its workflow', async () => {
		jest.replaceProperty(STORE, 'safeAfterMs', 100);
		const options = { includeResult: false };
		const host = await new TriggerHost({
			parameters: { options },
			credentials: service.credentials(),
		}).open();
		try {
			const id = await refusedFirst();
			const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
			await service.run(notify, { items: one(), node: CONTINUE });
			const answer = await deliver(
				host.url,
				{ task_id: id, status: 'completed' },
				'secret of second',
			);
			expect(answer.status).toBe(200);
			expect(host.executions).toHaveLength(1);
		} finally {
			await host.close();
		}
	});
});

it('The secret of each video is masked wherever its answer repeats it', async () => {
	const secrets = ['first-secret-0123456789', 'second-secret-0123456789'];
	const body = secrets.map((secret, index) => ({
		task_id: `task-${index}`,
		webhook_secret: secret,
		hint: `Check the signature with ${secret}`,
	}));
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'respond', status: 200, body, readBody: true },
	});
	const { json } = await service.run({ ...LINK, onCompletion: 'returnTask' }, { items: one() });
	expect(json).toHaveLength(2);
	for (const secret of secrets) expect(JSON.stringify(json)).not.toContain(secret);
});

describe('If it was submitted before with the same key,', () => {
	const KEYED = { ...LINK, options: { idempotencyKey: 'playlist-17' } };
	const answers = (body: object[]) =>
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 200, body, readBody: true },
		});
	const COMPLETED = { task_id: 'good', status: 'completed' };
	const FAILED = { task_id: 'bad', status: 'failed', error: 'No speech' };

	it.each([
		['first', [FAILED, COMPLETED]],
		['last', [COMPLETED, FAILED]],
	])('a failed task, which is the %s, does not make the others new', async (_, body) => {
		answers(body);
		const webhookUrl = 'https://hooks.example.com/a';
		const parameters = { ...KEYED, onCompletion: 'callUrl', webhookUrl };
		const { error } = await service.run(parameters, { items: one() });
		expect(error?.message).toContain('returned task good, which had already ended');
		expect(error?.description).toContain('Task bad failed: No speech');
	});

	it('the trigger gets the secret of each task, so that it can check each webhook that comes after all', async () => {
		const trigger = await answeringTrigger(service.running().apiKey);
		const names = ['first', 'second', 'third'];
		answers(
			names.map((name) => ({
				task_id: name,
				status: 'completed',
				webhook_secret: `secret of ${name}`,
			})),
		);
		const notify = { ...KEYED, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const { error } = await service.run(notify, { items: one() });
		trigger.close();
		expect(error?.message).toContain('which had already ended');
		expect(new Set(trigger.calls.flat().map(({ id, secret }) => `${id}: ${secret}`))).toEqual(
			new Set(names.map((name) => `${name}: secret of ${name}`)),
		);
	});
});
