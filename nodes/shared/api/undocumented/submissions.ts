import type { IDataObject } from 'n8n-workflow';

import { isBlank, isObject } from '../../jsonValues';
import { objectsIn, saysNo } from './answers';
import { ID_NAMES, idIn, isNoId, taskIdOf } from './idNames';
import { isInProgress, isUnknownStatus, statusIn, withStatus } from '../statusMeaning';
import { LIST_NAMES } from './taskLists';

/**
 * The answer to a submit, and the state of a task or bot: the task or bot may be the answer itself
 * or under one of these names.
 */
export const SUBMISSION_NAMES = ['data', 'task', 'result', 'item', 'bot', 'meeting'] as const;

/** The answer to a submit that makes several tasks: their list may be under one of these names. */
export const SUBMISSION_LIST_NAMES = [...LIST_NAMES, 'bots', 'meetings', 'task_ids', 'bot_ids'];

/** What an answer to a submit is about: POST /transcribe, POST /transcribe-url or POST /meeting. */
export type SubmissionKind = 'file' | 'link' | 'bot';

/**
 * The tasks or bots in the answer to a submit, each with its id in the documented field. Their list
 * may be the answer itself or be under one of {@link SUBMISSION_LIST_NAMES}. Fields beside the list
 * belong to each of them.
 */
export function submissionsIn(answer: unknown, kind: SubmissionKind): IDataObject[] {
	const [only, ...others] = objectsIn(answer);
	if (!only || others.length > 0) {
		return objectsIn(answer).map((element) => submissionIn(element, kind));
	}
	const hasNoId = [only.task_id, only.bot_id].every(isNoId);
	const name = hasNoId ? listNameIn(only) : undefined;
	if (name !== undefined) {
		const { [name]: list, ...facts } = only;
		return objectsIn(list).map((element) => {
			// An id or a status beside the list is not that of an element which was refused.
			const beside = isRefused(element) ? withoutIdOrStatus(facts) : facts;
			return { ...beside, ...submissionIn(element, kind) };
		});
	}
	const first = submissionIn(only, kind);
	const wrapper = hasId(first)
		? undefined
		: wrapperOf(first, (inner) => (holdsOwn(inner) ? undefined : listNameIn(inner)));
	if (wrapper !== undefined) return submissionsIn({ ...wrapper.beside, ...wrapper.inner }, kind);
	// Only a link, such as that of a playlist, makes several. Beside a file or bot, others are somebody else's.
	return kind === 'link' ? withThoseBeside(first) : [first];
}

/** Whether an answer holds a task or bot beside a list, which may be of something else. */
function holdsOwn(answer: IDataObject): boolean {
	return SUBMISSION_NAMES.some((name) => hasDocumentedId(answer[name]));
}

/** The tasks of a link of which the answer says the first one by itself, and all of them in a list beside it. */
function withThoseBeside(first: IDataObject): IDataObject[] {
	const own = taskIdOf(first);
	if (own === undefined) return [first];
	const name = nameOfListWith(first, own);
	if (name === undefined) {
		const wrapper = wrapperOf(first, (inner) => nameOfListWith(inner, own));
		return wrapper ? withThoseBeside({ ...wrapper.inner, ...wrapper.beside }) : [first];
	}
	const { [name]: list, ...facts } = first;
	const tasks = objectsIn(list).map((element) => submissionIn(element, 'link'));
	// If one has its own secret, the secret beside the id of the first is that of the first alone.
	const isShared = tasks.every(({ webhook_secret: secret }) => isBlank(secret));
	const { webhook_secret: secret, ...others } = facts;
	const ofRequest = secret === undefined ? {} : { webhook_secret: secret };
	return tasks.map(({ webhook_secret: ownSecret, ...task }) => {
		const isFirst = taskIdOf(task) === own;
		const ofTask = isBlank(ownSecret) ? {} : { webhook_secret: ownSecret };
		return {
			...(isFirst ? others : withoutIdOrStatus(others)),
			...task,
			...((isFirst || isShared) && !isRefused(task) && ofRequest),
			...ofTask,
		};
	});
}

/** The name of a list with the task that has this id, and with others. */
function nameOfListWith(answer: IDataObject, own: string): string | undefined {
	return SUBMISSION_LIST_NAMES.find((name) => {
		const list: unknown = answer[name];
		if (!Array.isArray(list)) return false;
		const ids = list.map(idOfElement);
		const hasMore = list.some(
			(element, at) => (ids[at] ?? own) !== own || isTaskWithoutId(element),
		);
		return ids.includes(own) && hasMore;
	});
}

/** The object in an answer that holds the list of tasks, and what stands beside this object. */
function wrapperOf(
	answer: IDataObject,
	nameOfList: (inner: IDataObject) => string | undefined,
): { inner: IDataObject; beside: IDataObject } | undefined {
	for (const name of SUBMISSION_NAMES) {
		const { [name]: inner, ...beside } = answer;
		if (isObject(inner) && nameOfList(inner) !== undefined) return { inner, beside };
	}
	return undefined;
}

/** Whether an element of a list is a task that has no id yet, or was refused. Remarks have no status and no field for an id. */
function isTaskWithoutId(element: unknown): boolean {
	if (!isObject(element) || hasId(element)) return false;
	const hasField = ID_NAMES.some((name) => name in element);
	return hasField || isRefused(element) || isInProgress(statusIn(element.status));
}

function idOfElement(element: unknown): string | undefined {
	const [task] = objectsIn(element).map((one) => submissionIn(one, 'link'));
	return task && taskIdOf(task);
}

function withoutIdOrStatus(answer: IDataObject): IDataObject {
	const dropped = [...ID_NAMES, 'bot_id', 'status'];
	return Object.fromEntries(Object.entries(answer).filter(([name]) => !dropped.includes(name)));
}

function listNameIn(answer: IDataObject): string | undefined {
	// Beside a task, a list without ids holds remarks.
	const named = [answer, ...SUBMISSION_NAMES.map((name) => answer[name])];
	const isOne = named.some((one) => hasId(one) || isBareId(one));
	return SUBMISSION_LIST_NAMES.find((name) => {
		const list: unknown = answer[name];
		if (!Array.isArray(list)) return false;
		return list.some((one) => hasId(one) || isBareId(one) || (!isOne && isRefused(one)));
	});
}

/** Whether an element of the answer to a submit says that the service did not accept it. */
export function isRefused(element: unknown): boolean {
	if (!isObject(element) || hasId(element)) return false;
	const { error, detail, status } = element;
	if (isInProgress(statusIn(status))) return false;
	const isSaid = [error, detail].some((words) => words && !isBlank(words));
	return isSaid || saysNo(element) || /^(failed|rejected|refused|denied)$/i.test(String(status));
}

/**
 * Whether the only answer to a submit says that it was not accepted. That is never certain: a service may
 * report a fault in this way that it had after it began.
 */
export function saysNotAccepted(answer: IDataObject): boolean {
	return isRefused(answer) || (saysNo(answer) && !isInProgress(answer.status));
}

/**
 * The answer to a submit with the id in the documented field: the service may also send a bare id,
 * or the id one level down. Leaves other answers unchanged.
 */
function submissionIn(answer: IDataObject, kind: SubmissionKind): IDataObject {
	const ofId = (id: IDataObject[string]) => (kind === 'bot' ? { bot_id: id } : { task_id: id });
	// A text may end with a line end.
	const value = typeof answer.value === 'string' ? answer.value.trim() : answer.value;
	if (Object.keys(answer).length === 1 && isBareId(value)) return ofId(value);
	if (hasDocumentedId(answer)) return answer;
	// A plain `id` at the top level may be the id of the request.
	const own =
		SUBMISSION_NAMES.find((one) => hasDocumentedId(answer[one])) ??
		SUBMISSION_NAMES.find((one) => !hasId(answer) && (hasId(answer[one]) || isBareId(answer[one])));
	const name = own ?? WRAPPERS.find((one) => isEnvelope(answer) && hasId(answer[one]));
	if (name === undefined) return answer;
	const { [name]: found, ...others } = answer;
	const { id: _, ...withoutRequest } = others;
	const rest = own !== undefined ? others : withoutRequest;
	return { ...rest, ...(isObject(found) ? found : ofId(found)) };
}

/**
 * The body of a delivery, with the task or bot that it names at the top: like an answer, it may have
 * them under one of {@link SUBMISSION_NAMES}. Fields beside that are kept.
 */
export function deliveredIn(body: IDataObject): IDataObject {
	const name = SUBMISSION_NAMES.find((one) => hasDocumentedId(body[one]));
	if (name === undefined || hasDocumentedId(body)) return body;
	const { [name]: found, ...rest } = body;
	return { ...rest, ...(found as IDataObject) };
}

/** Names for the task or bot itself, and not for a thing beside it. */
const WRAPPERS = ['data', 'task', 'result'] as const;

/** Whether a plain `id` beside a task or bot is that of the request: JSON-RPC, or a status of the request. */
function isEnvelope({ jsonrpc, status }: IDataObject): boolean {
	return jsonrpc !== undefined || (typeof status === 'string' && isOfRequest(status));
}

function hasDocumentedId(value: unknown): boolean {
	return isObject(value) && [value.task_id, value.bot_id].some(idIn);
}

function hasId(value: unknown): boolean {
	return hasDocumentedId(value) || (isObject(value) && ID_NAMES.some((name) => idIn(value[name])));
}

/** A word such as "accepted" is no id, so an id must have a digit. */
function isBareId(value: unknown): boolean {
	return (
		(typeof value === 'number' && idIn(value) !== undefined) ||
		(typeof value === 'string' && /^(?=.*\d)[\w.:-]{1,128}$/.test(value))
	);
}

/**
 * The state in an answer of GET /tasks/{id} or GET /meeting/{bot_id}, with the status as {@link
 * statusIn} reads it. Like the answer to a submit, the state may be the answer itself or under one of
 * {@link SUBMISSION_NAMES}, and in a list. Fields beside it are kept. In a list of several, only the
 * task or bot with this id counts.
 */
export function stateIn(answer: unknown, id: string): IDataObject {
	const own = objectWithId(answer, id);
	const states = SUBMISSION_NAMES.map((name) => ({ name, state: objectWithId(own[name], id) }));
	const found =
		states.find(({ state }) => carriesId(state, id)) ??
		states.find(({ state }) => hasDocumentedId(state)) ??
		states.find(({ state }) => typeof state.status === 'string');
	if (!found || isStateItself(own, found, id)) return withStatus(own);
	const { [found.name]: _, ...rest } = own;
	return withStatus({ ...rest, ...found.state });
}

/** The element of a list that has the id, or else the only one; an object itself; else `{}`. */
function objectWithId(value: unknown, id: string): IDataObject {
	const all = Array.isArray(value) ? value.filter(isObject) : [value];
	const named = all.find((one) => carriesId(one, id));
	const [only, ...others] = all;
	const one = named ?? (others.length > 0 ? undefined : only);
	return isObject(one) ? one : {};
}

function carriesId(value: unknown, id: string): boolean {
	return isObject(value) && ['bot_id', ...ID_NAMES].some((name) => idIn(value[name]) === id);
}

/** An object in an answer that looks like the state of a task or bot. */
interface FoundState {
	name: string;
	state: IDataObject;
}

/** Names of objects that stand beside the state of a task, and rarely around it. */
const OTHER_THINGS = ['bot', 'meeting', 'item'];

/** What an envelope says about the request: a code, or one of these words (JSend and others). */
function isOfRequest(status: unknown): boolean {
	return typeof status !== 'string' || /^\s*(ok|success|successful|fail|error)\s*$/i.test(status);
}

/**
 * Whether an answer is the state itself, although one of its objects looks like a state as well. Beside
 * another thing, such as the meeting of a task, an answer with the requested id and any status of its
 * own is. But the answer may be an envelope with a status and a plain `id` of the request, so otherwise
 * a status has to be documented, and an id counts as in the answer to a submit.
 */
function isStateItself(own: IDataObject, found: FoundState, id: string): boolean {
	const { name, state: inner } = found;
	const hasStatus = (own.status ?? '') !== '';
	const isAnother = OTHER_THINGS.includes(name) || hasDocumentedId(inner);
	if (hasStatus && isAnother && !carriesId(inner, id)) {
		const [isNamed, isOther] = [carriesId(own, id), hasId(inner)];
		if (isOfRequest(own.status) ? isNamed && isOther : isNamed || isOther) return true;
	}
	const isBot = own.bot_id !== undefined;
	const tells = hasStatus && (isBot || !isUnknownStatus(statusIn(own.status)));
	if (hasDocumentedId(own)) return tells || typeof inner.status !== 'string';
	return tells && (hasId(own) ? !hasDocumentedId(inner) : !hasId(inner));
}
