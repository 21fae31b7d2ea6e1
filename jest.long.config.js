/** The suites of which `npm test` runs a part (test/support/long.ts; test/fuzz/fuzz.ts), with all that is in them. */
const { readdirSync, readFileSync } = require('node:fs');
const path = require('node:path');

process.env.TESTS = 'all';

const suites = readdirSync(path.join(__dirname, 'test'), { recursive: true })
	.filter((file) => file.endsWith('.test.ts'))
	.map((file) => path.join(__dirname, 'test', file))
	.filter((file) => /from '([./]+\/support\/long|\.\/fuzz)'/.test(readFileSync(file, 'utf8')));

module.exports = {
	...require('./jest.config.js'),
	testMatch: suites.map((file) => file.replaceAll('\\', '/')),
	// More of everything, so more time for what is long by itself.
	testTimeout: 60_000,
};
