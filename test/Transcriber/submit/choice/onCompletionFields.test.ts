/** The fields of 'Get the Transcript'. */
import { NodeHelpers, type INode, type INodeProperties } from 'n8n-workflow';

import { completionFields } from '../../../../nodes/Transcriber/submit/choice/onCompletionFields';
import { Transcriber } from '../../../../nodes/Transcriber/Transcriber.node';

const fields = completionFields('poll');
const { description } = new Transcriber();
const node: INode = {
	id: '1',
	name: 'Transcriber',
	type: 'transcriber',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** What the panel shows for a choice. */
const shownFor = (onCompletion: string) =>
	fields
		.filter((field) => NodeHelpers.displayParameter({ onCompletion }, field, node, description))
		.map(({ name }) => name);
const fieldCalled = (wanted: string): Partial<INodeProperties> =>
	fields.find(({ name }) => name === wanted) ?? {};

it.each([
	['poll', ['onCompletion', 'waitOptions']],
	['awaitWebhook', ['onCompletion', 'waitOptions']],
	['notifyTrigger', ['onCompletion', 'triggerUrl']],
	['callUrl', ['onCompletion', 'webhookUrl']],
	['returnTask', ['onCompletion']],
])('with %s the panel asks for what that needs: %s', (onCompletion, names) => {
	expect(shownFor(onCompletion)).toEqual(names);
});

it('the five choices of the contract are there, in the order of their names', () => {
	expect(
		fieldCalled('onCompletion').options?.map((option) => 'value' in option && option.value),
	).toEqual(['callUrl', 'returnTask', 'notifyTrigger', 'poll', 'awaitWebhook']);
});

it.each(['poll', 'returnTask'] as const)('an operation has its own default: %s', (byDefault) => {
	expect(completionFields(byDefault)[0]?.default).toBe(byDefault);
});

it('the choice itself takes no expression, because other fields depend on it', () => {
	expect(fieldCalled('onCompletion')).toMatchObject({ type: 'options', noDataExpression: true });
});

it.each(['triggerUrl', 'webhookUrl'])('%s is a text that has to be entered', (name) => {
	expect(fieldCalled(name)).toMatchObject({ type: 'string', required: true, default: '' });
});
