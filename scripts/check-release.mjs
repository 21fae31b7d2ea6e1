// Holds a release to one version: the tag, package.json, package-lock.json and the newest entry of CHANGELOG.md have
// to agree. It reads the folder it is started in and needs nothing but Node, so it can run before anything is installed.
//
//   node scripts/check-release.mjs v1.2.3
import { readFileSync } from 'node:fs';

const [tag, ...more] = process.argv.slice(2);

if (!tag || more.length > 0) {
	console.error('Usage: node scripts/check-release.mjs <tag>, for example v1.2.3');
	process.exitCode = 2;
} else {
	const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
	const problems = [
		...aboutTag(version),
		...aboutLockFile(version),
		...aboutChangelog(version, readFileSync('CHANGELOG.md', 'utf8')),
	];
	for (const problem of problems) console.error(`✗ ${problem}`);
	if (problems.length > 0) process.exitCode = 1;
	else console.log(`✓ ${tag}: tag, package.json, package-lock.json and CHANGELOG.md agree`);
}

function aboutTag(version) {
	return tag === `v${version}`
		? []
		: [`The tag is ${tag}, but package.json has version ${version}: the tag has to be v${version}`];
}

function aboutLockFile(version) {
	const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
	return lock.version === version && lock.packages[''].version === version
		? []
		: [`package-lock.json has another version than ${version}: run "npm install"`];
}

function aboutChangelog(version, changelog) {
	const entries = changelog.split(/^## /m).slice(1);
	const unreleased = entries.filter((entry) => entry.startsWith('Unreleased'));
	const [newest = ''] = entries.filter((entry) => !entry.startsWith('Unreleased'));
	const [heading = '', ...text] = newest.split('\n');
	const [, name, date = ''] = /^(\S+)(?: - (\S+))?\s*$/.exec(heading) ?? [];
	if (name !== version) {
		return [`The newest entry of CHANGELOG.md is "${heading}": one for ${version} is missing`];
	}
	return [
		isDate(date) ? [] : `The entry of CHANGELOG.md has no date: "## ${version} - YYYY-MM-DD"`,
		text.some(isSaid) ? [] : `The entry ${version} of CHANGELOG.md says nothing`,
		unreleased.some((entry) => entry.split('\n').slice(1).some(isSaid))
			? `CHANGELOG.md has changes under "Unreleased": move them to ${version}`
			: [],
	].flat();
}

function isDate(text) {
	return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** A line of text: neither blank nor a heading. */
function isSaid(line) {
	return /\w/.test(line) && !line.startsWith('#');
}
