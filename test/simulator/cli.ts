import { parseArgs } from 'node:util';

import { startSimulator, type SimulatorOptions } from './index';

const HELP = `The service simulator. Its transcripts are scripted: it recognises no speech.

  --port <number>                 port to listen on (8080; 0 = any free one)
  --host <address>                address to listen on (127.0.0.1)
  --api-key <key>                 the API key to expect (test-api-key)
  --balance <rubles>              API balance at the start (1000)
  --clock-rate <number>           how many times as fast simulated time runs (1)
  --processing-seconds <seconds>  fixed processing time (by length)
  --queue-seconds <seconds>       time in the queue (1)
  --meeting-seconds <seconds>     length of a meeting (60)
  --webhook-retries <number>      repeats of a failed delivery (5)
  --no-rate-limits                no limits per minute
  --no-hash                       do not hash uploads
  --deliver-outside               really send webhooks to other hosts
  --options <json>                any other options, e.g. '{"shapes":{"taskList":"array"}}'
`;

const { values } = parseArgs({
	options: {
		help: { type: 'boolean' },
		port: { type: 'string' },
		host: { type: 'string' },
		'api-key': { type: 'string' },
		balance: { type: 'string' },
		'clock-rate': { type: 'string' },
		'processing-seconds': { type: 'string' },
		'queue-seconds': { type: 'string' },
		'meeting-seconds': { type: 'string' },
		'webhook-retries': { type: 'string' },
		'no-rate-limits': { type: 'boolean' },
		'no-hash': { type: 'boolean' },
		'deliver-outside': { type: 'boolean' },
		options: { type: 'string', default: '{}' },
	},
});

function number(text: string | undefined, name: string): number | undefined {
	if (text === undefined) return undefined;
	const value = Number(text);
	if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`--${name} must be a number`);
	return value;
}

async function main(): Promise<void> {
	if (values.help === true) {
		process.stdout.write(HELP);
		return;
	}
	const flags: SimulatorOptions = {
		port: number(values.port, 'port'),
		host: values.host,
		apiKey: values['api-key'],
		balance: number(values.balance, 'balance'),
		clockRate: number(values['clock-rate'], 'clock-rate'),
		processingSeconds: number(values['processing-seconds'], 'processing-seconds'),
		queueSeconds: number(values['queue-seconds'], 'queue-seconds'),
		meetingSeconds: number(values['meeting-seconds'], 'meeting-seconds'),
		webhookRetries: number(values['webhook-retries'], 'webhook-retries'),
		rateLimits: values['no-rate-limits'] === true ? false : undefined,
		hashUploads: values['no-hash'] === true ? false : undefined,
		deliverOutside: values['deliver-outside'],
	};
	const given = Object.entries(flags).filter(([, value]) => value !== undefined);
	const simulator = await startSimulator({
		port: 8080,
		...(JSON.parse(values.options) as SimulatorOptions),
		...Object.fromEntries(given),
	});
	process.stdout.write(`Simulator ready at ${simulator.url}\n`);
	const end = () => void simulator.close();
	process.once('SIGINT', end);
	process.once('SIGTERM', end);
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
	process.exitCode = 1;
});
