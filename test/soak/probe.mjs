// Preloaded into the n8n of a soak run (NODE_OPTIONS): answers on 127.0.0.1:SOAK_PROBE_PORT with what the process holds
// after a collection of garbage. Nothing of it ships: it watches how dist/nodes/shared/processMemory.js is loaded.
import { createServer } from 'node:http';
import Module from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryObjects, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** By the row in processMemory.ts. */
const maps = new Map();
const { _compile: compile } = Module.prototype;

Module.prototype._compile = function (content, file, ...more) {
	const result = compile.call(this, content, file, ...more);
	if (/n8n-nodes-transcriber.dist.nodes.shared.processMemory\.js$/.test(file)) watch(this.exports);
	return result;
};

function watch(memory) {
	const { remembered } = memory;
	memory.remembered = (row) => {
		const map = remembered(row);
		maps.set(row, [...(maps.get(row) ?? []), map]);
		return map;
	};
}

/** With the entries of the maps, sets and lists in it: a map of one trigger may hold a list that grows. */
function entriesIn(value, depth = 0) {
	if (typeof value !== 'object' || value === null || depth > 6) return 0;
	const isList = Array.isArray(value) || value instanceof Set;
	const held = value instanceof Map || isList ? [...value.values()] : Object.values(value);
	const own = value instanceof Map || isList ? held.length : 0;
	return held.reduce((sum, one) => sum + entriesIn(one, depth + 1), own);
}

const Timer = setTimeout(() => {}, 0).constructor;

async function answer(request, response) {
	for (let turn = 0; turn < 3; turn++) {
		globalGc();
		await sleep(300);
	}
	const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
	const held = [...maps].map(([row, all]) => [
		row,
		all.reduce((sum, map) => sum + entriesIn(map), 0),
	]);
	const resources = {};
	for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
	const found = {
		// Also those that keep no process alive, as of AbortSignal.timeout(), and are missing in the resources.
		timers: queryObjects(Timer, { format: 'count' }),
		rss,
		heapUsed,
		external,
		arrayBuffers,
		resources,
		maps: Object.fromEntries(held),
	};
	response.end(JSON.stringify(found));
}

setFlagsFromString('--expose-gc');
const globalGc = runInNewContext('gc');
// Not in what n8n starts, which inherits its environment.
if (process.argv.includes('start')) {
	const server = createServer((request, response) => void answer(request, response));
	server.listen(Number(process.env.SOAK_PROBE_PORT), '127.0.0.1').unref();
}
