/** Everything that needs no n8n process: the node in the real n8n-core, the simulator, the structure. */
const { availableParallelism } = require('node:os');

// Behind UTC, so that a time which is read in the wrong zone is seen.
process.env.TZ = 'America/New_York';

const once = (name, file = name) => [`^${name}$`, `<rootDir>/test/support/once/${file}.cjs`];
module.exports = {
	preset: 'ts-jest',
	testEnvironment: '<rootDir>/test/support/environment.cjs',
	moduleNameMapper: Object.fromEntries([
		once('n8n-core'),
		once('n8n-workflow'),
		once('@n8n/backend-common', 'backend-common'),
		once('@n8n/di', 'di'),
		once('luxon'),
		once('lodash'),
	]),
	testSequencer: '<rootDir>/test/support/shortBetweenLong.cjs',
	reporters: ['default', '<rootDir>/test/support/closingLine.js'],
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/', '<rootDir>/test/queue/'],
	setupFilesAfterEnv: ['<rootDir>/test/setup.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
	// What one test shortens or replaces must not reach the next.
	restoreMocks: true,
	// A test waits most of the time. Each worker loads n8n-core, and takes up to half a gigabyte.
	maxWorkers: Math.min(4 * availableParallelism(), 8),
	testTimeout: 20_000,
};
