import { createHmac } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

import { isLoopback } from './addresses';
import type { Clock } from './clock';
import { dialectOf, type JsonObject } from './dialects';
import type { Faults } from './faults';
import type { Settings } from './options';

export interface LoggedDelivery {
	/** Real time, milliseconds since the epoch. */
	at: number;
	url: string;
	taskId: string;
	botId?: string;
	/** 1 for the first attempt. */
	attempt: number;
	headers: Record<string, string>;
	/** The body as an object, and exactly as it was sent. */
	body: Record<string, unknown>;
	raw: string;
	/** Status of the receiver's answer; undefined if there was none. */
	status?: number;
	error?: string;
	/** The kind of fault that happened to it. */
	fault?: string;
}

export interface Delivery {
	url: string;
	secret: string;
	taskId: string;
	botId?: string;
	body: Record<string, unknown>;
}

/** Section "Authentication": `X-Service-Signature` over the raw body. */
export function sign(raw: string, secret: string): string {
	return `sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`;
}

/** Section "Events": signed POST requests, retried after failures. */
export class Webhooks {
	private readonly stopping = new AbortController();

	constructor(
		private readonly settings: Settings,
		private readonly clock: Clock,
		private readonly faults: Faults,
		private readonly log: LoggedDelivery[],
	) {
		// Removes the limit of listeners: any number of deliveries may be in progress.
		setMaxListeners(Infinity, this.stopping.signal);
	}

	send(delivery: Delivery): void {
		const { copies = 1 } = dialectOf(this.settings.dialect);
		for (let copy = 1; copy <= copies; copy++) this.try(delivery, 1, copy);
	}

	private try(delivery: Delivery, attempt: number, copy: number): void {
		const fault = this.faults.forWebhook(delivery.url);
		const entry = this.logged(delivery, attempt, copy, fault?.kind);
		switch (fault?.kind) {
			case 'lose':
				entry.error = 'lost';
				return;
			case 'double':
				this.post(this.logged(delivery, attempt, copy, 'double'), () => undefined);
				break;
			case 'forge':
				entry.headers['X-Service-Signature'] = sign(entry.raw, `not ${delivery.secret}`);
				break;
			case 'unsigned':
				delete entry.headers['X-Service-Signature'];
				break;
			case 'delay': {
				const timer = setTimeout(() => this.postAndRetry(entry, delivery), fault.ms);
				this.stopping.signal.addEventListener('abort', () => clearTimeout(timer));
				return;
			}
		}
		this.postAndRetry(entry, delivery);
	}

	/** Ends everything that is on its way. */
	stop(): void {
		this.stopping.abort();
	}

	private postAndRetry(entry: LoggedDelivery, delivery: Delivery): void {
		this.post(entry, () => {
			const retries = dialectOf(this.settings.dialect).retries ?? this.settings.webhookRetries;
			if (entry.attempt > retries) return;
			this.clock.after(this.settings.webhookRetrySeconds, () =>
				this.try(delivery, entry.attempt + 1, 1),
			);
		});
	}

	private logged(
		delivery: Delivery,
		attempt: number,
		copy: number,
		fault?: string,
	): LoggedDelivery {
		const change = dialectOf(this.settings.dialect).delivery;
		const said = change?.(delivery.body as JsonObject, copy) ?? {};
		const { body = delivery.body, headers = {}, signature = (plain: string) => plain } = said;
		const raw = said.raw ?? JSON.stringify(body);
		const entry: LoggedDelivery = {
			at: Date.now(),
			url: delivery.url,
			taskId: delivery.taskId,
			botId: delivery.botId,
			attempt,
			headers: {
				'Content-Type': 'application/json',
				...headers,
				'Content-Length': String(Buffer.byteLength(raw)),
				'X-Service-Signature': signature(sign(raw, delivery.secret)),
			},
			body,
			raw,
			fault,
		};
		this.log.push(entry);
		if (this.log.length > this.settings.requestLogLimit) this.log.shift();
		return entry;
	}

	private post(entry: LoggedDelivery, failed: () => void): void {
		const url = new URL(entry.url);
		if (!this.settings.deliverOutside && !isLoopback(url.hostname)) {
			entry.error = 'not sent: the option deliverOutside is off';
			return;
		}
		entry.at = Date.now();
		let over = false;
		const end = (outcome: { status: number } | { error: string }) => {
			if (over) return;
			over = true;
			clearTimeout(timer);
			Object.assign(entry, outcome);
			if (this.stopping.signal.aborted) return;
			// A redirect is no delivery either: it is not followed.
			if (!('status' in outcome) || outcome.status < 200 || outcome.status > 299) failed();
		};
		const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
		const post = request(url, {
			method: 'POST',
			headers: entry.headers,
			agent: false,
			signal: this.stopping.signal,
		});
		const timer = setTimeout(
			() => post.destroy(new Error('no answer in time')),
			this.settings.webhookTimeoutSeconds * 1000,
		);
		post.on('response', (response) => {
			response.on('error', () => undefined);
			response.resume();
			end({ status: response.statusCode ?? 0 });
		});
		post.on('error', (error) => end({ error: error.message }));
		post.end(entry.raw);
	}
}
