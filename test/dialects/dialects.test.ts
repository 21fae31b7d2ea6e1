/** Every operation in every dialect: what comes out is what the table says, and nothing else happens. */
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { HAND_OVER } from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import type { LoggedRequest } from '../simulator';
import { dialectOf, DIALECT_NAMES, type DialectName, type Kind } from '../simulator/dialects';
import { WITH_SUMMARY_REGENERATION } from '../support/everyOperation';
import { findIn, secretsInAddresses } from '../support/search';
import { serviceForTests } from '../support/service';
import { atLength } from '../support/long';
import { NOT_TRIED, WORKS, expectedIn } from './expected';
import { listenTo } from './speech';
import { FORMER_TERM, SITUATIONS, type Situation } from './situations';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);

beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 20);
	jest.replaceProperty(HAND_OVER, 'interval', 50);
	jest.replaceProperty(RETRY, 'base', 1);
	jest.replaceProperty(RETRY, 'cap', 5);
	jest.replaceProperty(RETRY, 'look', 5);
	jest.replaceProperty(RETRY, 'tryBase', 5);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 40);
	jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 40);
});

jest.setTimeout(60_000);

describe.each(DIALECT_NAMES.map((name, place) => ({ name, place })))(
	'in the dialect $name',
	({ name, place }) => {
		it('what is tried comes out as the table says', async () => {
			const results: Record<string, string> = {};
			const expected: Record<string, string> = {};
			const heard = SITUATIONS.filter((one) => isHeardIn(one, name));
			for (const situation of heard.filter((_, index) => isInShare(index, place))) {
				const outcome = expectedIn(name, situation.name);
				if (outcome === NOT_TRIED) continue;
				expected[situation.name] = outcome;
				results[situation.name] = await tried(situation, name, outcome);
			}
			expect(results).toEqual(expected);
		});

		it('the service says something else than without it', async () => {
			const wasSpoken = listenTo(name);
			for (const situation of SITUATIONS.filter((one) => isHeardIn(one, name))) {
				const outcome = expectedIn(name, situation.name);
				if (outcome !== NOT_TRIED) await tried(situation, name, outcome);
				if (wasSpoken(service.running())) return;
			}
			throw new Error('It was not spoken in any of the situations in which it can be heard');
		});
	},
);

/** All of it with `npm run test:dialects`; else a share of each dialect, another for each. */
function isInShare(situation: number, dialect: number): boolean {
	return process.env['DIALECTS'] === 'all' || (situation + dialect) % atLength(16, 48) === 0;
}

/** A dialect of other requests changes nothing here. */
function isHeardIn({ kinds, hasWebhook, isRefused }: Situation, name: DialectName): boolean {
	const { on, delivery, copies, retries, ...answers } = dialectOf(name);
	if (delivery ?? copies ?? retries !== undefined) return hasWebhook === true;
	const { refusal, success, instead, shapes } = answers;
	const isOfRefusals = refusal && !success && !instead && !(on && shapes);
	if (isOfRefusals && !isRefused) return false;
	return on === undefined || on.some((kind) => kinds.includes(kind));
}

/** Tries it in the dialect, and whatever the dialect: what must hold in all of them. */
async function tried(situation: Situation, name: DialectName, expected: string): Promise<string> {
	const { running } = service;
	running().reset();
	await service.ask('PUT /dictionary', { json: { terms: [FORMER_TERM] } });
	const dialect = dialectOf(name);
	// Only what does not end by itself has to be short; a busy machine has to have an answer by then.
	const timeout = expected.includes('within') ? 0.01 : 0.5;
	const waitOptions = { pollInterval: 0.01, timeout };
	const act = await situation.begin(service, { dialect, waitOptions });
	const before = submissions();
	running().requests.splice(0);
	running().configure({ dialect: name });
	const firstKey = running().apiKey;
	const { all, result } = await act();
	const made = submissions() - before;
	const submits = situation.kinds.some((kind) => SUBMITS.includes(kind)) ? 1 : 0;
	const { requests, apiKey } = running();
	const told = [firstKey, ...running().tasks().map(secretOf), ...running().bots().map(secretOf)];
	const secrets = told.filter(Boolean);
	const inAddresses = secretsInAddresses(requests, [apiKey, ...secrets]);
	const attempts = costlyAttempts(requests);
	const broken = [
		(made > submits || (result === WORKS && made < submits)) && `submitted ${made} times`,
		attempts > 1 && `sent ${attempts} times`,
		findIn(all, secrets).length > 0 && `tells ${findIn(all, secrets).join()}`,
		inAddresses.length > 0 && `has ${inAddresses.join()} in an address`,
		'polluted' in {} && 'a prototype is polluted',
	].filter(Boolean);
	return [result, ...broken].join('; ');
}

const SUBMITS: Kind[] = ['upload', 'link', 'sendBot'];

/** Tasks that were submitted and bots that were sent. The task of a meeting belongs to its bot. */
function submissions(): number {
	const { tasks, bots } = service.running();
	return tasks().filter(({ botId }) => botId === undefined).length + bots().length;
}

/** What costs, or would make the new API key useless. */
const COSTLY = /\/(transcribe|transcribe-url|meeting|summary|generate)$/;

/**
 * How often something that costs was sent, and may have been accepted. What answers in place of the service keeps it
 * out of the books, but nobody knows that. 429 is always a refusal. An upload may be repeated with the same key; a link
 * with a key also after 409, and without its key after 400.
 */
function costlyAttempts(requests: LoggedRequest[]): number {
	const keyOf = ({ headers }: LoggedRequest) => headers['idempotency-key'];
	const attempts = requests.filter((request) => {
		const { method, path, status } = request;
		const isRefused =
			status === 429 || (keyOf(request) !== undefined && [400, 409].includes(status ?? 0));
		return method === 'POST' && COSTLY.test(path) && !isRefused;
	});
	const uploads = attempts.filter(
		({ path, headers }) => path.endsWith('/transcribe') && headers['idempotency-key'] !== undefined,
	);
	return attempts.length - uploads.length + new Set(uploads.map(keyOf)).size;
}

function secretOf({ webhookSecret = '' }: { webhookSecret?: string }): string {
	return webhookSecret;
}
