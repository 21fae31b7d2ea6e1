/**
 * Jest begins with the test files that took longest, and most of these wait: as many of them as there are workers leave
 * the processors idle, and at the end all others want them at once. So short files come between the long ones.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const LONG = 50;
/** That many long ones begin at once, and each further one after some short ones. */
const AT_ONCE = 3;
const BETWEEN = 5;

module.exports = class extends Sequencer {
	async sort(tests) {
		const all = await super.sort(tests);
		const short = all.slice(LONG);
		const mixed = all
			.slice(0, LONG)
			.flatMap((test, place) => [test, ...(place < AT_ONCE ? [] : short.splice(0, BETWEEN))]);
		return [...mixed, ...short];
	}
};
