/** For what an Idempotency Key of the user may be given more than once. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import {
	isKeyOf,
	isKeyOfRequest,
} from '../../../../nodes/Transcriber/submit/once/givenIdempotencyKeyUses';
import { askedFor } from '../../../../nodes/Transcriber/submit/once/sameRequest';
import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const items = [{ json: {} }, { json: {} }];
const HASH = /^[0-9a-f]{64}$/;

let saved: IDataObject;
beforeEach(() => {
	saved = {};
});

/** An item of this execution; by default the first one of the first run of execution 41. */
const at = (place: ItemPlace = {}, parameters: INodeParameters = LINK) =>
	itemContext(parameters, { saved, items, ...place });

const SECOND = { itemIndex: 1 };
const NEXT_RUN = { runIndex: 1 };
const RETRY = { executionId: '42' };

const sent = (place?: ItemPlace) => remember(at(place), { state: 'sent' });
const accepted = (place?: ItemPlace) =>
	remember(at(place), { state: 'accepted', submissions: [], at: 0 });

describe('one key for another recording', () => {
	const give = async (place: ItemPlace, name: string, copies: string[] = []) =>
		await isKeyOf(at(place), 'file-17', {
			name,
			isSame: async (other) => await Promise.resolve(copies.includes(other)),
		});

	it('is refused in the same run, whatever became of the first item', async () => {
		expect(await give({}, 'one')).toBe(true);
		expect(await give(SECOND, 'two')).toBe(false);
	});

	it('is taken if it is a copy of the first one', async () => {
		await give({}, 'one');
		expect(await give(SECOND, 'two', ['one'])).toBe(true);
		expect(await give(SECOND, 'one')).toBe(true);
	});

	it.each([NEXT_RUN, RETRY])('is taken later if nothing came of the first: %j', async (later) => {
		await give({}, 'one');
		expect(await give(later, 'two')).toBe(true);
		expect(await give(later, 'one')).toBe(false);
	});

	it.each([NEXT_RUN, RETRY])('is refused later if the first was sent: %j', async (later) => {
		await give({}, 'one');
		sent();
		expect(await give(later, 'two')).toBe(false);
	});

	it('is refused later if a copy of the first was sent for another item', async () => {
		await give({}, 'one');
		await give(SECOND, 'one');
		accepted(SECOND);
		expect(await give(NEXT_RUN, 'two')).toBe(false);
	});

	it('is refused in another call of an AI agent, which may make both at once', async () => {
		const [first, second] = ['one', 'two'].map((url) => ({ call: { url } }));
		expect(await give({ ...first }, 'one')).toBe(true);
		expect(await give({ ...NEXT_RUN, ...second }, 'two')).toBe(false);
	});

	it('is refused if an older version has noted only the first recording', async () => {
		await give({}, 'one');
		const [key = ''] = Object.keys(saved['keys'] as object);
		saved = { keys: { [key]: 'one' } };
		expect(await give(NEXT_RUN, 'two')).toBe(false);
		expect(await give(NEXT_RUN, 'one')).toBe(true);
	});

	it('is noted without the key itself, which the user may use as a password', async () => {
		await give({}, 'one');
		expect(Object.keys(saved['keys'] as object)).toEqual([expect.stringMatching(HASH)]);
	});
});

describe('one key for other settings', () => {
	const OTHER = { ...LINK, language: 'en' };
	const give = (place: ItemPlace, parameters: INodeParameters) =>
		isKeyOfRequest(at(place, parameters), 'file-17');

	it('is refused in the same run, whatever became of the first item', () => {
		expect(give({}, LINK)).toBe(true);
		expect(give(SECOND, OTHER)).toBe(false);
		expect(give(SECOND, LINK)).toBe(true);
	});

	it('is taken in a later run if nothing came of the first', () => {
		give({}, LINK);
		expect(give(NEXT_RUN, OTHER)).toBe(true);
	});

	it('is refused in a later run if the first was sent', () => {
		give({}, LINK);
		sent();
		expect(give(NEXT_RUN, OTHER)).toBe(false);
	});

	it('is taken in a Retry unless the service has accepted the first', () => {
		give({}, LINK);
		sent();
		expect(give(RETRY, OTHER)).toBe(true);
	});

	it('is refused in a Retry if the service has accepted the first', () => {
		give({}, LINK);
		accepted();
		expect(give(RETRY, OTHER)).toBe(false);
		expect(give(RETRY, LINK)).toBe(true);
	});

	it.each([NEXT_RUN, RETRY])(
		'counts an expression with the time in it by its text later, whatever the item holds: %j',
		(later) => {
			const atNow = { ...LINK, options: { prompt: '={{ $now.year }} {{ $json.row }}' } };
			const row = (number: number) => [{ json: { row: number } }, { json: { row: 0 } }];
			expect(give({ items: row(1) }, atNow)).toBe(true);
			accepted();
			expect(give({ ...later, items: row(2) }, atNow)).toBe(true);
			expect(give({ ...SECOND, items: row(1) }, atNow)).toBe(false);
		},
	);

	it('is known by what an older version has noted, which included the file', () => {
		give({}, LINK);
		const [[key = '', use] = []] = Object.entries(saved['keyUses'] as IDataObject);
		const asked = askedFor(at());
		saved = { keyUses: { [key]: { ...(use as object), asked, askedWithItem: undefined } } };
		expect(give(SECOND, LINK)).toBe(true);
		expect(give(SECOND, OTHER)).toBe(false);
	});

	it('is noted without the key itself', () => {
		give({}, LINK);
		expect(Object.keys(saved['keyUses'] as object)).toEqual([expect.stringMatching(HASH)]);
	});
});
