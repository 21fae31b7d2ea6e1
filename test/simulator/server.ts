import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { handleControl, type Control } from './control';
import { kindOf } from './dialects';
import { ENDPOINTS, regenerateSummaryEndpoint, type Endpoint } from './endpoints';
import { ConnectionCut, Exchange, late, type LoggedRequest } from './exchange';
import type { Faults, RequestFault } from './faults';
import { serviceTime, type Settings } from './options';
import { errorBody, Refusal } from './refusal';
import type { Service } from './service';

const PREFIX = '/api/v1/';
const CONTROL_PREFIX = '/_simulator/';

export interface ServerParts {
	settings: Settings;
	faults: Faults;
	requests: LoggedRequest[];
	/** The current service: a reset replaces it. */
	service: () => Service;
	control: Control;
	/** Listens no more, for so many ms. */
	down: (ms: number) => void;
}

/** The HTTP server of the simulator: log, faults, API key, rate limits, routing. */
export function createSimulatorServer(parts: ServerParts): Server {
	const server = createServer(
		// An upload of 8 GB may take longer than Node's default limit of five minutes.
		{ requestTimeout: 0, keepAliveTimeout: 60_000 },
		(request, response) => {
			const [path = '', search = ''] = (request.url ?? '').split(/\?(.*)/s);
			if (path.startsWith(CONTROL_PREFIX)) {
				void handleControl(request, response, path.slice(CONTROL_PREFIX.length), parts.control);
				return;
			}
			void serve(parts, request, response, path, search);
		},
	);
	return server;
}

async function serve(
	{ settings, faults, requests, service: currentService, down }: ServerParts,
	request: IncomingMessage,
	response: ServerResponse,
	path: string,
	search: string,
): Promise<void> {
	const entry: LoggedRequest = {
		at: Date.now(),
		method: request.method ?? '',
		path,
		query: Object.fromEntries(new URLSearchParams(search)),
		headers: request.headers,
		rawHeaders: request.rawHeaders,
		bodyBytes: 0,
	};
	requests.push(entry);
	if (requests.length > settings.requestLogLimit) requests.shift();

	const service = currentService();
	if (settings.clockAheadSeconds !== 0) {
		response.setHeader('Date', new Date(serviceTime(settings)).toUTCString());
	}
	const fault = faults.forRequest(entry.method, path);
	const kind = kindOf(entry.method, path);
	// Only dialects ask for it, and the log may be long.
	const nth = settings.dialect
		? requests.filter((other) => kindOf(other.method, other.path) === kind).length
		: 0;
	const asked = { kind, path, query: entry.query, nth, headers: entry.headers };
	const exchange = new Exchange(request, response, entry, settings, asked, fault);
	try {
		if (fault && (await happened(fault, exchange, settings, down))) return;
		if (await exchange.answeredBefore()) return;
		await exchange.answer(await answerOf(exchange, service));
	} catch (error) {
		if (error instanceof Refusal) {
			await exchange.refuse(error).catch(() => response.destroy());
		} else if (!(error instanceof ConnectionCut) && !response.headersSent) {
			// A mistake in the simulator itself must not look like an answer of the service.
			response.writeHead(500, { 'Content-Type': 'text/plain' });
			response.end(`Simulator: ${error instanceof Error ? error.stack : String(error)}`);
		}
	}
}

async function answerOf(exchange: Exchange, service: Service): Promise<unknown> {
	const { entry } = exchange;
	checkKey(exchange, service);
	const { endpoint, id } = route(entry.method, entry.path, service);
	service.rateLimits.take(service.apiKey, endpoint.operation);
	const answer: unknown = await endpoint.handle(exchange, service, id);
	// A body that nobody asked for is logged as well, so that tests see it.
	if (!exchange.body.readableEnded && !exchange.body.destroyed) {
		const text = await exchange.readText();
		if (text !== '' && entry.body === undefined) entry.body = jsonOr(text);
	}
	return answer;
}

/** Section "Authentication". */
function checkKey({ entry, settings }: Exchange, service: Service): void {
	const key = entry.headers['x-api-key'];
	if (key === undefined) throw new Refusal(401, 'The API key is missing');
	if (key !== service.apiKey) throw new Refusal(401, 'The API key is invalid');
	if (!settings.apiEnabled) throw new Refusal(401, 'The API is not enabled in the cabinet');
}

function route(method: string, path: string, service: Service): { endpoint: Endpoint; id: string } {
	if (!path.startsWith(PREFIX)) throw new Refusal(404, 'No such path');
	const asked = path.slice(PREFIX.length).split('/');
	const found = [...ENDPOINTS, ...regenerateSummaryEndpoint(service)].filter(({ path: pattern }) =>
		matches(pattern.split('/'), asked),
	);
	if (found.length === 0) throw new Refusal(404, 'No such path');
	const endpoint = found.find((candidate) => candidate.method === method);
	if (!endpoint) throw new Refusal(405, 'No such method on this path');
	const at = endpoint.path.split('/').indexOf('{id}');
	return { endpoint, id: at < 0 ? '' : decoded(asked[at] ?? '') };
}

function matches(pattern: string[], asked: string[]): boolean {
	return (
		pattern.length === asked.length &&
		pattern.every(
			(part, index) => part === asked[index] || (part === '{id}' && asked[index] !== ''),
		)
	);
}

function decoded(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		throw new Refusal(404, 'No such path');
	}
}

/** Causes the fault. True if the fault has ended the request. */
async function happened(
	fault: RequestFault,
	exchange: Exchange,
	settings: Settings,
	down: ServerParts['down'],
): Promise<boolean> {
	switch (fault.kind) {
		case 'respond': {
			const isText = typeof fault.body === 'string';
			const body = isText ? String(fault.body) : JSON.stringify(fault.body ?? usualError(fault));
			const headers = { 'Content-Type': 'application/json', ...fault.headers };
			await exchange.send(fault.status, headers, body, fault.readBody !== true);
			return true;
		}
		case 'redirect':
			await exchange.send(fault.status, { Location: fault.location }, '', true);
			return true;
		case 'stall':
			if (fault.readBody === true) await exchange.drain();
			return true;
		case 'cut':
			if (fault.when === 'afterBody' || fault.when === 'midBody') await exchange.drain();
			if (fault.when !== 'afterProcessing' && fault.when !== 'midAnswer') exchange.cut();
			return false;
		case 'delay':
			if (fault.processed !== true) await late(fault.ms);
			return false;
		case 'down':
			down(fault.ms);
			if (fault.cut === true) exchange.cut();
			exchange.closeAfterAnswer();
			return false;
		case 'garble':
		case 'slowRead':
			return false;
	}

	function usualError({ status }: { status: number }): unknown {
		const code = status === 503 ? 'service_unavailable' : undefined;
		return errorBody(new Refusal(status, 'Simulated fault', code), settings.shapes);
	}
}

function jsonOr(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return text;
	}
}
