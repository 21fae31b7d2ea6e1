import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { calledOffSince, isFinal, mayGetTask } from '../shared/api/calledOffBot';
import { ServiceError } from '../shared/api/serviceError';
import { idFields, idsIn, submissionName } from '../shared/api/submission';
import type { DeliveredEvent, StoredName } from './deliveredEvent';
import { ledgerKey } from './staticDataLedger';
import { credentialOf } from '../shared/api/credential';
import { look } from '../shared/api/askForState';
import { statusIn } from '../shared/api/statusMeaning';
import { idIn, isNoId } from '../shared/api/undocumented/idNames';
import { backgroundCaller } from '../shared/webhook/backgroundCaller';
import { Undecided } from '../shared/webhook/answerInTime';
import { remembered } from '../shared/processMemory';

/**
 * Anybody can make a trigger ask the service. So it asks about each id once in `everyMs`, and about
 * at most `most` ids in that time: as many as an account can have in progress, which may all end at
 * once. A slow service may answer after the call, for up to `lastsMs`. That a task has completed is kept for
 * `keepMs`, so that the next repeat of the delivery uses it. Any other answer may change.
 */
const WORD = { everyMs: 10_000, most: 20, lastsMs: 60_000, keepMs: 60_000 };

/** The state of a task or bot at the service, and whether it has ended. */
interface Word {
	state: IDataObject;
	hasEnded: boolean;
}

/** What the service says of an id, and when the trigger asked, in ms since 1970. */
interface Question {
	askedAt: number;
	word: Promise<Word>;
	hasAnswered?: boolean;
	/** When the answer came that it has completed, in ms since 1970. */
	completedAt?: number;
}

/** How long it is kept since when a bot is called off, in ms: longer than between repeats of a delivery. */
const KEEP_CALLED_OFF_MS = 24 * 3_600_000;

const looksAtService = remembered<Question>('looksAtService');

/** Since when bots are called off, in ms since 1970: see {@link calledOffSince}. */
const calledOffBots = remembered<number>('calledOffBots');

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
	const { state, hasEnded } = await askSeldom(context, name, idFields({ taskId, botId }));
	if (!hasEnded) return undefined;
	const known = { taskId: idIn(state.task_id), botId: botId ?? idIn(state.bot_id) };
	if (contradicts(body.task_id, known.taskId) || contradicts(body.bot_id, known.botId)) {
		return undefined;
	}
	const status = String(state.status);
	const { error } = state;
	const facts = (error ?? '') === '' ? { status } : { status, error };
	return { body: { ...idFields(known), ...facts }, ...known, status };
}

/** Whether an id in a delivery is another one than the service says, if both say one. */
function contradicts(given: unknown, known?: string): boolean {
	return known !== undefined && !isNoId(given) && idIn(given) !== known;
}

/** Whether a submission has ended. A bot that is called off has, once it has been so for long. */
function hasEndedFor(key: string, state: IDataObject): boolean {
	for (const [one, since] of calledOffBots) {
		if (Math.abs(Date.now() - since) >= KEEP_CALLED_OFF_MS) calledOffBots.delete(one);
	}
	const since = calledOffSince(state, calledOffBots.get(key));
	if (since === undefined) {
		calledOffBots.delete(key);
		return isFinal(state);
	}
	calledOffBots.set(key, since);
	return !mayGetTask(since);
}

async function askSeldom(
	context: IWebhookFunctions,
	name: string,
	about: IDataObject,
): Promise<Word> {
	const now = Date.now();
	for (const [key, { askedAt, completedAt }] of looksAtService) {
		const isKept = completedAt !== undefined && Math.abs(now - completedAt) < WORD.keepMs;
		// The clock may have been set back since.
		if (!isKept && Math.abs(now - askedAt) >= WORD.everyMs) looksAtService.delete(key);
	}
	const trigger = `${ledgerKey(`${context.getWorkflow().id} ${context.getNode().id}`)} `;
	const key = trigger + ledgerKey(name);
	const known = looksAtService.get(key);
	if (known) {
		if (!known.hasAnswered) return await known.word;
		const word = await known.word;
		// The submission had not ended at that time, but may have ended since.
		if (!word.hasEnded) throw new Undecided();
		return word;
	}
	const ofTrigger = [...looksAtService].filter(
		([one, { completedAt }]) => one.startsWith(trigger) && completedAt === undefined,
	);
	if (ofTrigger.length >= WORD.most) {
		throw new Undecided('no secret can be read for too many deliveries');
	}
	const question: Question = { askedAt: now, word: ask(context, key, about) };
	looksAtService.set(key, question);
	question.word
		.then(({ hasEnded, state }) => {
			if (!hasEnded || statusIn(state.status) !== 'completed') return;
			question.completedAt = Date.now();
			// A later question may have taken its place.
			looksAtService.set(key, question);
		})
		.catch(() => {})
		.finally(() => (question.hasAnswered = true));
	return await question.word;
}

async function ask(context: IWebhookFunctions, key: string, about: IDataObject): Promise<Word> {
	const deadline = Date.now() + WORD.lastsMs;
	const credential = await credentialOf(context);
	const caller = backgroundCaller(context, async () => credential);
	const state = await look(caller, about, { deadline }).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		const name = submissionName(idsIn(about));
		// The log names what the user has to look for: this may go on until the service gives up.
		throw new Undecided(`the service does not say whether ${name} has ended: ${error.message}`);
	});
	return { state, hasEnded: hasEndedFor(key, state) };
}
