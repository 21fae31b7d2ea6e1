/** Everything that needs no n8n process: the node in the real n8n-core, the simulator, the structure. */
module.exports = {
	preset: 'ts-jest',
	testEnvironment: 'node',
	reporters: ['default', '<rootDir>/test/support/closingLine.js'],
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/e2e/', '<rootDir>/test/queue/'],
	setupFilesAfterEnv: ['<rootDir>/test/setup.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/test/tsconfig.json' }] },
	// Most of the time is waiting for answers, not work.
	maxWorkers: 3,
	testTimeout: 20_000,
};
