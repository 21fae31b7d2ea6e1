/** With so many runs, chance leaves out nothing that they are meant to meet. */
export const ENOUGH_RUNS = 100;

/**
 * Fails if random runs have not met what they are meant to meet: then their claim is about nothing. Of fewer than a hundred
 * runs, this share is enough.
 */
export function expectMet(met: Set<string>, mustMeet: string[], runs: number, share = 0.5): void {
	const notMet = mustMeet.filter((one) => !met.has(one));
	const most = runs >= ENOUGH_RUNS ? 0 : mustMeet.length * (1 - share);
	if (notMet.length > most) throw new Error(`Of ${runs} runs, none has met: ${notMet.join(', ')}`);
}
