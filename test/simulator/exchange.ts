import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { bytesOf, spoken, type Asked, type Json, type Wire } from './dialects';
import type { RequestFault } from './faults';
import { errorBody, Refusal } from './refusal';
import type { Settings } from './options';
import { invalid, type Fields } from './parameters';
import type { UploadedFile } from './upload';

export interface LoggedRequest {
	/** Real time, milliseconds since the epoch. */
	at: number;
	method: string;
	/** As it was sent: without the query, still encoded. */
	path: string;
	query: Record<string, string>;
	headers: IncomingHttpHeaders;
	rawHeaders: string[];
	/** Parsed JSON, or the text fields of a form. */
	body?: unknown;
	file?: Omit<UploadedFile, 'seconds'>;
	/** Status of the answer; undefined if the connection was cut or there is no answer yet. */
	status?: number;
	/** How many bytes of the body have arrived. */
	bodyBytes: number;
}

/** Thrown if the connection is closed, so that nobody can be answered. */
export class ConnectionCut extends Error {}

const SMALL_BODY_BYTES = 64 * 1024;
const LARGEST_JSON_BYTES = 4 * 1024 * 1024;
const LINGER_MS = 5_000;

/** One HTTP request and its answer, and the faults that can happen to the connection. */
export class Exchange {
	readonly body: Readable;
	constructor(
		readonly request: IncomingMessage,
		private readonly response: ServerResponse,
		readonly entry: LoggedRequest,
		readonly settings: Settings,
		private readonly asked: Asked,
		private readonly fault?: RequestFault,
	) {
		this.body = this.meteredBody(fault);
	}

	cut(): never {
		this.request.socket.destroy();
		throw new ConnectionCut();
	}

	closeAfterAnswer(): void {
		this.response.setHeader('Connection', 'close');
	}

	/** Reads the rest of the body and discards it. */
	async drain(): Promise<void> {
		if (this.request.complete && this.body.readableEnded) return;
		await new Promise<void>((resolve, reject) => {
			this.body.once('end', resolve);
			this.body.once('error', reject);
			this.body.once('close', resolve);
			if (this.body.destroyed) return resolve();
			this.body.resume();
		});
	}

	async readText(): Promise<string> {
		const chunks: Buffer[] = [];
		let bytes = 0;
		for await (const chunk of this.body as AsyncIterable<Buffer>) {
			bytes += chunk.length;
			if (bytes > LARGEST_JSON_BYTES) throw new Refusal(413, 'The request is too large');
			chunks.push(chunk);
		}
		return Buffer.concat(chunks).toString('utf8');
	}

	/** Reads a JSON object. */
	async readJson(): Promise<Fields> {
		const text = await this.readText();
		const value = parsed(text);
		this.entry.body = value ?? text;
		if (!/^application\/json\b/i.test(this.request.headers['content-type'] ?? '')) {
			throw invalid(this.settings, 'The request must be application/json');
		}
		if (typeof value !== 'object' || value === null || Array.isArray(value)) {
			throw invalid(this.settings, 'The body must be a JSON object');
		}
		return value as Fields;
	}

	/** Whether the dialect answers instead of the service. */
	async answeredBefore(): Promise<boolean> {
		const wire = spoken(this.settings.dialect, this.asked, undefined);
		if (wire) await this.send(wire.status, wire.headers, bytesOf(wire), true);
		return wire !== undefined;
	}

	async answer(value: unknown): Promise<void> {
		const { fault } = this;
		const { status, headers, bytes } = this.inDialect(200, value, {});
		if (fault?.kind === 'delay' && fault.processed === true) await late(fault.ms);
		this.write(status, headers, bytes);
	}

	/** Section "Errors". An upload that is still arriving is refused before its end. */
	async refuse(refusal: Refusal): Promise<void> {
		const body = errorBody(refusal, this.settings.shapes);
		const { status, headers, bytes } = this.inDialect(refusal.status, body, refusal.headers);
		const early = this.settings.shapes.refuseUploads === 'early';
		await this.send(status, headers, bytes, early);
	}

	private inDialect(status: number, value: unknown, more: Record<string, string>) {
		const headers = { 'Content-Type': 'application/json', ...more };
		const plain: Wire = { status, headers, body: value as Json };
		const wire = spoken(this.settings.dialect, this.asked, plain) ?? plain;
		return { ...wire, bytes: bytesOf(wire) };
	}

	/** Answers before the body is read when `early` and it is a long one. */
	async send(
		status: number,
		headers: Record<string, string>,
		body: string | Buffer,
		early: boolean,
	): Promise<void> {
		if (early && this.isLong()) return await this.writeAndLinger(status, headers, body);
		await this.drain();
		this.write(status, headers, body);
	}

	private write(own: number, headers: Record<string, string>, body: string | Buffer): void {
		const { fault, response } = this;
		this.loseAnswer();
		if (response.destroyed) throw new ConnectionCut();
		const isGarbled = fault?.kind === 'garble';
		const sent = isGarbled ? garbled(fault, body) : body;
		const status = (isGarbled && 'status' in fault ? fault.status : undefined) ?? own;
		const all = { ...headers, ...(isGarbled && 'headers' in fault ? fault.headers : {}) };
		this.entry.status = status;
		// A length beside 204 is no HTTP.
		response.writeHead(status, { ...all, ...(status === 204 ? {} : lengthOf(sent)) });
		if (fault?.kind === 'cut' && fault.when === 'midAnswer') {
			response.write(Buffer.from(sent).subarray(0, fault.afterBytes), () => {
				this.request.socket.resetAndDestroy();
			});
			return;
		}
		response.end(sent);
	}

	private loseAnswer(): void {
		if (this.fault?.kind === 'cut' && this.fault.when === 'afterProcessing') this.cut();
	}

	/**
	 * Closing with unread bytes would reset the connection and could take the answer with it, so
	 * what still arrives is thrown away for a while, as web servers do.
	 */
	private async writeAndLinger(
		status: number,
		headers: Record<string, string>,
		body: string | Buffer,
	): Promise<void> {
		this.loseAnswer();
		this.entry.status = status;
		this.response.writeHead(status, { ...headers, ...lengthOf(body), Connection: 'close' });
		this.response.write(body);
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, LINGER_MS);
			const done = () => {
				clearTimeout(timer);
				resolve();
			};
			this.request.once('end', done);
			this.request.once('close', done);
			if (this.request.readableEnded || this.request.destroyed) done();
			if (this.body.destroyed) this.request.resume();
			else this.body.resume();
		});
		this.response.end();
	}

	private isLong(): boolean {
		const { headers, complete } = this.request;
		if (complete) return false;
		if (headers['transfer-encoding'] !== undefined) return true;
		return Number(headers['content-length'] ?? 0) > SMALL_BODY_BYTES;
	}

	private meteredBody(fault?: RequestFault): Readable {
		const { request, entry } = this;
		const cutAfter =
			fault?.kind === 'cut' && fault.when === 'midBody' ? fault.afterBytes : Infinity;
		const bytesPerSecond = fault?.kind === 'slowRead' ? fault.bytesPerSecond : Infinity;
		let timer: NodeJS.Timeout | undefined;
		let began: number | undefined;
		const meter = new Transform({
			transform(chunk: Buffer, _encoding, done) {
				entry.bodyBytes += chunk.length;
				if (entry.bodyBytes >= cutAfter) {
					request.socket.destroy();
					return done(new ConnectionCut());
				}
				if (bytesPerSecond === Infinity) return done(null, chunk);
				// Reckoned from the first byte: timers round, and many small chunks would add that up.
				began ??= Date.now();
				const due = began + (entry.bodyBytes / bytesPerSecond) * 1000;
				timer = setTimeout(() => done(null, chunk), Math.ceil(due - Date.now()));
			},
			flush(done) {
				// Counted, but cut all the same: the body was shorter than the place of the cut.
				if (cutAfter === Infinity) return done();
				request.socket.destroy();
				done(new ConnectionCut());
			},
			destroy(error, done) {
				clearTimeout(timer);
				done(error);
			},
		});
		// Whoever reads it learns of the cut; when nobody does, it must not end the process.
		meter.on('error', () => undefined);
		request.on('error', () => undefined);
		request.once('close', () => {
			if (!request.complete) meter.destroy(new ConnectionCut());
		});
		request.pipe(meter);
		return meter;
	}
}

const LARGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Waits without keeping the process alive. */
export async function late(ms: number): Promise<void> {
	await sleep(Math.min(ms, LARGEST_TIMEOUT_MS), undefined, { ref: false });
}

function garbled(
	fault: Extract<RequestFault, { kind: 'garble' }>,
	body: string | Buffer,
): string | Buffer {
	return 'body' in fault ? fault.body : Buffer.from(body).subarray(0, fault.keepBytes);
}

function lengthOf(body: string | Buffer): Record<string, string> {
	return { 'Content-Length': String(Buffer.byteLength(body)) };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
