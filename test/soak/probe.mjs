// Preloaded into the n8n of a soak run (NODE_OPTIONS): answers on 127.0.0.1:SOAK_PROBE_PORT with what the process holds
// after a collection of garbage. Nothing of it ships: it watches how dist/nodes/shared/processMemory.js is loaded.
import { createServer } from 'node:http';
import Module from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
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

/** The timers that the nodes have made themselves, also those that keep no process alive. n8n's caches have one for each entry. */
let made = [];
const { setTimeout: later } = globalThis;
const { timeout } = AbortSignal;
globalThis.setTimeout = Object.assign((...given) => noted(later(...given)), later);
AbortSignal.timeout = (ms) => noted(timeout.call(AbortSignal, ms));

function noted(timer) {
	const [calls] = (new Error().stack ?? '').split(' at async ');
	if (calls.includes('/n8n-nodes-transcriber/dist/')) made.push(new WeakRef(timer));
	return timer;
}

/** How many of them are still to fire. */
function timersLeft() {
	made = made.filter((one) => {
		const timer = one.deref();
		return timer && !timer.aborted && !timer._destroyed;
	});
	return made.length;
}

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
		timers: timersLeft(),
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
