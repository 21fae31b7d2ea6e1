/** 'On Insufficient Balance' = Fail: the error names what there is to fetch after the top-up. */
// Also covers finishedTask.ts.

import { BOT, LINK } from '../../support/parameters';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();
const waitOptions = { onInsufficientBalance: 'fail' };
const respond = (method: string, path: string, body: object) =>
	service
		.running()
		.fault({ match: { method, path }, times: 9, action: { kind: 'respond', status: 200, body } });

beforeEach(() => {
	respond('GET', '/tasks/17$', { status: 'pending', awaiting_balance: true });
});

it('the task of the recording, and not only the bot, once the bot has one', async () => {
	respond('POST', '/meeting$', { bot_id: 'b', status: 'joining' });
	respond('GET', '/meeting/b$', { status: 'completed', task_id: '17' });
	const { error } = await service.run({ ...BOT, onCompletion: 'poll', waitOptions });
	expect(error?.message).toContain('Task 17 waits because the balance is too low');
});

it('the bot while it has no task', async () => {
	respond('POST', '/meeting$', { bot_id: 'b', status: 'awaiting_balance' });
	const { error } = await service.run({ ...BOT, onCompletion: 'poll', waitOptions });
	expect(error?.message).toContain('Meeting bot b waits because the balance is too low');
	expect(error?.description).toMatch(
		/no second submit.*a bot with Meeting: Wait Until Transcribed/,
	);
});

it('the task of a link', async () => {
	respond('POST', '/transcribe-url$', { task_id: '17', status: 'pending' });
	const { error } = await service.run({ ...LINK, onCompletion: 'poll', waitOptions });
	expect(error?.message).toContain('Task 17 waits because the balance is too low');
});
