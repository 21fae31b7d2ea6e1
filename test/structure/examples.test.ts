import { runInNewContext } from 'node:vm';

import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { fieldsOf, filesIn, manifest, nodeTypes, optionsOf, read } from './read';

interface Example {
	name: string;
	nodes: INode[];
	connections: Record<string, Record<string, Array<Array<{ node: string }> | null>>>;
	pinData?: Record<string, unknown>;
}

const PREFIX = `${manifest.name}.`;
const files = filesIn('examples').filter((file) => file.endsWith('.json'));
const examples = files.map((file) => [file, JSON.parse(read(file)) as Example] as const);

/** What a Set node of an example makes of an item of our node: its expressions are JavaScript. */
function assigned(file: string, node: string, field: string, $json: unknown): unknown {
	const example = examples.find(([path]) => path === `examples/${file}`)?.[1];
	const { parameters } = example?.nodes.find(({ name }) => name === node) ?? {};
	const { assignments } = parameters?.assignments as {
		assignments: Array<{ name: string; value: string }>;
	};
	const value = assignments.find(({ name }) => name === field)?.value ?? '';
	const code = value.replace(/^=\{\{|\}\}$/g, '');
	return runInNewContext(code, { $json, $: () => ({ item: { json: $json } }) });
}

describe.each([
	['meeting-to-crm.json', 'CRM Row'],
	['meeting-to-crm-with-trigger.json', 'What Came of It'],
])('the speakers of %s, whose fields the service does not document,', (file, node) => {
	it.each([
		[[{ id: 1, name: 'Anna' }, { name: 'Boris' }], 'Anna, Boris'],
		[['Anna', 'Boris'], 'Anna, Boris'],
		[[{ label: 'A' }, null], '{"label":"A"}'],
		['Anna', 'Anna'],
		[2, '2'],
		[null, ''],
		[undefined, ''],
	])('%j are “%s”', (speakers, text) => {
		expect(assigned(file, node, 'speakers', { speakers })).toBe(text);
	});
});

it('an event without its result says why in the examples', () => {
	const event = { task_id: '7', status: 'completed', error: 'HTTP 500' };
	const outcome = assigned('meeting-to-crm-with-trigger.json', 'What Came of It', 'outcome', event);
	expect(outcome).toBe('transcribed, but not complete: HTTP 500');
	const message = assigned('new-transcripts.json', 'Message With Speakers', 'message', event);
	expect(message).toBe('Task 7 is not complete: HTTP 500');
});

it('there are examples', () => {
	expect(files).toContain('examples/recording-to-subtitles.json');
});

describe.each(examples)('%s', (_, { name, nodes, connections, pinData }) => {
	const ours = nodes.filter(({ type }) => type.startsWith(PREFIX));

	it('has a name, and sticky notes that explain it', () => {
		expect(name).toMatch(/\w/);
		const notes = nodes.filter(isNote);
		expect(notes.length).toBeGreaterThan(0);
		for (const { parameters } of notes) expect(String(parameters.content)).toMatch(/\w{4}/);
	});

	it('uses a node of this package, and otherwise only what every n8n has', () => {
		expect(ours.length).toBeGreaterThan(0);
		for (const { type } of nodes) {
			expect(type).toMatch(
				/^(n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-transcriber)\.\w+$/,
			);
		}
	});

	it('connects nodes that are there, each with a different name and id', () => {
		const names = nodes.map((node) => node.name);
		expect(new Set(names).size).toBe(names.length);
		expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
		const connected = Object.entries(connections).flatMap(([from, outputs]) => [
			from,
			...Object.values(outputs)
				.flat(2)
				.map((target) => target?.node),
		]);
		expect(connected.filter((node) => !names.includes(node ?? ''))).toEqual([]);
	});

	it('brings no credential, instance or execution data of whoever made it', () => {
		expect(pinData ?? {}).toEqual({});
		for (const { credentials } of nodes) {
			for (const credential of Object.values(credentials ?? {})) {
				expect(credential).not.toHaveProperty('id');
			}
		}
	});

	it('runs as it is: no node of ours is switched off or lacks what n8n requires', () => {
		for (const node of ours) {
			expect(node.disabled ?? false).toBe(false);
			const type = typeOf(node);
			// n8n fills in the defaults before it looks for what is missing.
			const parameters = withDefaults(node, type) ?? {};
			expect(
				NodeHelpers.getNodeParametersIssues(type.properties, { ...node, parameters }, type),
			).toBeNull();
		}
	});

	it('has no schedule switched on: Execute Workflow would start that one, and publishing would go unnoticed', () => {
		const schedules = nodes.filter(({ type }) => type.endsWith('.scheduleTrigger'));
		for (const schedule of schedules) expect(schedule.disabled).toBe(true);
	});

	it('brings no webhook address, which two imports would share: n8n gives each its own', () => {
		expect(nodes.filter(({ webhookId }) => webhookId !== undefined)).toEqual([]);
	});

	it('is legible in a window of 1440 by 900, as n8n fits it in', () => {
		const zoom = fittingZoom(nodes);
		expect(zoom).toBeGreaterThanOrEqual(0.65);
		for (const { parameters } of nodes.filter(isNote)) {
			expect(smallestText(String(parameters.content)) * zoom).toBeGreaterThanOrEqual(15.5);
		}
	});

	it('names the credentials that our nodes ask for, and no others', () => {
		for (const node of ours) {
			const wanted = (typeOf(node).credentials ?? []).map((credential) => credential.name);
			expect(Object.keys(node.credentials ?? {})).toEqual(wanted);
		}
	});

	it('uses only parameters that our nodes show for that resource and operation', () => {
		for (const node of ours) expect(unknownParameters(node)).toEqual([]);
	});

	it('uses only values that our nodes offer', () => {
		for (const node of ours) expect(valuesNotOffered(node)).toEqual([]);
	});
});

/** What n8n itself puts first in the tool variant of a node, for the model to read. */
const TOOL_FIELDS = [
	{
		displayName: 'Tool Description',
		name: 'descriptionType',
		type: 'options',
		default: 'auto',
		options: [
			{ name: 'Set Automatically', value: 'auto' },
			{ name: 'Set Manually', value: 'manual' },
		],
	},
	{ displayName: 'Description', name: 'toolDescription', type: 'string', default: '' },
] satisfies INodeProperties[];

/** The description of one of our nodes, in the version the example uses. */
function typeOf(node: INode): INodeTypeDescription {
	const name = node.type.slice(PREFIX.length);
	const descriptions = nodeTypes.map((type) => type.description);
	const asTool = descriptions.find((type) => type.usableAsTool && `${type.name}Tool` === name);
	const found = asTool ?? descriptions.find((type) => type.name === name);
	if (found === undefined) throw new Error(`There is no node ${node.type}`);
	expect([found.version].flat()).toContain(node.typeVersion);
	return asTool ? { ...asTool, properties: [...TOOL_FIELDS, ...asTool.properties] } : found;
}

function withDefaults(node: INode, type: INodeTypeDescription): INodeParameters | null {
	return NodeHelpers.getNodeParameters(type.properties, node.parameters, true, false, node, type);
}

function isNote({ type }: INode): boolean {
	return type === 'n8n-nodes-base.stickyNote';
}

/** What n8n 2.41 uses of a window of 1440 by 900 when it fits a workflow in, measured in the editor. */
const USED_OF_WINDOW = { width: 1170, height: 670 };
const NODE_SIZE = 96;

/** How much smaller n8n shows the workflow so that all of it is visible; never larger than it is. */
function fittingZoom(nodes: INode[]): number {
	const boxes = nodes.map(({ position: [left, top], parameters }) => ({
		left,
		top,
		right: left + Number(parameters.width ?? NODE_SIZE),
		bottom: top + Number(parameters.height ?? NODE_SIZE),
	}));
	const width =
		Math.max(...boxes.map((box) => box.right)) - Math.min(...boxes.map((box) => box.left));
	const height =
		Math.max(...boxes.map((box) => box.bottom)) - Math.min(...boxes.map((box) => box.top));
	return Math.min(1, USED_OF_WINDOW.width / width, USED_OF_WINDOW.height / height);
}

/** The font sizes of a note by the level of its headings, in pixels; plain text is 14. */
const HEADINGS: Record<number, number> = { 1: 36, 2: 24, 3: 16, 4: 16, 5: 16, 6: 16 };

function smallestText(markdown: string): number {
	const sizes = markdown
		.split('\n')
		.filter((line) => line.trim() !== '')
		.map((line) => HEADINGS[/^(?:- |\d\. )?(#+) /.exec(line)?.[1]?.length ?? 0] ?? 14);
	return Math.min(...sizes);
}

interface Used {
	path: string;
	value: unknown;
	field?: INodeProperties;
}

/** Every parameter the node has set, those inside collections too, with its description if it is shown. */
function usedParameters(node: INode): Used[] {
	const type = typeOf(node);
	// With defaults, because a parameter may be shown for the default of another one.
	const values = withDefaults(node, type);
	const shown = type.properties.filter((field) =>
		NodeHelpers.displayParameterPath(values ?? {}, field, '', node, type),
	);
	return Object.entries(node.parameters).flatMap(([name, value]) => {
		const field = shown.find((candidate) => candidate.name === name);
		const inside = field?.type === 'collection' ? Object.entries(value as object) : [];
		return [
			{ path: name, value, field },
			...inside.map(([inner, innerValue]) => ({
				path: `${name}.${inner}`,
				value: innerValue as unknown,
				field: fieldsOf(field).find((candidate) => candidate.name === inner),
			})),
		];
	});
}

function unknownParameters(node: INode): string[] {
	return usedParameters(node)
		.filter(({ field }) => field === undefined)
		.map(({ path }) => path);
}

function valuesNotOffered(node: INode): Used[] {
	return usedParameters(node).filter(({ value, field }) => {
		if (field?.type !== 'options' && field?.type !== 'multiOptions') return false;
		const offered = optionsOf(field).map((option) => option.value);
		return [value]
			.flat()
			.filter((one) => !String(one).startsWith('='))
			.some((one) => !offered.includes(one as string));
	});
}
