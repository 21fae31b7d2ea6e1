import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { operations, exists, filesIn, read } from './read';
import { byId, itemWithFile, serviceForTests } from '../support/service';

const FOLDER = 'nodes/Transcriber/__schema__/v1.0.0';

/** As much of JSON Schema as n8n's editor reads. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
	version?: number;
}

/** Operations whose answer the service document does not show, with what the node itself adds. */
const NOT_SHOWN: Record<string, string[]> = {
	'account.get': [],
	'apiKey.rotate': [],
	'dictionary.add': [],
	'dictionary.clear': ['deleted'],
	'dictionary.preview': [],
	'dictionary.replace': [],
	'meeting.cancel': [],
	'task.cancel': [],
	'task.regenerateSummary': [],
};

const waitOptions = { pollInterval: 0.05 };

const service = serviceForTests({
	shapes: { regenerateSummary: { method: 'POST', path: '/tasks/{taskId}/summary' } },
});

function fileOf(id: string): string {
	return `${FOLDER}/${id.replace('.', '/')}.json`;
}

function schemaOf(id: string): Schema {
	return JSON.parse(read(fileOf(id))) as Schema;
}

/** Runs an operation and returns its output items. */
async function outputs(
	id: string,
	parameters: INodeParameters = {},
	more: Parameters<typeof service.run>[1] = {},
): Promise<IDataObject[]> {
	const [resource = '', operation = ''] = id.split('.');
	const { json, error } = await service.run({ resource, operation, ...parameters }, more);
	expect(error).toBeUndefined();
	expect(json).not.toEqual([]);
	return json;
}

/** Real outputs of each operation, in all the states that have fields of their own. */
const REAL: Record<string, () => Promise<IDataObject[]>> = {
	'account.get': async () => await outputs('account.get'),
	'apiKey.rotate': async () => await outputs('apiKey.rotate', { confirm: true }),
	'dictionary.add': async () => await outputs('dictionary.add', { terms: 'n8n' }),
	'dictionary.replace': async () => await outputs('dictionary.replace', { terms: 'n8n' }),
	'dictionary.clear': async () => await outputs('dictionary.clear'),
	'dictionary.get': async () => {
		service.running().configure({ teamOwnerTerms: ['a', 'b'], limitTerms: 1 });
		return await outputs('dictionary.get');
	},
	'dictionary.sync': async () => {
		service.running().configure({ teamOwnerTerms: ['a', 'b'], limitTerms: 1 });
		return await outputs('dictionary.sync', { terms: 'b\nc' });
	},
	'dictionary.preview': async () => {
		const taskId = byId(await service.completedTask());
		return await outputs('dictionary.preview', { taskId, terms: 'SIMULATED' });
	},
	'meeting.sendBot': async () => {
		const startAt = new Date(Date.now() + 3_600_000).toISOString();
		const bot = { meetingUrl: 'https://meet.example.com/abc', consentAcknowledged: true };
		const scheduled = await outputs('meeting.sendBot', { ...bot, startAt });
		service.running().configure({ meetingSeconds: 0, queueSeconds: 0, processingSeconds: 0 });
		const onCompletion = 'poll';
		const ended = await outputs('meeting.sendBot', { ...bot, onCompletion, waitOptions });
		return [...scheduled, ...ended];
	},
	'meeting.get': async () => {
		const ended = await service.bot();
		service.running().endMeeting(ended);
		const start = new Date(Date.now() + 3_600_000).toISOString();
		const bots = [await service.bot(), ended, await service.bot({ start_at: start })];
		const found = await Promise.all(
			bots.map(async (botId) => await outputs('meeting.get', { botId })),
		);
		return found.flat();
	},
	'meeting.wait': async () => await outputs('meeting.wait', { botId: await transcribedBot() }),
	'meeting.cancel': async () => await outputs('meeting.cancel', { botId: await service.bot() }),
	'task.cancel': async () =>
		await outputs('task.cancel', { taskId: byId(await service.pendingTask()) }),
	'task.export': async () => {
		const taskId = byId(await service.completedTask());
		const file = { output: 'file', binaryPropertyName: 'data' };
		const json = await outputs('task.export', { taskId, format: 'srt', output: 'json' });
		return [...json, ...(await outputs('task.export', { taskId, format: 'srt', ...file }))];
	},
	'task.get': async () => {
		const found = await Promise.all(
			(await tasksInAllStates()).map(async (id) => await outputs('task.get', { taskId: byId(id) })),
		);
		return found.flat();
	},
	'task.getAll': async () => {
		await tasksInAllStates();
		return await outputs('task.getAll', { returnAll: true });
	},
	'task.getResult': async () =>
		await outputs('task.getResult', { taskId: byId(await service.completedTask()) }),
	'task.regenerateSummary': async () => {
		const taskId = byId(await service.completedTask());
		return await outputs('task.regenerateSummary', {
			taskId,
			method: 'POST',
			path: '/tasks/{taskId}/summary',
		});
	},
	'task.wait': async () =>
		await outputs('task.wait', { taskId: byId(await service.completedTask()) }),
	'transcription.transcribeFile': async () => {
		service.running().configure({ queueSeconds: 0, processingSeconds: 0 });
		const items = [itemWithFile()];
		return await outputs('transcription.transcribeFile', { waitOptions }, { items });
	},
	'transcription.transcribeUrl': async () => {
		service.running().configure({ queueSeconds: 0, processingSeconds: 0 });
		const url = 'https://files.example.com/a.mp3';
		return await outputs('transcription.transcribeUrl', { url, waitOptions });
	},
};

/** A bot whose recording is transcribed. */
async function transcribedBot(): Promise<string> {
	const id = await service.bot();
	service.running().endMeeting(id);
	service.running().finish(String(service.running().bots().at(-1)?.taskId));
	return id;
}

/** Tasks that are pending, processing, completed and failed. */
async function tasksInAllStates(): Promise<string[]> {
	service.running().configure({ queueSeconds: 0, processingSeconds: 1e6 });
	const processing = await service.pendingTask();
	while (service.running().task(processing).status !== 'processing') {
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	service.running().configure({ queueSeconds: 1e6 });
	const failed = await service.pendingTask();
	service.running().finish(failed, { status: 'failed', error: 'No speech was found' });
	return [processing, await service.pendingTask(), await service.completedTask(), failed];
}

describe('the output schemas', () => {
	it('are one for each operation, and no others', () => {
		const expected = operations.map(({ id }) => fileOf(id));
		expect(filesIn(FOLDER)).toEqual(expected.sort());
	});

	it('are built along with the node', () => {
		for (const { id } of operations) expect(exists(`dist/${fileOf(id)}`)).toBe(true);
	});
});

describe.each(operations.map(({ id }) => [id]))('the output schema of %s', (id) => {
	it('is an object with a version, as n8n wants it', () => {
		expect(schemaOf(id)).toMatchObject({ type: 'object', properties: {}, version: 1 });
	});

	const own = NOT_SHOWN[id];

	if (own) {
		it('promises nothing of what the service document does not show', () => {
			expect(Object.keys(schemaOf(id).properties ?? {})).toEqual(own);
		});
	}

	it('fits the real outputs, and promises nothing that does not come', async () => {
		const real = (await REAL[id]?.()) ?? [];
		const schema = schemaOf(id);
		for (const output of real) {
			expect(misfits(output, schema, own !== undefined)).toEqual([]);
		}
		const seen = new Set(real.flatMap(Object.keys));
		expect(Object.keys(schema.properties ?? {}).filter((name) => !seen.has(name))).toEqual([]);
	});
});

/** Where a value is not as the schema says. Empty fields (null) are none of its business. */
function misfits(value: unknown, schema: Schema, mayHaveMore: boolean, path = ''): string[] {
	if (value === null || value === undefined) return [];
	if (typeOf(value, schema) !== schema.type) {
		return [`${path} is ${JSON.stringify(value)}, not of type ${schema.type}`];
	}
	const { items } = schema;
	if (Array.isArray(value)) {
		return items
			? value.flatMap((inner, index) => misfits(inner, items, mayHaveMore, `${path}[${index}]`))
			: [];
	}
	if (typeof value !== 'object') return [];
	return Object.entries(value).flatMap(([name, inner]) => {
		const field = schema.properties?.[name];
		if (field) return misfits(inner, field, mayHaveMore, `${path}.${name}`);
		return mayHaveMore ? [] : [`${path}.${name} is not in the schema`];
	});
}

function typeOf(value: unknown, { type }: Schema): string {
	if (Array.isArray(value)) return 'array';
	if (type === 'integer' && Number.isInteger(value)) return 'integer';
	return typeof value;
}
