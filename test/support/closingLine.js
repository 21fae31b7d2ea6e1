/** A jest reporter that ends the run with one plain line, for CI to parse. */
class ClosingLine {
	onRunComplete(_contexts, results) {
		const { numPassedTests, numFailedTests, numPendingTests } = results;
		const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
		// A suite that cannot be loaded has no failed test, but has failed.
		const failed = Math.max(numFailedTests, results.numFailedTestSuites);
		process.stdout.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
	}
}

module.exports = ClosingLine;
