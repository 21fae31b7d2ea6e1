/** Contract, "Completion": `waitOptions`, as the panel of the node offers them. */

import {
	NodeHelpers,
	type INode,
	type INodeProperties,
	type NodeParameterValue,
} from 'n8n-workflow';

import { waitOptionsOf } from '../../../nodes/Transcriber/wait/waitOptions';
import { waitOptionsField } from '../../../nodes/Transcriber/wait/waitOptionsField';

const fields = (waitOptionsField.options ?? []) as INodeProperties[];
const field = (name: string) => fields.find((one) => one.name === name);
const NODE = { name: 'Transcriber', parameters: {} } as unknown as INode;

/** What holds if the user has set these options. */
const holds = (waitOptions: Record<string, NodeParameterValue>) =>
	waitOptionsOf({ getNode: () => NODE, getNodeParameter: () => waitOptions as never });

it('What the panel shows of an option that is just added is what holds without it', () => {
	expect(waitOptionsField).toMatchObject({ name: 'waitOptions', type: 'collection', default: {} });
	const defaults = Object.fromEntries(fields.map((one) => [one.name, one.default]));
	expect(defaults).toEqual({
		exportAs: 'file',
		exportBinaryPropertyName: 'data',
		exportFormat: 'none',
		includeResult: true,
		onInsufficientBalance: 'keepWaiting',
		pollInterval: 10,
		timeout: 180,
	});
	// Without a name of its own, the file is in `data` as well.
	const unset = { ...holds({}), property: 'data' };
	expect(holds(defaults as Record<string, NodeParameterValue>)).toEqual(unset);
});

it('The options are in the order of their labels', () => {
	const labels = fields.map(({ displayName }) => displayName);
	expect(labels).toEqual([...labels].sort());
	expect(labels).toHaveLength(7);
});

it('A low balance is waited for, or fails', () => {
	const { type, options = [] } = field('onInsufficientBalance') ?? {};
	expect(type).toBe('options');
	const values = options.map((one) => ('value' in one ? one.value : undefined));
	expect(values).toEqual(['fail', 'keepWaiting']);
	for (const value of values) {
		expect(holds({ onInsufficientBalance: value as string }).onInsufficientBalance).toBe(value);
	}
	for (const one of options) expect(one).toHaveProperty('description', expect.stringMatching(/./));
	expect(options.map(({ name }) => name)).toEqual(['Fail', 'Keep Waiting']);
});

it.each(['pollInterval', 'timeout'])('%s takes in the panel what the node takes', (name) => {
	const { type, typeOptions: { minValue = 0, maxValue = 0 } = {} } = field(name) ?? {};
	expect([type, minValue]).toEqual(['number', 1]);
	expect(holds({ [name]: minValue })).toMatchObject({ [name]: minValue });
	expect(holds({ [name]: maxValue })).toMatchObject({ [name]: maxValue });
	expect(() => holds({ [name]: maxValue + 1 })).toThrow(`'${field(name)?.displayName}'`);
});

it.each([
	['poll', 'pollInterval', true],
	['awaitWebhook', 'pollInterval', false],
	['awaitWebhook', 'timeout', true],
])('With %s, %s is offered: %s', (onCompletion, name, isOffered) => {
	const option = field(name);
	const shown =
		option &&
		NodeHelpers.displayParameter({}, option, null, null, { onCompletion, waitOptions: {} });
	expect(shown).toBe(isOffered);
});
