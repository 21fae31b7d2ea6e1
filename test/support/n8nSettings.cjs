const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/** Sets what n8n-core reads when it loads. Returns a function that deletes n8n's folder. */
module.exports = function setN8nUp() {
	const userFolder = mkdtempSync(join(tmpdir(), 'transcriber-test-'));
	process.env.N8N_USER_FOLDER = userFolder;
	process.env.N8N_ENCRYPTION_KEY = 'test-encryption-key';
	// Test output is enough to find an error; the test of the logs sets a higher level.
	process.env.N8N_LOG_LEVEL = 'silent';
	process.env.N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS = 'false';
	return () => rmSync(userFolder, { recursive: true, force: true });
};
