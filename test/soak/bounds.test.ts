/** The soak itself takes half an hour; whether it would report what grows is known at once. */
import { compared } from './bounds';
import { DATA, HEAP, MAP, OPEN, TIMERS } from './measure';

const CALM = {
	[HEAP]: 200,
	[TIMERS]: 130,
	[OPEN]: 0,
	[DATA]: 1_000,
	[`${MAP}rooms`]: 3,
	[`${MAP}triggerWorkflows`]: 10,
};

const after = (acts: number, change: Record<string, number> = {}) => ({
	acts,
	values: { ...CALM, ...change },
});

const wrongAtTheEnd = (change: Record<string, number>) =>
	compared({ warm: after(50), halfway: after(75), end: after(100, change) }).wrong;

it('what stays as it is, or grows with what is still remembered, is within its bound', () => {
	const usual = { [HEAP]: 205, [DATA]: 9_000, [`${MAP}triggerWorkflows`]: 150 };
	expect(wrongAtTheEnd(usual)).toEqual([]);
});

it.each([
	[HEAP, 230],
	[TIMERS, 200],
	[OPEN, 1],
	[DATA, 50_000],
	[`${MAP}rooms`, 53],
	[`${MAP}triggerWorkflows`, 500],
])('%s is reported when it has grown to %d', (name, value) => {
	expect(wrongAtTheEnd({ [name]: value })).toEqual([expect.stringContaining(`${name}: ${value}`)]);
});

it('a value without a bound is reported', () => {
	expect(wrongAtTheEnd({ 'Something new': 1 })).toHaveLength(1);
});
