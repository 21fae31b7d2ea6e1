/** Ends a run of jest with one plain line, which any CI can read. */
class ClosingLine {
	onRunComplete(_contexts, results) {
		const { numPassedTests, numFailedTests, numPendingTests } = results;
		const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
		// A suite that does not even load has no failed test, but has failed.
		const failed = Math.max(numFailedTests, results.numFailedTestSuites);
		process.stdout.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
	}
}

module.exports = ClosingLine;
