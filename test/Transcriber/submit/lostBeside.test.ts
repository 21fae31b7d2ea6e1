/** In a later try, an item fails before anything is sent: its error still names the item whose answer was lost. */
// Also covers once/checkSentBefore.ts.

import type { INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import type { FaultRule } from '../../simulator/index';
import { again } from '../../support/again';
import { STORED, answeringTrigger } from '../../support/answeringTrigger';
import { FILE, LINK } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();
beforeEach(() => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
});

const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };
const refused = (status: number): FaultRule['action'] => ({
	kind: 'respond',
	status,
	readBody: true,
});
/** What the service answers to the first request, the second and so on. */
const answers = (...actions: Array<FaultRule['action']>) =>
	actions.forEach((action) => service.running().fault({ match: { method: 'POST' }, action }));

const SUBMITS: Array<[string, INodeParameters]> = [
	['file', FILE],
	['link', LINK],
];
const two = () => [itemWithFile('one'), itemWithFile('two')];

it.each(SUBMITS)('in a Retry with a slip in the other item: a %s', async (_what, parameters) => {
	answers(LOST, refused(422));
	const items = two();
	const first = await service.run(parameters, { items, executionId: '41' });
	const options = { numSpeakers: '={{ $itemIndex === 1 ? 9 : undefined }}' };
	const now = { ...parameters, options };
	const data = again(first, now, items, { asFirstRun: true });
	const { error } = await service.run(now, { items, data, mode: 'retry', executionId: '42' });
	expect(error?.message).toContain('Number of Speakers');
	expect(error?.description).toMatch(/may also have accepted item \d/);
});

it('with Retry On Fail, if the start of the other bot has passed', async () => {
	answers(LOST, refused(402));
	const parameters = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: '={{ $json.url }}',
		consentAcknowledged: true,
		startAt: '={{ $json.at }}',
	};
	const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
	const items = [
		{ json: { url: 'https://meet.example.com/a', at: inMs(3_600_000) } },
		{ json: { url: 'https://meet.example.com/b', at: inMs(1_500) } },
	];
	const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 2_000 };
	const { error } = await service.run(parameters, { items, node });
	expect(service.running().bots()).toHaveLength(1);
	expect(error?.message).toContain("'Start At' is in the past");
	expect(error?.description).toMatch(/may also have accepted item 0/);
});

describe.each([
	['first', [LOST, refused(402)]],
	['second', [refused(402), LOST]],
])(
	'with Retry On Fail, if the trigger is away then, and the answer to the %s was lost',
	(_, actions) => {
		it.each(SUBMITS)('a %s', async (_what, own) => {
			let calls = 0;
			const trigger = await answeringTrigger(
				() => [service.running().apiKey],
				() => (++calls > 1 ? { status: 404, body: '{"message":"Not registered"}' } : STORED),
			);
			answers(...actions);
			const parameters = { ...own, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
			const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 10 };
			const { error } = await service.run(parameters, { items: two(), node });
			trigger.close();
			expect(service.running().tasks()).toHaveLength(1);
			expect(error?.message).toContain("The Transcriber Trigger at 'Trigger URL' cannot be used");
			expect(error?.description).toMatch(/has accepted it|may (also )?have accepted/);
		});
	},
);
