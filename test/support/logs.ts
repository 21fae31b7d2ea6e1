import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';

type Stream = Pick<NodeJS.WriteStream, 'write'>;

/** `lines`: all that was written. `of`: the lines that name a node as the one that writes them. */
interface CapturedLogs {
	lines: string[];
	of: (node: string) => string[];
	/** Forgets all lines, so that many runs of one test keep nothing. */
	forget: () => void;
	release: () => void;
}

/**
 * Records everything that is written to the console or to the process's streams from now on, n8n's
 * log at its most talkative level included. What an earlier suite of the same process still writes is
 * among the lines, so a test that expects silence asks for the lines of its own node.
 */
export function captureLogs(): CapturedLogs {
	const lines: string[] = [];
	const keep = (...words: unknown[]): boolean => lines.push(words.map(String).join(' ')) > 0;
	// n8n's logger bypasses the console methods and writes to the streams behind them: jest's.
	const { _stdout, _stderr } = console as unknown as Record<string, Stream | undefined>;
	const streams = new Set([process.stdout, process.stderr, _stdout, _stderr]);
	const spies = [
		...[...streams].flatMap((stream) => (stream ? [jest.spyOn(stream, 'write')] : [])),
		...(['log', 'info', 'warn', 'error', 'debug'] as const).map((method) =>
			jest.spyOn(console, method),
		),
	];
	for (const spy of spies) spy.mockImplementation(keep);
	const silence = makeN8nTalk();
	return {
		lines,
		of: (node) => lines.filter((line) => line.includes(`${node}: `)),
		forget: () => {
			lines.length = 0;
			for (const spy of spies) spy.mockClear();
		},
		release: () => {
			silence();
			for (const spy of spies) spy.mockRestore();
		},
	};
}

/**
 * n8n reads its log level once, and all test files of a process share one n8n, which is silent. This
 * gives n8n's own logger what it has at the level `debug`.
 */
function makeN8nTalk(): () => void {
	const logger = Container.get(Logger);
	const winston = logger['internalLogger'];
	winston.configure({ level: 'debug', silent: false });
	logger['setConsoleTransport']();
	return () => winston.configure({ level: 'silent', silent: true });
}
