// Runs n8n's own scanner, the one that decides on verification, offline: over the source tree, and over the files
// that would be published. Exits with 1 on any error or warning.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import {
	SOURCE_FILE_PATTERNS,
	analyzePackage,
	buildScanConfig,
} from '@n8n/scan-community-package/scanner/scanner.mjs';
import { ESLint } from 'eslint';

/** What the scanner looks at in a published package. */
const PUBLISHED_FILE_PATTERNS = ['**/*.js', 'package.json'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const temporary = mkdtempSync(path.join(tmpdir(), 'transcriber-scan-'));

try {
	const results = [
		await scan('the source tree', root, SOURCE_FILE_PATTERNS),
		await scan('the packed files', unpacked(), PUBLISHED_FILE_PATTERNS),
	];
	console.log('\nNot checked here: npm provenance, which a package has only once it is published.');
	if (results.includes(false)) process.exitCode = 1;
} catch (error) {
	console.error(`\n${error.message}`);
	process.exitCode = 1;
} finally {
	rmSync(temporary, { recursive: true, force: true });
}

async function scan(what, directory, patterns) {
	const { passed, message, details } = await analyzePackage(directory, patterns);
	if (!passed) {
		console.error(`✗ ${what}: ${message}\n${details ?? ''}`);
		return false;
	}
	// The scanner keeps quiet about warnings and about how much it has seen.
	const eslint = new ESLint({
		cwd: directory,
		allowInlineConfig: false,
		overrideConfigFile: true,
		overrideConfig: await buildScanConfig(),
	});
	const results = await eslint.lintFiles(patterns);
	if (results.some(({ warningCount }) => warningCount > 0)) {
		const { format } = await eslint.loadFormatter('stylish');
		console.error(`✗ ${what}: warnings\n${await format(results)}`);
		return false;
	}
	console.log(`✓ ${what}: ${results.length} files, no errors, no warnings`);
	return true;
}

function unpacked() {
	const { n8n } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
	for (const file of [...n8n.nodes, ...n8n.credentials]) {
		if (!existsSync(path.join(root, file))) {
			throw new Error(`${file} is missing. Run "npm run build" first.`);
		}
	}
	// npm says where it is when it runs us; that way is the same on every platform.
	const script = process.env.npm_execpath;
	const [npm, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
	const said = execFileSync(
		npm,
		[...first, 'pack', '--json', '--ignore-scripts', '--pack-destination', temporary],
		{ cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
	);
	const [{ filename }] = JSON.parse(said);
	execFileSync('tar', ['-xzf', path.join(temporary, filename), '-C', temporary]);
	return path.join(temporary, 'package');
}
