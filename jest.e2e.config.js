/** The third layer: workflows in a real n8n, one instance for each worker (test/e2e/setup.ts). */
module.exports = {
	testEnvironment: 'node',
	reporters: ['default', '<rootDir>/test/support/closingLine.js'],
	rootDir: __dirname,
	testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
	globalSetup: '<rootDir>/test/e2e/setup.ts',
	globalTeardown: '<rootDir>/test/e2e/teardown.ts',
	// Tests wait most of the time. Each file has an n8n for itself while it runs, because some of them measure it.
	maxWorkers: 3,
	testTimeout: 120_000,
};
