/** What 'Get the Transcript' says, and where it lets the service deliver. */
import type { INodeParameters } from 'n8n-workflow';

import {
	deliveryAddress,
	onCompletionOf,
	triggerUrlOf,
	usesWebhook,
	webhookUrlOf,
	type OnCompletion,
} from '../../../../nodes/Transcriber/submit/choice/onCompletion';
import { resumeUrlOf } from '../../../../nodes/shared/n8nInternals/resumeUrl';
import { itemContext } from '../../../support/itemContext';
import { BOT, FILE, LINK } from '../../../support/parameters';

const triggerUrl = 'https://n8n.example.com/webhook/1/transcriber';
const webhookUrl = 'https://hooks.example.com/a';
const with_ = (onCompletion: string, more: INodeParameters = {}) =>
	itemContext({ ...LINK, onCompletion, ...more });

it.each<[string, INodeParameters, OnCompletion]>([
	['a file waits', FILE, 'poll'],
	['a link waits', LINK, 'poll'],
	['a bot, whose meeting may be weeks ahead, does not', BOT, 'returnTask'],
])('Without a choice %s', (_what, parameters, expected) => {
	expect(onCompletionOf(itemContext({ ...parameters, onCompletion: '' }))).toBe(expected);
	const { onCompletion: _, ...without } = { onCompletion: '', ...parameters };
	expect(onCompletionOf(itemContext(without))).toBe(expected);
});

it('An operation without the choice waits', () => {
	expect(onCompletionOf(itemContext({ resource: 'task', operation: 'wait' }))).toBe('poll');
});

it.each<[OnCompletion, boolean]>([
	['poll', false],
	['returnTask', false],
	['awaitWebhook', true],
	['notifyTrigger', true],
	['callUrl', true],
])('%s is a choice, and gives the service an address: %s', (onCompletion, expected) => {
	expect(onCompletionOf(with_(onCompletion))).toBe(onCompletion);
	expect(usesWebhook(onCompletion)).toBe(expected);
});

it('Anything else is refused', () => {
	expect(() => onCompletionOf(with_('={{ "later" }}'))).toThrow("'Get the Transcript'");
});

it('The service delivers to the address of the choice, and not to one of another choice', () => {
	const both = { triggerUrl, webhookUrl };
	expect(deliveryAddress(with_('notifyTrigger', both))).toBe(triggerUrl);
	expect(deliveryAddress(with_('callUrl', both))).toBe(webhookUrl);
	expect(deliveryAddress(with_('poll', both))).toBe('');
	expect(deliveryAddress(with_('returnTask', both))).toBe('');
	const waiting = with_('awaitWebhook', both);
	expect(deliveryAddress(waiting)).toBe(resumeUrlOf(waiting));
	expect(deliveryAddress(waiting)).toContain('/webhook-waiting/41');
});

it('An address that the choice needs is refused by its name if it is empty', () => {
	expect(() => triggerUrlOf(with_('notifyTrigger'))).toThrow(
		"The parameter 'Trigger URL' is empty",
	);
	expect(() => webhookUrlOf(with_('callUrl'))).toThrow("The parameter 'Webhook URL' is empty");
	expect(() => triggerUrlOf(with_('poll'))).toThrow("The parameter 'Trigger URL' is empty");
	expect(() => webhookUrlOf(with_('poll'))).toThrow("The parameter 'Webhook URL' is empty");
});
