/** Starts an n8n, says where it is, and stays: host.test.ts ends this process in the rudest way. */
import { startN8n } from './host';

void startN8n().then(({ pid, userFolder: folder }) => {
	console.log(JSON.stringify({ pids: [pid], folder }));
	setInterval(() => {}, 1_000);
});
