/**
 * The order of the suites for mutants: as `scripts/mutants.mjs` names them, the file's own suite first. It sees most
 * faults, and takes the least time. By itself, jest begins with the largest file.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class extends Sequencer {
	sort(tests) {
		const place = ({ path, context }) =>
			context.config.testMatch.findIndex((suite) => path.endsWith(suite.replace('<rootDir>', '')));
		return [...tests].sort((one, other) => place(one) - place(other));
	}
};
