const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/** What n8n-core reads when it is loaded. Returns what removes the folder in which it keeps settings and files. */
module.exports = function setN8nUp() {
	const userFolder = mkdtempSync(join(tmpdir(), 'transcriber-test-'));
	process.env.N8N_USER_FOLDER = userFolder;
	process.env.N8N_ENCRYPTION_KEY = 'test-encryption-key';
	// What a test says about an error is enough; the test of the logs raises this.
	process.env.N8N_LOG_LEVEL = 'silent';
	process.env.N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS = 'false';
	return () => rmSync(userFolder, { recursive: true, force: true });
};
