import { seal, secretIn, unseal } from './sealedSecret';
import { parseJsonObject } from '../jsonValues';

/** What was submitted: a recording, or a meeting bot. */
export type SubmissionKind = 'task' | 'bot';

/** What the action node hands over to a trigger: a submission's id and its webhook_secret. */
export interface HandOver {
	id: string;
	/** A task and a bot may have the same id. Version 0.1.0 sends no kind. */
	kind?: SubmissionKind;
	/** Never blank. Missing where the service gave none, or it can no longer be read. */
	secret?: string;
}

/** How long a sealed hand-over is valid, in ms. */
export const FRESH_MS = 10 * 60_000;

const PURPOSE = 'hand-over';

/** Seals hand-overs so that only the trigger at this address can open them, for a limited time. */
export function sealHandOvers(apiKey: string, address: string, handOvers: HandOver[]): string {
	const text = JSON.stringify({ handOvers, expires: Date.now() + FRESH_MS });
	return seal(apiKey, PURPOSE, triggerAt(address), text);
}

/** A trigger's answer (401) to a hand-over that it cannot open: it has another API key or address. */
export const NOT_OPENED = 'Hand-over refused';

/** A trigger's answer (401) to a hand-over that is too old or comes from the future. */
export const STALE = 'The clocks differ';

/** A trigger's answer (400) to the hand-over of an id whose deliveries it would refuse. */
export const UNUSABLE_ID = 'No delivery with this id is accepted';

/** A trigger's answer (503) to any call that it cannot process, for example without a usable credential. */
export const UNDECIDED = 'The call cannot be processed now';

/**
 * The hand-overs; `stale` if they are too old or the clocks of the two sides differ; undefined if
 * they were sealed for another trigger or with another key. A blank key opens nothing.
 */
export function openHandOvers(
	apiKey: string,
	address: string,
	sealed: string,
): HandOver[] | 'stale' | undefined {
	if (apiKey.trim() === '') return undefined;
	const text = unseal(apiKey, PURPOSE, triggerAt(address), sealed);
	const { handOvers, expires } = parseJsonObject(text ?? '') ?? {};
	if (!Array.isArray(handOvers) || !handOvers.every(isHandOver)) return undefined;
	const left = Number(expires) - Date.now();
	if (left <= 0 || left > FRESH_MS + CLOCKS_APART_MS) return 'stale';
	return handOvers.map((handOver) => ({ ...handOver, secret: secretIn(handOver.secret) }));
}

function isHandOver(value: unknown): value is HandOver {
	const { id, kind, secret } = (value ?? {}) as Record<string, unknown>;
	const isKind = [undefined, 'task', 'bot'].some((one) => one === kind);
	const isSecret = typeof secret === 'string' || secret === undefined;
	return isKind && typeof id === 'string' && isSecret;
}

/** How far the clocks may differ, in ms, as the two nodes may run on two machines. */
const CLOCKS_APART_MS = 60_000;

/**
 * Identifies a trigger for both nodes by the end of its address, `<webhook id>/transcriber`. The
 * start differs between n8n's test and production addresses, and behind a proxy.
 */
function triggerAt(address: string): string {
	return new URL(address).pathname.split('/').filter(Boolean).slice(-2).join('/');
}
