/** How many tasks can have come since a poll: service document, "Limits". */
import { possibleSince } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';

const MINUTE = 60_000;

beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(100 * MINUTE));
it('is what was in progress, and 10 recordings and 20 bots for each minute', () => {
	expect(possibleSince({ at: 100 * MINUTE })).toBe(20);
	expect(possibleSince({ at: 99 * MINUTE })).toBe(20 + 30);
	expect(possibleSince({ at: 90 * MINUTE })).toBe(20 + 300);
});

it('counts from the poll that last found what it knew, which may be older than the last poll', () => {
	expect(possibleSince({ at: 99 * MINUTE, locatedAt: 98 * MINUTE })).toBe(20 + 60);
});

it('counts no time if the clock was set back', () => {
	expect(possibleSince({ at: 101 * MINUTE })).toBe(20);
});
