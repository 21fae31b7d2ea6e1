/** The third layer: workflows in a real n8n, one instance for all files (test/e2e/setup.ts). */
module.exports = {
	testEnvironment: 'node',
	reporters: ['default', '<rootDir>/test/support/closingLine.js'],
	rootDir: __dirname,
	testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
	globalSetup: '<rootDir>/test/e2e/setup.ts',
	globalTeardown: '<rootDir>/test/e2e/teardown.ts',
	// They share one n8n, and some of them measure it.
	maxWorkers: 1,
	testTimeout: 120_000,
};
