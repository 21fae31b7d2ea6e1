/** With which Idempotency-Key a file is sent. */
import type { IBinaryData, IDataObject } from 'n8n-workflow';

import {
	derivedKey,
	isOfFile,
	knownKey,
} from '../../../../nodes/Transcriber/submit/once/idempotencyKey';
import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { fileOf } from '../../../../nodes/Transcriber/item/inputFile';
import { storedBinary } from '../../../support/engine';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { FILE } from '../../../support/parameters';

const talk: IBinaryData = { data: 'c291bmQ=', fileName: 'talk.mp3', mimeType: 'audio/mpeg' };
const id = 'filesystem-v2:workflows/w/executions/temp/binary_data/6f1a';
const stored: IBinaryData = { ...talk, data: 'filesystem-v2', id };
const download = async (content = 'sound', fileName = 'talk.mp3') =>
	await storedBinary(Buffer.from(content), fileName, 'audio/mpeg');
/** As n8n keeps it of one execution; what identifies the execution is in it. */
const lineage = { id: 'a', firstExecution: '41', executionId: '41' };

type Place = ItemPlace & { language?: string };

const contextOf = (file: IBinaryData, { language = 'ru', ...place }: Place = {}) => {
	const items = [file, file].map((data) => ({ json: {}, binary: { data } }));
	const saved: IDataObject = { lineage: { ...lineage } };
	return itemContext({ ...FILE, language }, { saved, items, ...place });
};

const keyOf = async (file: IBinaryData, place: Place = {}) =>
	await derivedKey(contextOf(file, place), file);

const known = (file: IBinaryData, saved: IDataObject, given?: string) =>
	knownKey(contextOf(file, { saved }), file, given);

it('is derived from the item, and the same when n8n repeats it, also in a Retry', async () => {
	expect(await keyOf(talk)).toMatch(/^n8n-[0-9a-f]{40}$/);
	expect(await keyOf(talk, { executionId: '42', mode: 'retry' })).toBe(await keyOf(talk));
});

it('is the same for a file that is downloaded again, and another one for other bytes of the same size', async () => {
	const key = await keyOf(await download());
	expect(await keyOf(await download())).toBe(key);
	expect(await keyOf(await download('sound', 'copy of talk.mp3'))).toBe(key);
	expect(await keyOf(await download('noise'))).not.toBe(key);
});

it('is that of the stored file if the file cannot be read', async () => {
	const key = await keyOf(stored);
	expect(await keyOf({ ...stored, id: id.replace('temp', '41') })).toBe(key);
	expect(await keyOf({ ...stored, id: id.replace('6f1a', '7b2c') })).not.toBe(key);
});

it.each<[string, IBinaryData, Place]>([
	['content', { ...talk, data: 'bm9pc2U=' }, {}],
	['file name, which tells apart what holds the same', { ...talk, fileName: 'b.mp3' }, {}],
	['stored file', stored, {}],
	['item', talk, { itemIndex: 1 }],
	['run', talk, { runIndex: 1 }],
	['node', talk, { node: { id: 'another' } }],
	['request', talk, { language: 'en' }],
	['execution', talk, { saved: { lineage: { ...lineage, firstExecution: '43' } } }],
])('is another one for another %s', async (_what, file, place) => {
	expect(await keyOf(file, place)).not.toBe(await keyOf(talk));
});

it('is the one that the user gives', () => {
	expect(known(talk, {}, 'file-17')).toBe('file-17');
	expect(known(talk, {})).toBeUndefined();
});

it('is the one with which the file was sent before, also if the user has entered another since', () => {
	const saved = {};
	const sent = (file: string, key?: string) =>
		remember(itemContext(FILE, { saved }), { state: 'sent', key, file });
	sent(fileOf(talk), 'before');
	expect(known(talk, saved, 'since')).toBe('before');
	sent(fileOf(stored), 'before');
	expect(known(talk, saved, 'since')).toBe('since');
	sent(fileOf(talk), undefined);
	expect(known(talk, saved, 'since')).toBe('since');
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
