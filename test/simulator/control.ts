import type { IncomingMessage, ServerResponse } from 'node:http';

import { isLoopback } from './addresses';
import type { FaultRule } from './faults';
import type { SimulatorOptions } from './options';
import type { Outcome } from './tasks';

/** The parts of the simulator that the control addresses use. */
export interface Control {
	requests: unknown[];
	deliveries: unknown[];
	state(): unknown;
	fault(rule: FaultRule): void;
	configure(change: Partial<SimulatorOptions>): void;
	topUp(rubles: number): void;
	finish(taskId: string, outcome?: Outcome): void;
	endMeeting(botId: string): void;
	reset(): void;
}

type Body = Record<string, unknown>;

const ADDRESSES: Record<string, (control: Control, body: Body) => unknown> = {
	'GET requests': ({ requests }) => requests,
	'GET deliveries': ({ deliveries }) => deliveries,
	'GET state': (control) => control.state(),
	'POST faults': (control, body) => control.fault(body as unknown as FaultRule),
	'POST configure': (control, body) => control.configure(body),
	'POST top-up': (control, body) => control.topUp(Number(body['rubles'])),
	'POST finish': (control, body) =>
		control.finish(String(body['taskId']), {
			status: optionalText(body['status']),
			error: optionalText(body['error']),
		}),
	'POST end-meeting': (control, body) => control.endMeeting(String(body['botId'])),
	'POST reset': (control) => control.reset(),
};

/** `/_simulator/...`: lets other processes on this machine control the simulator. */
export async function handleControl(
	request: IncomingMessage,
	response: ServerResponse,
	name: string,
	control: Control,
): Promise<void> {
	const answer = (status: number, value: unknown) => {
		response.writeHead(status, { 'Content-Type': 'application/json' });
		response.end(JSON.stringify(value));
	};
	try {
		if (!isLoopback(request.socket.remoteAddress ?? '')) {
			return answer(403, { error: 'Only from this machine' });
		}
		const action = ADDRESSES[`${request.method} ${name}`];
		if (!action) return answer(404, { error: `Known: ${Object.keys(ADDRESSES).join(', ')}` });
		answer(200, action(control, await readBody(request)) ?? { ok: true });
	} catch (error) {
		answer(400, { error: error instanceof Error ? error.message : String(error) });
	}
}

async function readBody(request: IncomingMessage): Promise<Body> {
	const chunks: Buffer[] = [];
	for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
	const text = Buffer.concat(chunks).toString('utf8');
	return text === '' ? {} : (JSON.parse(text) as Body);
}

function optionalText(value: unknown): string | undefined {
	return typeof value === 'string' ? value : undefined;
}
