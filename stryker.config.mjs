// What is the same for every file that `scripts/mutants.mjs` mutates; the script adds the file and its suites.
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A sentence for people: a text with a space. Texts that machines compare, such as `completed`, have none. */
const isSentence = ({ node }) =>
	node.type === 'StringLiteral'
		? node.value.includes(' ')
		: node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => value.raw.includes(' '));

export const strykerPlugins = [
	declareValuePlugin(PluginKind.Ignore, 'sentences', {
		shouldIgnore: (place) =>
			isSentence(place) ? 'Tests hold a message to its parts, not to each word' : undefined,
	}),
];

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	plugins: ['@stryker-mutator/jest-runner', fileURLToPath(import.meta.url)],
	ignorers: ['sentences'],
	testRunner: 'jest',
	coverageAnalysis: 'perTest',
	// The suites are chosen by hand, and transpiled without a look at the types (`isolatedModules`).
	jest: {
		enableFindRelatedTests: false,
		config: {
			testEnvironment: './test/support/stopAtFailure.cjs',
			testSequencer: './test/support/ownSuiteFirst.cjs',
		},
	},
	disableTypeChecks: false,
	// A machine that is busy with other work must not turn a survivor into a time-out.
	timeoutMS: 20_000,
	timeoutFactor: 3,
	concurrency: Number(process.env.MUTANTS_AT_ONCE ?? 1),
	// n8n in the process of the tests keeps what it was given.
	maxTestRunnerReuse: 100,
	incremental: true,
	reporters: ['dots'],
	allowConsoleColors: false,
	// Outside the checkout: nothing here may look like a second copy of the sources.
	tempDirName: path.join(tmpdir(), 'transcriber-mutants'),
	ignorePatterns: ['dist', 'output', 'coverage', 'docs/images', 'examples', 'bench'],
};
