import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { hasEnded } from '../shared/api/statusMeaning';
import { idFields } from '../shared/api/submission';
import type { DeliveredEvent, StoredName } from './deliveredEvent';
import { ledgerKey } from './staticDataLedger';
import { look } from '../shared/api/askForState';
import { Undecided } from '../shared/webhook/answerInTime';
import { remembered } from '../shared/processMemory';

/**
 * Anybody can make a trigger ask the service. So it asks about each id once in `everyMs`, and about
 * at most `most` ids in that time: as many as an account can have in progress, which may all end at
 * once.
 */
const WORD = { everyMs: 10_000, most: 20 };

/** The state of an id at the service, and when the trigger asked for it, in ms since 1970. */
interface AskedState {
	askedAt: number;
	state: Promise<IDataObject>;
	hasAnswered?: boolean;
}

const looksAtService = remembered<AskedState>('looksAtService');

/**
 * Asks the service about a submission whose stored secret can no longer be read. The delivery
 * cannot be verified, so only its ids are used. Undefined if the submission has not ended, or if
 * the delivery names a task and a bot that do not belong together.
 */
export async function wordOfService(
	context: IWebhookFunctions,
	{ name, taskId, botId }: StoredName,
	body: Record<string, unknown> = {},
): Promise<DeliveredEvent | undefined> {
	const state = await stateAskedSeldom(context, name, idFields({ taskId, botId }));
	if (!hasEnded(state.status)) return undefined;
	const said: IDataObject = { task_id: state.task_id, bot_id: botId ?? state.bot_id };
	const contradicts = ['task_id', 'bot_id'].some((name) => {
		const [given, known] = [body[name] ?? '', said[name] ?? ''];
		return given !== '' && known !== '' && String(given) !== String(known);
	});
	if (contradicts) return undefined;
	const status = String(state.status);
	const { error } = state;
	const facts = Object.fromEntries(
		Object.entries({ ...said, status, error }).filter(([, value]) => (value ?? '') !== ''),
	);
	return {
		body: facts,
		taskId: said.task_id ? String(said.task_id) : undefined,
		botId: said.bot_id ? String(said.bot_id) : undefined,
		status,
	};
}

async function stateAskedSeldom(
	context: IWebhookFunctions,
	name: string,
	about: IDataObject,
): Promise<IDataObject> {
	const now = Date.now();
	for (const [key, { askedAt }] of looksAtService) {
		// The clock may have been set back since.
		if (Math.abs(now - askedAt) >= WORD.everyMs) looksAtService.delete(key);
	}
	const trigger = `${ledgerKey(`${context.getWorkflow().id} ${context.getNode().id}`)} `;
	const key = trigger + ledgerKey(name);
	const known = looksAtService.get(key);
	if (known) {
		if (!known.hasAnswered) return await known.state;
		const state = await known.state;
		// The submission had not ended at that time, but may have ended since.
		if (!hasEnded(state.status)) throw new Undecided();
		return state;
	}
	const ofTrigger = [...looksAtService.keys()].filter((one) => one.startsWith(trigger));
	if (ofTrigger.length >= WORD.most) {
		throw new Undecided('too many deliveries have a secret that cannot be read any more');
	}
	const asked: AskedState = { askedAt: now, state: look(context, about) };
	looksAtService.set(key, asked);
	return await asked.state.finally(() => (asked.hasAnswered = true));
}
