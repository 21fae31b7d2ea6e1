/** What the tests of this folder read: the repository itself, and the node types it offers to n8n. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import type {
	ICredentialType,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

export const root = path.join(__dirname, '..', '..');

const load = createRequire(__filename);

interface Manifest {
	name: string;
	version: string;
	license: string;
	keywords: string[];
	scripts: Record<string, string>;
	dependencies?: Record<string, string>;
	peerDependencies: Record<string, string>;
	n8n: { n8nNodesApiVersion: number; strict: boolean; nodes: string[]; credentials: string[] };
}

export const manifest = JSON.parse(read('package.json')) as Manifest;

export function read(file: string): string {
	return readFileSync(path.join(root, file), 'utf8');
}

export function exists(file: string): boolean {
	return existsSync(path.join(root, file));
}

/** All files below a folder, as paths from the root with forward slashes. */
export function filesIn(folder: string, leaveOut: string[] = []): string[] {
	return readdirSync(path.join(root, folder), { withFileTypes: true })
		.filter(({ name }) => !leaveOut.includes(name))
		.flatMap((entry) => {
			const file = path.posix.join(folder, entry.name);
			return entry.isDirectory() ? filesIn(file, leaveOut) : [file];
		})
		.sort();
}

/** `dist/nodes/X/X.node.js` is built from `nodes/X/X.node.ts`. */
export function sourceOf(built: string): string {
	return built.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

/** The node types in package.json, from their sources. */
export const nodeTypes: INodeType[] = manifest.n8n.nodes.map(instanceFrom<INodeType>);

export const credentialTypes: ICredentialType[] = manifest.n8n.credentials.map(
	instanceFrom<ICredentialType>,
);

/** The class of a file has the file's own name, which is also how n8n finds it. */
export function instanceFrom<T>(built: string): T {
	const name = path.basename(built).split('.')[0] ?? '';
	const exported = load(path.join(root, sourceOf(built))) as Record<string, new () => T>;
	const Type = exported[name];
	if (Type === undefined) throw new Error(`${sourceOf(built)} does not export ${name}`);
	return new Type();
}

export function nodeType(name: string): INodeType {
	const type = nodeTypes.find(({ description }) => description.name === name);
	if (type === undefined) throw new Error(`package.json lists no node ${name}`);
	return type;
}

export const { description } = nodeType('transcriber');

export interface OperationEntry {
	/** As stored in workflows, e.g. `task.getAll`. */
	id: string;
	resource: string;
	resourceName: string;
	option: INodePropertyOptions;
}

/** Every operation the action node offers, in the order of the editor. */
export const operations: OperationEntry[] = optionsOf(
	description.properties.find(({ name }) => name === 'resource'),
).flatMap(({ name: resourceName, value }) => {
	const resource = String(value);
	const field = description.properties.find(
		({ name, displayOptions }) =>
			name === 'operation' && displayOptions?.show?.resource?.includes(resource),
	);
	return optionsOf(field).map((option) => ({
		id: `${resource}.${String(option.value)}`,
		resource,
		resourceName,
		option,
	}));
});

/** The parameters of one operation, without resource and operation themselves. */
export function parametersOf({ resource, option }: OperationEntry): INodeProperties[] {
	return description.properties.filter(
		({ name, displayOptions }) =>
			name !== 'operation' &&
			displayOptions?.show?.resource?.includes(resource) &&
			displayOptions.show.operation?.includes(String(option.value)),
	);
}

/** The choices of an `options` or `multiOptions` parameter. */
export function optionsOf(field: INodeProperties | undefined): INodePropertyOptions[] {
	return (field?.options ?? []).filter(
		(option): option is INodePropertyOptions => 'value' in option,
	);
}

/** The fields of a `collection` or `fixedCollection` parameter. */
export function fieldsOf(field: INodeProperties | undefined): INodeProperties[] {
	return (field?.options ?? []).flatMap((option) => {
		if (isGroup(option)) return option.values;
		return 'type' in option ? [option] : [];
	});
}

function isGroup(
	option: INodePropertyOptions | INodeProperties | INodePropertyCollection,
): option is INodePropertyCollection {
	return 'values' in option;
}

/** Every parameter, those inside collections too. */
export function allParameters(fields: INodeProperties[]): INodeProperties[] {
	return fields.flatMap((field) => [field, ...allParameters(fieldsOf(field))]);
}

/** The rows of the first Markdown table below a heading, header left out. */
export function tableBelow(markdown: string, heading: string): string[][] {
	const lines = markdown.split('\n');
	const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading);
	if (start < 0) throw new Error(`There is no heading "${heading}"`);
	const first = lines.findIndex((line, index) => index > start && line.startsWith('|'));
	const end = lines.findIndex((line, index) => index > first && !line.startsWith('|'));
	return lines.slice(first + 2, end).map((line) =>
		line
			.slice(1, line.lastIndexOf('|'))
			.split(/(?<!\\)\|/)
			.map((cell) => cell.trim().replaceAll('\\|', '|')),
	);
}
