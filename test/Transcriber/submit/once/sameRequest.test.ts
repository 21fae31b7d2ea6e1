/** Which items ask for the same. */
// Also covers steadyValue.ts.
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import {
	askedFor,
	hashOfBody,
	settingsFor,
} from '../../../../nodes/Transcriber/submit/once/sameRequest';
import { itemContext } from '../../../support/itemContext';
import { few } from '../../../support/long';
import { itemWithFile } from '../../../support/service';
import { ACCOUNT, BOT, FILE, LINK } from '../../../support/parameters';

const asked = (parameters: INodeParameters, item: INodeExecutionData = { json: {} }) =>
	askedFor(itemContext(parameters, { items: [item] }));

describe('an item asks for something else', () => {
	it.each<[string, INodeParameters, INodeParameters]>([
		['with another resource', ACCOUNT, { resource: 'dictionary' }],
		['with another operation', { ...ACCOUNT, resource: 'task' }, { operation: 'cancel' }],
		['with another link', LINK, { url: 'https://files.example.com/other.mp3' }],
		['with another language', LINK, { language: 'en' }],
		['with another option', LINK, { options: { prompt: 'OKR' } }],
		['with another meeting', BOT, { meetingUrl: 'https://meet.example.com/other' }],
		['with another start', BOT, { startAt: '2030-01-01T10:00:00Z' }],
	])('%s', (_what, parameters, change) => {
		expect(asked({ ...parameters, ...change })).not.toBe(asked(parameters));
	});

	it('with another file, but not with the same file in another field', () => {
		const one = asked(FILE, itemWithFile('one'));
		expect(asked(FILE, itemWithFile('one', { property: 'sound' }))).toBe(one);
		expect(asked(FILE, itemWithFile('other'))).not.toBe(one);
	});

	it('when its file is lost', () => {
		expect(asked(FILE)).not.toBe(asked(FILE, itemWithFile('one')));
	});
});

describe('the body of a submit in another round of a loop', () => {
	const NOW = "={{ $now.plus(1, 'hour') }}";
	const hash = (body: IDataObject, startAt = '') =>
		hashOfBody(itemContext({ ...BOT, startAt }), body);
	const sent = { meeting_url: 'https://meet.example.com/abc', start_at: '2030-01-01T10:00:00Z' };

	it('is the same with another webhook address, or another time of a Start At that changes by itself', () => {
		expect(hash({ ...sent, webhook_url: 'https://n8n.example.com/1' })).toBe(hash(sent));
		const later = { ...sent, start_at: '2031-01-01T10:00:00Z' };
		for (const startAt of [NOW, '={{ new Date(Date.now() + 6e5) }}', '={{ DateTime.now() }}']) {
			expect(hash(later, startAt)).toBe(hash(sent, startAt));
		}
	});

	it('is another one with anything else', () => {
		const others = [
			hash({ ...sent, start_at: '2031-01-01T10:00:00Z' }),
			hash({ ...sent, meeting_url: 'https://meet.example.com/other' }),
			hash({ ...sent, language: 'en' }),
			hash(sent, NOW),
			hash(sent, "={{ $now.plus(2, 'hour') }}"),
		];
		expect(new Set([hash(sent), ...others]).size).toBe(6);
	});

	it.each([
		'={{ DateTime.fromISO($json.start).toISO() }}',
		'={{ $now.plus({ hours: $json.hours }).toISO() }}',
		'={{ $today.plus({ days: $runIndex }) }}',
		'2030-01-01 $now',
	])(
		'is another one at another time of a Start At that depends on more than the time: %s',
		(startAt) => {
			const later = { ...sent, start_at: '2031-01-01T10:00:00Z' };
			expect(hash(later, startAt)).not.toBe(hash(sent, startAt));
		},
	);
});

it.each<[string, INodeParameters, INodeParameters]>([
	['blanks around a text', { language: 'en' }, { language: ' en ' }],
	[
		'a number given as text',
		{ options: { numSpeakers: 2 } },
		{ options: { numSpeakers: '={{ "2" }}' } },
	],
	['an expression that gives nothing', { language: '' }, { language: '={{ null }}' }],
	['an empty option', { options: {} }, { options: { prompt: '' } }],
	['the Idempotency Key', { options: {} }, { options: { idempotencyKey: 'file-17' } }],
	['what is done with the transcript', {}, { onCompletion: 'poll' }],
])('asks for the same: an item that differs only in %s', (_what, one, other) => {
	expect(asked({ ...LINK, ...other })).toBe(asked({ ...LINK, ...one }));
});

it('nested Custom Fields that an expression gives count as what they are', () => {
	const options = { customFields: '={{ $json.more }}' };
	const [one, same, other] = ['a', 'a', 'b'].map((name, row) =>
		asked({ ...LINK, options }, { json: { row, more: { meta: { name } } } }),
	);
	expect(same).toBe(one);
	expect(other).not.toBe(one);
});

it.each<[string, INodeExecutionData, INodeExecutionData]>([
	['a field that no parameter reads', { json: { row: 1 } }, { json: { row: 2 } }],
	['a file that a link does not need', itemWithFile('one'), itemWithFile('other')],
])('a link asks for the same whatever its item holds besides: %s', (_what, one, other) => {
	const prompt = 'How to use $now, Date.now() and random()';
	const parameters = { ...LINK, options: { prompt } };
	expect(asked(parameters, other)).toBe(asked(parameters, one));
});

describe('of one Idempotency Key in a loop', () => {
	/** What the same settings are in two rounds that differ in a field which `expression` reads. */
	const rounds = (expression: string) => {
		const settings = [1, 2].map((row) => {
			const options = { prompt: `={{ $json.row }} ${expression}` };
			return settingsFor(itemContext({ ...LINK, options }, { items: [{ json: { row } }] }));
		});
		const same = (name: 'ofItem' | 'ofAnyItem') => settings[0]?.[name] === settings[1]?.[name];
		return { ofItem: same('ofItem'), ofAnyItem: same('ofAnyItem') };
	};

	few.it.each([
		'{{ +new  Date }}',
		'{{ Date.now() }}',
		'{{ Date .now() }}',
		'{{ Date() }}',
		'{{ DateTime ?.now().toMillis() }}',
		'{{ Intl.DateTimeFormat().format() }}',
		'{{ Intl .DateTimeFormat().format() }}',
		'{{ $now. diffToNow("seconds") }}',
		'{{ "2026-01-01".toDateTime(). diffToNow ("seconds") }}',
		'{{ "2026-01-01".toDateTime().toRelativeCalendar() }}',
		'{{ "2026-01-01".toDateTime().toRelative() }}',
		'{{ "2026-01-01".toDateTime().isInLast(1, "days") }}',
		'{{ "2026-01-01".toDateTime().isInTheLast?.(1, "days") }}',
		'{{ [1, 2].randomItem() }}',
		'{{ Math.random () }}',
		'{{ ((uuid) => uuid())(() => 1) }}',
		'{{ ((myUuid) => myUuid())(() => 1) }}',
		'{{ $json.toolCallId }}',
		'{{ $runIndex }}',
		'{{ JSON.stringify($json) }}',
		'{{ JSON.stringify($input.item.json) }}',
		'{{ $input.all().length }}',
	])('the text counts of an expression that may give something else each time: %s', (changes) => {
		expect(rounds(changes)).toEqual({ ofAnyItem: true, ofItem: false });
	});

	few.it.each([
		'{{ $json .row }}',
		'{{ $json?.row }}',
		'{{ $json["row"] }}',
		'{{ $input .item.json.row }}',
		'{{ $input. item.json.row }}',
		'{{ $input.item .json.row }}',
		'{{ $input.item. json.row }}',
		'{{ $input.item.json .row }}',
		'{{ $input?.first()?.json?.["row"] }}',
		'{{ $json.Date }} {{ $json.random }} {{ $json.uuid }}',
		'{{ "update (new)" }}',
	])('the value counts of an expression that gives the same each time: %s', (steady) => {
		expect(rounds(steady)).toEqual({ ofAnyItem: false, ofItem: false });
	});
});
