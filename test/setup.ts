import 'reflect-metadata';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// n8n-core keeps settings and files in a user folder: a new one for every test file.
const userFolder = mkdtempSync(join(tmpdir(), 'transcriber-test-'));
afterAll(() => rmSync(userFolder, { recursive: true, force: true }));
process.env.N8N_USER_FOLDER = userFolder;
process.env.N8N_ENCRYPTION_KEY = 'test-encryption-key';
// What a test says about an error is enough; the test of the logs raises this.
process.env.N8N_LOG_LEVEL = 'silent';
process.env.N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS = 'false';
