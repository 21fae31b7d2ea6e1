import type { AddressInfo } from 'node:net';

import { dialectOf } from './dialects';
import type { LoggedRequest } from './exchange';
import { Faults, type FaultRule } from './faults';
import type { Bot } from './meetings';
import { settingsFrom, type Settings, type SimulatorOptions } from './options';
import { createSimulatorServer } from './server';
import { Service } from './service';
import type { Outcome, Task } from './tasks';
import type { LoggedDelivery } from './webhooks';

export type { LoggedRequest } from './exchange';
export type { FaultRule, RequestFault, WebhookFault } from './faults';
export type { Bot } from './meetings';
export type { BotStatusNames, ExportFormat, Shapes, SimulatorOptions } from './options';
export type { Outcome, Task } from './tasks';
export type { ScriptedRecording, Segment } from './transcripts';
export type { LoggedDelivery } from './webhooks';

export interface Simulator {
	/** Base address without `/api/v1`. */
	readonly url: string;
	/** The key that is valid now; a rotation changes it. */
	readonly apiKey: string;
	/** All requests, in order of arrival. */
	readonly requests: LoggedRequest[];
	/** Every attempt to deliver a webhook. */
	readonly deliveries: LoggedDelivery[];
	/** Highest number of uploads in progress at the same time so far. */
	readonly uploadsAtOnce: number;
	/** Rubles left. */
	readonly balance: number;
	fault(rule: FaultRule): void;
	/** How many faults have happened. */
	readonly faultsHappened: number;
	/** Takes back the faults that have not happened yet. */
	clearFaults(): void;
	/** Changes options while running; `port` and `host` stay. */
	configure(change: Partial<SimulatorOptions>): void;
	/** At least 500 rubles. Tasks that waited for it start on their own. */
	topUp(rubles: number): void;
	/** Ends a task now, in any status. */
	finish(taskId: string, outcome?: Outcome): void;
	endMeeting(botId: string): void;
	/** Adds tasks that ended long ago, the newest `age` ms ago. Returns their ids. */
	seed(count: number, age?: number): string[];
	/** Deletes a task. */
	discard(taskId: string): void;
	/** The state of a task in the simulator. Throws if there is no such task. */
	task(taskId: string): Task;
	/** Newest first. */
	tasks(): Task[];
	bot(botId: string): Bot;
	bots(): Bot[];
	/** The terms of the dictionary. */
	terms(): string[];
	/** Back to the start: state, logs, faults, and options changed by `configure`. */
	reset(): void;
	/** Nobody listens for so many ms from now on; everything is kept. */
	down(ms: number): void;
	/** Stops the simulator, with all open connections and timers. */
	close(): Promise<void>;
}

/** Starts a simulation of the whole documented service on a local address. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
	const settings = settingsFrom(options);
	const faults = new Faults();
	const requests: LoggedRequest[] = [];
	const deliveries: LoggedDelivery[] = [];
	let service = new Service(settings, faults, deliveries);
	let url = '';

	let isDown: NodeJS.Timeout | undefined;
	let isClosed = false;
	/** Another process may have taken the port for a moment. */
	const listenAgain = () => {
		if (!isClosed) server.listen(settings.port, settings.host);
	};

	const simulator: Simulator = {
		get url() {
			return url;
		},
		get apiKey() {
			return service.apiKey;
		},
		get uploadsAtOnce() {
			return service.uploadsAtOnce;
		},
		get balance() {
			return service.billing.balance;
		},
		requests,
		deliveries,
		fault: (rule) => faults.add(rule),
		get faultsHappened() {
			return faults.happened;
		},
		clearFaults: () => faults.clear(),
		configure: (change) => configure(settings, service, change),
		topUp: (rubles) => service.topUp(rubles),
		finish: (taskId, outcome = {}) => service.tasks.finish(service.tasks.get(taskId), outcome),
		seed: (count, age) => service.tasks.seed(count, age),
		discard: (taskId) => service.tasks.discard(taskId),
		endMeeting: (botId) => service.meetings.end(service.meetings.get(botId)),
		task: (taskId) => service.tasks.get(taskId),
		tasks: () => service.tasks.all(),
		bot: (botId) => service.meetings.get(botId),
		bots: () => service.meetings.all(),
		terms: () => service.dictionary.terms(),
		reset() {
			service.stop();
			faults.clear();
			requests.length = 0;
			deliveries.length = 0;
			const { port, host } = settings;
			Object.assign(settings, settingsFrom(options), { port, host });
			settings.processingSeconds = options.processingSeconds;
			settings.teamOwnerTerms = options.teamOwnerTerms;
			settings.dialect = options.dialect;
			service = new Service(settings, faults, deliveries);
		},
		down(ms) {
			clearTimeout(isDown);
			if (server.listening) {
				faults.happened += 1;
				server.close();
			}
			isDown = setTimeout(listenAgain, ms).unref();
		},
		async close() {
			service.stop();
			isClosed = true;
			await new Promise<void>((resolve) => {
				if (!server.listening) return resolve();
				server.close(() => resolve());
				server.closeAllConnections();
			});
		},
	};
	const server = createSimulatorServer({
		settings,
		faults,
		requests,
		service: () => service,
		control: { ...controls(simulator), requests, deliveries },
		down: (ms) => simulator.down(ms),
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(settings.port, settings.host, resolve);
	});
	const { port } = server.address() as AddressInfo;
	settings.port = port;
	server.on('error', () => {
		if (isDown) setTimeout(listenAgain, 100).unref();
	});
	url = `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}`;
	return simulator;
}

function configure(settings: Settings, service: Service, change: Partial<SimulatorOptions>): void {
	const { shapes, ...others } = change;
	if (others.port !== undefined || others.host !== undefined) {
		throw new Error('A running simulator cannot move: port and host stay');
	}
	Object.assign(settings, others);
	Object.assign(settings.shapes, dialectOf(others.dialect).shapes, shapes);
	if (others.clockRate !== undefined) service.clock.setRate(others.clockRate);
	if (others.apiKey !== undefined) service.apiKey = others.apiKey;
	if (others.balance !== undefined) service.setBalance(others.balance);
}

function controls(simulator: Simulator) {
	const { fault, configure: change, topUp, finish, endMeeting, reset } = simulator;
	return {
		fault,
		configure: change,
		topUp,
		finish,
		endMeeting,
		reset,
		state: () => ({
			url: simulator.url,
			apiKey: simulator.apiKey,
			balance: simulator.balance,
			uploadsAtOnce: simulator.uploadsAtOnce,
			tasks: simulator.tasks(),
			bots: simulator.bots(),
		}),
	};
}
