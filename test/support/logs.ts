/** Makes n8n log everything. Import it first, because n8n reads its log level only once. */
process.env.N8N_LOG_LEVEL = 'debug';

type Stream = Pick<NodeJS.WriteStream, 'write'>;

/** Records everything that is written to the console or to the process's streams from now on. */
export function captureLogs(): { lines: string[]; release: () => void } {
	if ('loadOnce' in globalThis) {
		throw new Error('n8n may log nothing here: begin this file with @jest-environment node');
	}
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
	return {
		lines,
		release: () => {
			for (const spy of spies) spy.mockRestore();
		},
	};
}
