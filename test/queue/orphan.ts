/** Starts PostgreSQL and Redis, says where they are, and stays: servers.test.ts ends this process in the rudest way. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Guard } from '../n8n/process';
import { startServers } from './servers';

const folder = mkdtempSync(path.join(tmpdir(), 'transcriber-servers-'));
chmodSync(folder, 0o755);
void startServers(folder, new Guard(folder)).then(({ pids }) => {
	console.log(JSON.stringify({ pids, folder }));
	setInterval(() => {}, 1_000);
});
