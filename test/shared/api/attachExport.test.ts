/** Contract, "Completion", `exportFormat` and `exportAs`: where an exported document goes, and under which name. */

import { NodeOperationError, type INode, type INodeExecutionData } from 'n8n-workflow';

import {
	attachExport,
	exportedFile,
	exportedText,
	inItem,
	storedBy,
	type WantedExport,
} from '../../../nodes/shared/api/attachExport';
import { NotThereYet } from '../../../nodes/shared/api/fetchResults';
import type { Caller } from '../../../nodes/shared/api/types';
import { additionalDataFor } from '../../support/n8n';
import { itemContext } from '../../support/itemContext';
import { LINK } from '../../support/parameters';
import { serviceForTests } from '../../support/service';
import { contextsWith } from '../n8nInternals/contexts';

const service = serviceForTests();
const NODE = { name: 'Transcriber', parameters: {} } as unknown as INode;

/** n8n's storage, which may be in trouble. */
function storage(failure?: Error) {
	const prepareBinaryData = async (data: unknown, fileName?: string, mimeType?: string) => {
		if (failure) throw failure;
		return await Promise.resolve({ data: String(data), fileName, mimeType: mimeType ?? '' });
	};
	const helpers = { prepareBinaryData } as Parameters<typeof storedBy>[0]['helpers'];
	return { getNode: () => NODE, helpers };
}

describe('An exported file', () => {
	it.each([
		['txt', 'text/plain'],
		['srt', 'application/x-subrip'],
		['vtt', 'text/vtt'],
		['json', 'application/json'],
	] as const)('%s has its extension and its type', async (format, mimeType) => {
		expect(await exportedFile(storedBy(storage()), 'Привет', format, 'talk')).toEqual({
			data: 'Привет',
			fileName: `talk.${format}`,
			mimeType,
		});
	});

	it.each([
		['talk.srt', 'talk.srt'],
		['TALK.SRT', 'TALK.SRT'],
		['talk.mp3', 'talk.mp3.srt'],
		['a/b\\c:d*e?f"g<h>i|j\u0001k', 'a_b_c_d_e_f_g_h_i_j_k.srt'],
	])(
		'%j becomes %s: with one extension, and without what no file system takes',
		async (name, fileName) => {
			expect(await exportedFile(storedBy(storage()), '', 'srt', name)).toMatchObject({ fileName });
		},
	);

	it.each([
		['ENOSPC', 'its disk is full'],
		['EDQUOT', 'its disk is full'],
		['EROFS', 'its disk is read-only'],
		['EACCES', 'it may not write to its disk'],
		['EPERM', 'it may not write to its disk'],
		['EIO', 'i/o'],
	])('that n8n cannot store (%s) is no lost transcript', async (code, reason) => {
		const failure = Object.assign(new Error('i/o'), { code });
		const storing = exportedFile(storedBy(storage(failure)), '', 'srt', 'talk');
		await expect(storing).rejects.toThrow(NodeOperationError);
		await expect(storing).rejects.toMatchObject({
			message: `n8n could not store the exported file 'talk.srt': ${reason}`,
			description: expect.stringContaining('The transcript is not lost'),
		});
	});
});

describe('The file of a trigger', () => {
	it('is within the item, and is for n8n like any other file', async () => {
		const file = await exportedFile(inItem, '1\n00:00 --> Привет', 'srt', 'talk');
		expect(file).toEqual({
			data: Buffer.from('1\n00:00 --> Привет').toString('base64'),
			mimeType: 'application/x-subrip',
			fileType: undefined,
			fileName: 'talk.srt',
			fileExtension: 'srt',
			fileSize: '0.0 kB',
		});
		const text = await exportedFile(inItem, 'a'.repeat(1_250), 'txt', 'v1.2');
		expect(text).toMatchObject({ fileType: 'text', fileExtension: 'txt', fileSize: '1.3 kB' });
		const { helpers } = itemContext(LINK, { items: [{ json: {}, binary: { data: text } }] });
		expect(String(await helpers.getBinaryDataBuffer('data'))).toBe('a'.repeat(1_250));
	});
});

describe('The document in an answer', () => {
	const wanted = { taskId: '7f3c', format: 'srt' } as const;

	it('may be empty, but not missing', () => {
		expect(exportedText(storage(), { content: '', format: 'srt' }, wanted)).toBe('');
		const missing = () => exportedText(storage(), {}, wanted);
		expect(missing).toThrow(NotThereYet);
		expect(missing).toThrow('holds no exported document of task 7f3c');
		try {
			missing();
		} catch (error) {
			const { description } = error as NodeOperationError;
			expect(description).toContain('Get the srt document again later with Transcript: Export');
		}
	});
});

describe('The document of a finished task', () => {
	async function attached(items: INodeExecutionData[], wanted: Partial<WantedExport> = {}) {
		const { item } = contextsWith(additionalDataFor(service.credentials()));
		const taskId = await service.completedTask();
		const context = item as unknown as Caller;
		const all = { taskId, format: 'srt', as: 'file', ...wanted } as const;
		const output = await attachExport(context, storedBy(storage()), items, all);
		return { taskId, output };
	}

	it('is a file of the first item, beside its other files, and named by the task', async () => {
		const items = [{ json: { a: 1 }, binary: { other: {} as never } }, { json: { b: 2 } }];
		const { taskId, output } = await attached(items);
		const data = { fileName: `${taskId}.srt`, data: expect.stringContaining('-->') };
		expect(output).toMatchObject([
			{ json: { a: 1 }, binary: { other: {}, data } },
			{ json: { b: 2 } },
		]);
		expect(output[1]).toEqual({ json: { b: 2 } });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: `/api/v1/tasks/${taskId}/export`,
			query: { format: 'srt' },
		});
	});

	it('is in the field, and has the name, that the user wants', async () => {
		const wanted = { property: 'subtitles', fileName: ' talk ' };
		const { output } = await attached([{ json: {} }], wanted);
		expect(output).toMatchObject([{ binary: { subtitles: { fileName: 'talk.srt' } } }]);
		expect(Object.keys(output[0]?.binary ?? {})).toEqual(['subtitles']);
	});

	it('has the name of the task if the wanted one is blank', async () => {
		const { taskId, output } = await attached([{ json: {} }], { fileName: ' ' });
		expect(output).toMatchObject([{ binary: { data: { fileName: `${taskId}.srt` } } }]);
	});

	it('is a text after the other fields, and before the long segments', async () => {
		const { output } = await attached([{ json: { segments: [1], text: 'a' } }], { as: 'text' });
		expect(Object.keys(output[0]?.json ?? {})).toEqual(['text', 'export', 'segments']);
		expect(output).toMatchObject([
			{ json: { segments: [1], export: expect.stringMatching('-->') } },
		]);
		expect(output[0]).not.toHaveProperty('binary');
	});

	it('is the text of an item without segments, and of a task without a result', async () => {
		const { output } = await attached([], { as: 'text' });
		expect(output).toStrictEqual([{ json: { export: expect.stringContaining('-->') } }]);
	});

	it('is not a text in place of the answer, which is none of the service', async () => {
		service.running().fault({
			match: { path: '/export$' },
			times: 1,
			action: { kind: 'respond', status: 200, body: 'OK' },
		});
		await expect(attached([{ json: {} }])).rejects.toMatchObject({
			problem: { transport: 'notJson' },
		});
	});

	it('that the service does not give is an error that names the task and the format', async () => {
		service.running().fault({
			match: { path: '/export$' },
			times: 1,
			action: { kind: 'respond', status: 200, body: {} },
		});
		await expect(attached([{ json: {} }])).rejects.toMatchObject({
			message: expect.stringMatching(/ holds no exported document of task [\w-]{3,}$/),
			description: expect.stringContaining('Get the srt document again'),
		});
		expect(service.lines()).toHaveLength(1);
	});
});
