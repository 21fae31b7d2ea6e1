/** With which Idempotency-Key a file is sent. */
import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { idempotencyKey, isOfFile } from '../../../../nodes/Transcriber/submit/once/idempotencyKey';
import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { fileOf } from '../../../../nodes/Transcriber/item/inputFile';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const talk: IBinaryData = { data: 'c291bmQ=', fileName: 'talk.mp3', mimeType: 'audio/mpeg' };
const id = 'filesystem-v2:workflows/w/executions/temp/binary_data/6f1a';
const stored: IBinaryData = { ...talk, data: 'filesystem-v2', id };
/** As n8n keeps it of one execution; what identifies the execution is in it. */
const lineage = { id: 'a', firstExecution: '41', executionId: '41' };

function keyOf(
	file: IBinaryData,
	{ given, language = 'ru', ...place }: ItemPlace & { given?: string; language?: string } = {},
) {
	const items = [file, file].map((data) => ({ json: {}, binary: { data } }));
	const saved: IDataObject = { lineage: { ...lineage } };
	return idempotencyKey(
		itemContext({ ...FILE, language }, { saved, items, ...place }),
		file,
		given,
	);
}

it('is derived from the item, and the same when n8n repeats it, also in a Retry', () => {
	expect(keyOf(talk)).toMatch(/^n8n-[0-9a-f]{40}$/);
	expect(keyOf(talk, { executionId: '42', mode: 'retry' })).toBe(keyOf(talk));
	const moved = id.replace('temp', '41');
	expect(keyOf({ ...stored, id: moved })).toBe(keyOf(stored));
});

it.each<[string, IBinaryData, Parameters<typeof keyOf>[1]]>([
	['content', { ...talk, data: 'bm9pc2U=' }, {}],
	['file name, which tells apart what holds the same', { ...talk, fileName: 'b.mp3' }, {}],
	['stored file', stored, {}],
	['item', talk, { itemIndex: 1 }],
	['run', talk, { runIndex: 1 }],
	['node', talk, { node: { id: 'another' } }],
	['request', talk, { language: 'en' }],
	['execution', talk, { saved: { lineage: { ...lineage, firstExecution: '43' } } }],
])('is another one for another %s', (_what, file, place) => {
	expect(keyOf(file, place)).not.toBe(keyOf(talk));
});

it('is the one that the user gives', () => {
	expect(keyOf(talk, { given: 'file-17' })).toBe('file-17');
});

it('is the one with which the file was sent before, also if the user has entered another since', () => {
	const saved = {};
	const sent = (file: string, key?: string) =>
		remember(itemContext(FILE, { saved }), { state: 'sent', key, file });
	sent(fileOf(talk), 'before');
	expect(keyOf(talk, { saved, given: 'since' })).toBe('before');
	sent(fileOf(stored), 'before');
	expect(keyOf(talk, { saved, given: 'since' })).toBe('since');
	sent(fileOf(talk), undefined);
	expect(keyOf(talk, { saved, given: 'since' })).toBe('since');
});

it.each<[string, string | undefined, string | undefined, boolean]>([
	['the same file', '6f1a', '6f1a', true],
	['the same file, of which version 0.1.0 noted the whole id', id, '6f1a', true],
	['another file', '7b2c', '6f1a', false],
	['no file, as for a link', undefined, undefined, true],
	['nothing noted of a file', undefined, '6f1a', false],
])('what was sent is %s', (_what, file, now, expected) => {
	expect(isOfFile({ state: 'sent', file }, now)).toBe(expected);
});
