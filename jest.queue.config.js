/** The fourth layer: n8n in queue mode, one cluster for all files (test/queue/setup.ts). */
module.exports = {
	...require('./jest.e2e.config.js'),
	testMatch: [
		'<rootDir>/test/queue/**/*.test.ts',
		// They need nothing but an n8n, whatever it consists of.
		'<rootDir>/test/e2e/operations.test.ts',
		'<rootDir>/test/e2e/awaitWebhook.test.ts',
	],
	testPathIgnorePatterns: ['/node_modules/'],
	globalSetup: '<rootDir>/test/queue/setup.ts',
	globalTeardown: '<rootDir>/test/queue/teardown.ts',
	// They kill processes of the cluster.
	maxWorkers: 1,
};
