/**
 * The environment of the fast tests for mutants: after the first failed test, all others are skipped. One
 * failure says that the fault was seen, and the others would only wait for their timeouts.
 */
const Environment = require('./environment.cjs');

/** The mutant that a test has seen. All test files of a run have the same one. */
let seen;

module.exports = class extends Environment {
	async handleTestEvent(event) {
		const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
		if (mutant === undefined) return;
		if (event.name === 'test_done' && event.test.errors.length > 0) seen = mutant;
		if (event.name === 'test_start' && seen === mutant) event.test.mode = 'skip';
	}
};
