/**
 * Operations, triggers and completion in several versions of n8n: `npm run test:versions`, or with the versions
 * to try after it, such as `npm run test:versions -- 2.50.0 latest`. Prints what passed, and notes each version of
 * versions.ts that has passed whole for the READMEs, in docs/versions.json.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { TESTED_VERSIONS } from '../test/n8n/versions';

const SUITES = ['operations', 'awaitWebhook', 'trigger', 'triggerMeeting', 'accountTrigger'];
const root = path.dirname(__dirname);

/** The part of jest's report that is read here. */
interface Report {
	numPassedTests: number;
	numTotalTests: number;
	testResults: Array<{
		message: string;
		assertionResults: Array<{ status: string; fullName: string }>;
	}>;
}

interface Outcome {
	version: string;
	passed: number;
	of: number;
	failed: string[];
	/** How many test files were found. */
	suites: number;
}

const asked = process.argv.slice(2);
const outcomes = (asked.length > 0 ? asked : TESTED_VERSIONS).map(resolved).map(tryVersion);
for (const { version, passed, of, failed } of outcomes) {
	console.log(`n8n ${version}: ${passed} of ${of} tests passed`);
	for (const name of failed) console.log(`  failed: ${name}`);
}
noteWhole();
process.exitCode = outcomes.every(isWhole) ? 0 : 1;

/** A suite that cannot be loaded has no tests to count, but is among the failed. */
function isWhole({ passed, of, failed, suites }: Outcome): boolean {
	return of > 0 && passed === of && failed.length === 0 && suites === SUITES.length;
}

/** A version that was not tried stays in the list, and one that has failed leaves it. */
function noteWhole(): void {
	const file = path.join(root, 'docs/versions.json');
	const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : [];
	const noted = TESTED_VERSIONS.filter((version) => {
		const tried = outcomes.find((one) => one.version === version);
		return tried ? isWhole(tried) : earlier.includes(version);
	});
	// As prettier writes it.
	writeFileSync(file, `${JSON.stringify(noted).replaceAll(',', ', ')}\n`);
}

/** `latest`, `next`, or a version as it is. */
function resolved(version: string): string {
	if (/^\d/.test(version)) return version;
	const args = ['view', `n8n@${version}`, 'version', '--json'];
	return JSON.parse(execFileSync('npm', args, { encoding: 'utf8' })) as string;
}

function tryVersion(version: string): Outcome {
	const folder = mkdtempSync(path.join(tmpdir(), 'transcriber-versions-'));
	const file = path.join(folder, 'report.json');
	const jest = path.join(root, 'node_modules/jest/bin/jest.js');
	// A version that does not work may leave connections open, for which jest would wait.
	const report = ['--json', '--outputFile', file, '--forceExit'];
	const files = `test/e2e/(${SUITES.join('|')}).test`;
	spawnSync(process.execPath, [jest, '--config', 'jest.e2e.config.js', ...report, files], {
		cwd: root,
		stdio: ['ignore', 'inherit', 'inherit'],
		env: { ...process.env, N8N_VERSION: version, TEST_BINARY_MODE: 'filesystem' },
	});
	try {
		return outcomeIn(version, JSON.parse(readFileSync(file, 'utf8')) as Report);
	} catch {
		// jest writes no report where n8n could not be installed or started; it has said why.
		const failed = ['n8n could not be installed or started'];
		return { version, passed: 0, of: 0, failed, suites: 0 };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

function outcomeIn(version: string, report: Report): Outcome {
	const failed = report.testResults.flatMap(({ message, assertionResults }) =>
		assertionResults.length === 0
			? [message]
			: assertionResults
					.filter(({ status }) => status === 'failed')
					.map(({ fullName }) => fullName),
	);
	const { numPassedTests: passed, numTotalTests: of, testResults } = report;
	return { version, passed, of, failed, suites: testResults.length };
}
