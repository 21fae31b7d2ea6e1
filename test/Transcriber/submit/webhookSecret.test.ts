/** The webhook_secret goes where the present choice in 'Get the Transcript' needs it, and nowhere else. */
// Also covers submit.ts, once/submitOnce.ts.
import type { INodeParameters, IRunExecutionData } from 'n8n-workflow';

import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { withDefaults } from '../../support/again';
import { answeringTrigger } from '../../support/answeringTrigger';
import type { Outcome } from '../../support/engine';
import { LINK } from '../../support/parameters';
import { itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';

const service = serviceForTests();

const flatted = jest.requireActual<{
	parse: (text: string) => IRunExecutionData;
	stringify: (data: IRunExecutionData) => string;
}>('flatted');

/** What n8n's Retry with the currently saved workflow starts with, after a failure of the node. */
function retryWith({ data }: Outcome, parameters: INodeParameters): IRunExecutionData {
	const loaded = flatted.parse(flatted.stringify(data));
	delete loaded.resultData.error;
	const runs = loaded.resultData.runData['Transcriber'];
	if (runs?.at(-1)?.error) runs.pop();
	const [entry] = loaded.executionData?.nodeExecutionStack ?? [];
	if (entry) entry.node.parameters = withDefaults(parameters);
	return loaded;
}

describe('after an execution of which one item failed, a Retry of the changed workflow', () => {
	let trigger: Awaited<ReturnType<typeof answeringTrigger>>;
	beforeEach(async () => {
		trigger = await answeringTrigger(service.running().apiKey);
	});
	afterEach(() => trigger.close());

	const all = (onCompletion: string): INodeParameters => ({
		...LINK,
		onCompletion,
		...(onCompletion === 'callUrl' && { webhookUrl: trigger.url }),
		...(onCompletion === 'notifyTrigger' && { triggerUrl: trigger.url }),
	});

	async function changed(from: string, to: string) {
		service.running().fault({
			match: { method: 'POST' },
			skip: 1,
			times: 1,
			action: { kind: 'respond', status: 422 },
		});
		const first = await service.run(all(from), { items: itemsOf({}, {}), executionId: '41' });
		expect(first.error).toBeDefined();
		const data = retryWith(first, all(to));
		const { json } = await service.run(all(to), { data, executionId: '42' });
		expect(service.running().tasks()).toHaveLength(2);
		return json;
	}

	it.each(['notifyTrigger', 'returnTask'])(
		'from Call a URL does not show the secret with %s',
		async (onCompletion) => {
			const json = await changed('callUrl', onCompletion);
			expect(json).toHaveLength(2);
			expect(JSON.stringify(json)).not.toContain('webhook_secret');
		},
	);

	it('from Call a URL hands the secret over to the trigger', async () => {
		await changed('callUrl', 'notifyTrigger');
		const secrets = trigger.calls.flat().map(({ secret }) => secret);
		expect(secrets.sort()).toEqual(
			service
				.running()
				.tasks()
				.map(({ webhookSecret }) => webhookSecret)
				.sort(),
		);
	});

	it('to Call a URL shows the secret, which the receiver needs', async () => {
		jest.replaceProperty(HAND_OVER, 'patienceWhenNotActive', 0);
		service.running().fault({
			match: { method: 'POST' },
			skip: 1,
			times: 1,
			action: { kind: 'respond', status: 422 },
		});
		const away = await answeringTrigger(service.running().apiKey, (call) =>
			call === 1 ? { status: 200, body: '{"stored":true}' } : { status: 404, body: '{}' },
		);
		const from = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: away.url };
		const first = await service.run(from, { items: itemsOf({}, {}), executionId: '41' });
		const to = { ...LINK, onCompletion: 'callUrl', webhookUrl: away.url };
		const { json } = await service.run(to, { data: retryWith(first, to), executionId: '42' });
		away.close();
		expect(json.map((answer) => answer['webhook_secret']).sort()).toEqual(
			service
				.running()
				.tasks()
				.map(({ webhookSecret }) => webhookSecret)
				.sort(),
		);
	});
});

describe('A secret that the answer repeats in another field', () => {
	const SECRET = 'whsec_1234567890abcdef1234';
	const answered = (more: object) =>
		service.running().fault({
			match: { method: 'POST', path: '/transcribe-url' },
			action: {
				kind: 'respond',
				status: 200,
				readBody: true,
				body: { task_id: 't1', status: 'pending', webhook_secret: SECRET, ...more },
			},
		});

	it.each([
		{ callback: { url: 'https://hooks.example.com', signing_secret: SECRET } },
		{ message: `Verify deliveries with ${SECRET}` },
		{ webhook_signing_key: SECRET },
	])('is masked in the output: %j', async (more) => {
		const trigger = await answeringTrigger(service.running().apiKey);
		answered(more);
		const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const { json, error } = await service.run(notify);
		trigger.close();
		expect(error).toBeUndefined();
		expect(JSON.stringify(json)).toContain('***');
		expect(JSON.stringify(json)).not.toContain(SECRET);
	});

	it('is output once where the user needs it', async () => {
		answered({ message: `Verify deliveries with ${SECRET}` });
		const call = { ...LINK, onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
		const { json } = await service.run(call);
		expect(json).toMatchObject([{ webhook_secret: SECRET, message: 'Verify deliveries with ***' }]);
	});

	it('is not saved with an execution that waits for the delivery', async () => {
		answered({ webhook: { signing_secret: SECRET } });
		const workflow = workflowWith({ ...LINK, onCompletion: 'awaitWebhook' }, service.credentials());
		const asleep = await workflow.start(itemsOf({}));
		expect(asleep.isSuspended).toBe(true);
		expect(asleep.saved).not.toContain(SECRET);
	});

	it('is not in the error of an answer without an id', async () => {
		answered({ task_id: undefined, callback: { secret: SECRET } });
		const call = { ...LINK, onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
		const { error } = await service.run(call);
		expect(error?.description).toContain('***');
		expect(`${error?.message} ${error?.description}`).not.toContain(SECRET);
	});
});
