import { DateTime } from 'luxon';

import { startAtFrom } from '../../../nodes/shared/parameters/startAt';
import { failureOf, serviceForTests } from '../../support/service';
import { BOT } from '../../support/parameters';
import { few } from '../../support/long';

const service = serviceForTests();

/** The zone that n8n takes where a workflow has none of its own. */
const ZONE = 'America/New_York';
const day = DateTime.now().setZone(ZONE).plus({ days: 3 }).startOf('day').set({ hour: 10 });
const withOffset = day.toISO({ suppressMilliseconds: true });

async function send(startAt: string) {
	const { error } = await service.run({ ...BOT, startAt });
	const [request] = service.running().requests;
	return { error, startAt: (request?.body as { start_at?: string } | undefined)?.start_at };
}

describe('Start At', () => {
	few.it.each([
		['as the date picker of n8n writes it', day.toFormat("yyyy-MM-dd'T'HH:mm:ss")],
		['without seconds', day.toFormat("yyyy-MM-dd'T'HH:mm")],
		['with a blank between date and time', day.toFormat('yyyy-MM-dd HH:mm:ss')],
		['in the basic form', day.toFormat("yyyyMMdd'T'HHmmss")],
		['as a day of a week', `${day.toISOWeekDate()}T10:00`],
		['with blanks at its ends', `  ${day.toFormat("yyyy-MM-dd'T'HH:mm:ss")} `],
	])('%s is in the zone of the workflow, and sent with its offset', async (_form, text) => {
		expect(await send(text)).toEqual({ error: undefined, startAt: withOffset });
	});

	it.each([
		['with an offset', day.setZone('Europe/Moscow').toISO({ suppressMilliseconds: true })],
		['in UTC', day.toUTC().toISO({ suppressMilliseconds: true })],
	])('%s keeps it', async (_form, text) => {
		expect(await send(text ?? '')).toEqual({ error: undefined, startAt: text });
	});

	it.each([
		['a DateTime', "={{ $now.plus(3, 'days') }}"],
		['a Date', '={{ new Date(Date.now() + 3 * 24 * 3600 * 1000) }}'],
	])('may be %s', async (_kind, expression) => {
		const { error, startAt = '' } = await send(expression);
		expect(error).toBeUndefined();
		expect(startAt).toMatch(/^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/);
		const days = (Date.parse(startAt) - Date.now()) / (24 * 3600 * 1000);
		expect(days).toBeCloseTo(3, 1);
	});

	it('as Microsoft writes it, without its zone, is refused: no bot comes at the wrong hour', async () => {
		const { error } = await send(day.toFormat("yyyy-MM-dd'T'HH:mm:ss'.0000000'"));
		expect(error?.message).toContain('is a time of Microsoft without its time zone');
		expect(error?.description).toContain('{{ $json.start.dateTime }}Z');
		expect(service.lines()).toEqual([]);
		const utc = day.toUTC().toFormat("yyyy-MM-dd'T'HH:mm:ss'.0000000Z'");
		expect(await send(utc)).toMatchObject({ error: undefined });
	});

	it.each([
		['a day', day.toISODate()],
		['a day of a week', day.toISOWeekDate()],
		['a month', day.toFormat('yyyy-MM')],
	])(
		'%s without a time is refused: an all-day event would send the bot at midnight',
		async (_what, text) => {
			const { error } = await send(text ?? '');
			expect(error).toMatchObject(failureOf(0, `'Start At' has no time of day: '${text}'`));
			expect(service.lines()).toEqual([]);
		},
	);

	it('joined from fields of which the offset is not there is refused, because the hour would be another one', async () => {
		const { error, startAt } = await send('={{ "2026-11-27T10:00:00" }}{{ $json.offset }}');
		expect(error?.message).toContain(
			'this part of its expression gives nothing: {{ $json.offset }}',
		);
		expect(startAt).toBeUndefined();
	});

	it('a text that is far too long for a time is refused at once', async () => {
		const began = Date.now();
		const { error } = await send(`2030-01-01${'t'.repeat(100_000)}`);
		expect(Date.now() - began).toBeLessThan(3_000);
		expect(error?.message).toContain("'Start At'");
		expect(service.lines()).toEqual([]);
	});

	it.each(['', '  '])('left empty ("%s") sends the bot now', async (empty) => {
		expect(await send(empty)).toEqual({ error: undefined, startAt: undefined });
		expect(service.running().bots()).toHaveLength(1);
	});

	it.each(['undefined', 'null', '""', 'NaN', '$json.strat'])(
		'an expression that gives nothing (%s) is refused, because now is not what was meant',
		async (code) => {
			const { error } = await send(`={{ ${code} }}`);
			expect(error).toMatchObject(
				failureOf(0, "The parameter 'Start At' is empty: its expression gives no time"),
			);
			expect(service.lines()).toEqual([]);
		},
	);

	few.it.each([
		'={{ "tomorrow" }}',
		'={{ "31.01.2030 10:00" }}',
		'={{ "10:00" }}',
		'={{ [$now.plus(1, "hour").toISO()] }}',
		'={{ ({ at: 1 }) }}',
		'={{ Date.now() + 3600000 }}',
		'={{ new Date("no date") }}',
		'={{ "undefined" }}',
	])('%s is refused by name', async (expression) => {
		const { error } = await send(expression);
		expect(error?.message).toContain("'Start At'");
		expect(service.lines()).toEqual([]);
	});
});

describe('where the clocks are changed', () => {
	const read = (startAt: string) =>
		startAtFrom({
			getNode: () => {
				throw new Error('Nothing is refused here');
			},
			getNodeParameter: () => startAt,
			getTimezone: () => 'Europe/Berlin',
		});

	it('an hour that comes twice is the first one: better an early bot than a late one', () => {
		expect(read('2030-10-27T02:30')).toBe('2030-10-27T02:30:00+02:00');
	});

	it('an hour that does not come is the one after it', () => {
		expect(read('2030-03-31T02:30')).toBe('2030-03-31T03:30:00+02:00');
	});

	it('an offset decides, where there is one', () => {
		expect(read('2030-10-27T02:30+01:00')).toBe('2030-10-27T02:30:00+01:00');
	});
});
