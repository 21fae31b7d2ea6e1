/** n8n's Retry of a file whose answer was lost, after the user has chosen another operation. */
// Also covers once/submitOnce.ts.

import type { INode, INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import type { FaultRule } from '../../simulator/index';
import { again } from '../../support/again';
import { BOT, FILE, LINK } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();
const sent = () => [...service.running().tasks(), ...service.running().bots()].length;
const answer = (action: FaultRule['action']) =>
	service.running().fault({ match: { method: 'POST' }, action });

beforeEach(() => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
});

async function retried(
	first: Awaited<ReturnType<typeof service.run>>,
	now: INodeParameters,
	id: string,
	node: Partial<INode> = {},
) {
	const items = [itemWithFile()];
	const data = again(first, now, items, { asFirstRun: true, node });
	return await service.run(now, { items, data, mode: 'retry', executionId: id, node });
}

it.each([
	['a link', LINK],
	['a bot', BOT],
])('is refused as %s, because the service may have accepted the file', async (_, now) => {
	answer({ kind: 'cut', when: 'afterProcessing' });
	const first = await service.run(FILE, { items: [itemWithFile()], executionId: '41' });
	const { error } = await retried(first, now, '42');
	expect(error?.message).toMatch(/changed after it had been sent, and it is not known/);
	expect(error?.description).toMatch(/Undo the change, save the workflow, and choose/);
	expect(sent()).toBe(1);
});

it('says in the output of a node that goes on that it may be accepted, and offers no Retry', async () => {
	answer({ kind: 'cut', when: 'afterProcessing' });
	const first = await service.run(FILE, { items: [itemWithFile()], executionId: '41' });
	const { json } = await retried(first, LINK, '42', { onError: 'continueRegularOutput' });
	expect(json[0]?.error).toMatch(
		/changed after it had been sent.*may have accepted it.*If it is, fetch/,
	);
	expect(json[0]?.error).not.toMatch(/retry/i);
	expect(sent()).toBe(1);
});

it('still knows the key of the file, although the user gave another one in each execution', async () => {
	const own = { ...FILE, options: { idempotencyKey: '={{ $execution.id }}' } };
	answer({ kind: 'cut', when: 'afterProcessing' });
	const first = await service.run(own, { items: [itemWithFile()], executionId: '41' });
	answer({ kind: 'respond', status: 422 });
	const second = await retried(first, LINK, '42');
	service.running().clearFaults();
	const { error } = await retried(second, own, '43');
	expect(error).toBeUndefined();
	expect(sent()).toBe(1);
});

it('is not advised to become a link if a proxy refuses its repeat for its size', async () => {
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 60_000);
	answer({ kind: 'cut', when: 'afterProcessing' });
	const body = '<html>413 Request Entity Too Large</html>';
	answer({ kind: 'respond', status: 413, body });
	const { error } = await service.run(FILE, { items: [itemWithFile()] });
	expect(error?.message).toContain('refused for its size');
	expect(error?.description).toContain('client_max_body_size');
	expect(error?.description).not.toContain('Transcribe URL');
});
