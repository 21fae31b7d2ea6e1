import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { hasEnded } from '../shared/api/undocumented';
import { idFields } from '../shared/api/submission';
import type { DeliveredEvent, StoredName } from './event';
import { ledgerKey } from './ledger';
import { look } from '../shared/api/taskState';
import { Undecided } from '../shared/webhook/inTime';
import { remembered } from '../shared/processState';

/**
 * Anybody can make the trigger ask, so the service is asked about one id once in `everyMs`, and about
 * `most` ids in that time: half of what the rate limit leaves to everything else.
 */
export const WORD = { everyMs: 10_000, most: 5 };

/** What the service said of an id, and when it was asked, in ms since 1970. */
interface Look {
	askedAt: number;
	state: Promise<IDataObject>;
	hasAnswered?: boolean;
}

const looks = remembered<Look>('looksAtService');

/**
 * What the service itself says of a submission whose secret cannot be read any more. Nobody can tell
 * who has sent the delivery, so nothing in it counts but which submission it names. Undefined where
 * that has not ended, or where the delivery names a task and a bot that do not belong together.
 */
export async function wordOfService(
	context: IWebhookFunctions,
	{ name, taskId, botId }: StoredName,
	body: Record<string, unknown> = {},
): Promise<DeliveredEvent | undefined> {
	const state = await stateOf(context, name, idFields({ taskId, botId }));
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

async function stateOf(
	context: IWebhookFunctions,
	name: string,
	about: IDataObject,
): Promise<IDataObject> {
	const now = Date.now();
	for (const [key, { askedAt }] of looks) if (now - askedAt >= WORD.everyMs) looks.delete(key);
	const key = ledgerKey(`${context.getNode().id} ${name}`);
	const known = looks.get(key);
	if (known) {
		if (!known.hasAnswered) return await known.state;
		const state = await known.state;
		// It has not ended then; whether it has by now is not known.
		if (!hasEnded(state.status)) throw new Undecided();
		return state;
	}
	if (looks.size >= WORD.most) throw new Undecided();
	const asked: Look = { askedAt: now, state: look(context, about) };
	looks.set(key, asked);
	return await asked.state.finally(() => (asked.hasAnswered = true));
}
