const { rm } = require('node:fs/promises');
const { src, dest } = require('gulp');

/** So that nothing ships whose source is gone. */
async function clean() {
	await rm('dist', { recursive: true, force: true });
}

/** tsc takes the code; this takes what n8n reads beside it: icons, codex files and output schemas. */
function assets() {
	return src(['nodes/**/*.{svg,json}', 'credentials/**/*.svg'], {
		base: '.',
		encoding: false,
	}).pipe(dest('dist'));
}

exports.clean = clean;
exports.default = assets;
