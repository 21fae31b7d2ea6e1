/** What this process remembers for the Retries of an execution. */
import {
	beganInRetry,
	firstExecutionOf,
	recallRetried,
	rememberRetried,
} from '../../../../nodes/Transcriber/submit/once/submittedByOtherRetry';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

it('is found by the parameters of a tool call, which it does not keep: a link may hold a passcode', () => {
	const context = itemContext(LINK, { executionId: '42', mode: 'retry', resumeToken: 'of 41' });
	const place = JSON.stringify(['https://meet.example.com/j/1?pwd=passcode']);
	const set = jest.spyOn(Map.prototype, 'set');
	rememberRetried(context, place, { taskId: '7f3c' });
	const keys = set.mock.calls.map(([key]) => String(key));
	set.mockRestore();
	expect(recallRetried(context, place)).toEqual({ taskId: '7f3c' });
	expect(recallRetried(context, '[]')).toBeUndefined();
	expect(keys.filter((key) => /^[\w-]{43}$/.test(key))).toHaveLength(1);
	expect(keys.join()).not.toContain('passcode');
});

const TOKEN = 'made up by n8n 2 for execution 41';

/** The node in execution 41, in which n8n has kept nothing of it so far. */
const first = (place: ItemPlace = {}) =>
	itemContext(LINK, { saved: {}, executionId: '41', resumeToken: TOKEN, ...place });
/** In a Retry of it, with what n8n had kept of the node. */
const retry = (executionId: string, place: ItemPlace = {}) =>
	first({ executionId, mode: 'retry', ...place });

describe('The first execution of a node', () => {
	it('is the same for its Retries in n8n 2, also if n8n has kept nothing of the node', () => {
		const of41 = firstExecutionOf(first());
		expect(firstExecutionOf(retry('42'))).toBe(of41);
		expect(firstExecutionOf(retry('43'))).toBe(of41);
		expect(firstExecutionOf(first({ resumeToken: 'of another execution' }))).not.toBe(of41);
	});

	it('is known by its id in n8n 1, as long as n8n has kept data of the node', () => {
		const resumeToken = '';
		const place = { resumeToken, saved: {} };
		expect(firstExecutionOf(first(place))).toBe('41');
		expect(firstExecutionOf(retry('42', place))).toBe('41');
		expect(firstExecutionOf(retry('42', { resumeToken }))).toBe('42');
	});
});

describe('A run of the node began in a Retry', () => {
	it.each([TOKEN, ''])('if n8n has kept nothing of it (token: %s)', (resumeToken) => {
		expect(beganInRetry(retry('42', { resumeToken }))).toBe(true);
	});

	it.each([TOKEN, ''])('but not if n8n has kept data of it (token: %s)', (resumeToken) => {
		const place = { resumeToken, saved: {} };
		firstExecutionOf(first(place));
		expect(beganInRetry(first(place))).toBe(false);
		expect(beganInRetry(retry('42', place))).toBe(false);
	});

	it('if n8n has kept data of the runs before it only: the crash came in a later round of a loop', () => {
		const place = { saved: {} };
		firstExecutionOf(first(place));
		expect(beganInRetry(retry('42', { ...place, runIndex: 1 }))).toBe(true);
		expect(beganInRetry(retry('43', { ...place, runIndex: 1 }))).toBe(true);
		expect(beganInRetry(retry('43', place))).toBe(false);
	});

	it('if an earlier version has kept data of the node, which does not say how its runs began', () => {
		const saved = { lineage: { id: 'one', firstExecution: '41', executionId: '41' } };
		expect(beganInRetry(retry('42', { saved }))).toBe(true);
	});
});

describe('What a Retry has submitted', () => {
	const memory = { state: 'sent' };
	let token = 0;
	/** Another execution for each test, because the process remembers. */
	const another = (): ItemPlace => ({ resumeToken: `of execution ${++token}` });

	it('is known to the next Retry of the first execution, which has only the data of that', () => {
		const place = another();
		rememberRetried(retry('42', place), '0:0', memory);
		expect(recallRetried(retry('43', place), '0:0')).toBe(memory);
		expect(recallRetried(retry('43', place), '0:1')).toBeUndefined();
		expect(recallRetried(retry('43', another()), '0:0')).toBeUndefined();
		expect(recallRetried(retry('43', { ...place, node: { id: 'b' } }), '0:0')).toBeUndefined();
	});

	it('is gone when it is forgotten', () => {
		const place = another();
		rememberRetried(retry('42', place), '0:0', memory);
		rememberRetried(retry('42', place), '0:0', undefined);
		expect(recallRetried(retry('43', place), '0:0')).toBeUndefined();
	});

	it('is not kept of the first execution itself, whose data n8n saves', () => {
		const place = another();
		rememberRetried(first(place), '0:0', memory);
		expect(recallRetried(retry('42', place), '0:0')).toBeUndefined();
	});

	it('in n8n 1 is known to the next Retry if n8n had kept data of the node', () => {
		const place = { resumeToken: '', saved: {} };
		firstExecutionOf(first(place));
		const copy = () => ({ ...place, saved: structuredClone(place.saved) });
		rememberRetried(retry('42', copy()), '0:0', memory);
		expect(recallRetried(retry('43', copy()), '0:0')).toBe(memory);
	});

	it('is not taken for that of an execution of a new n8n 1, which counts from 1 again', () => {
		const resumeToken = '';
		const [old, fresh] = [{}, {}].map((kept) => ({ resumeToken, saved: kept }));
		for (const place of [old, fresh]) firstExecutionOf(first(place));
		rememberRetried(retry('42', old), '0:0', memory);
		expect(recallRetried(retry('42', fresh), '0:0')).toBeUndefined();
	});

	it('in n8n 1 is not kept of the Retry in which the node began, only of those after it', () => {
		const place = { resumeToken: '', saved: {} };
		rememberRetried(retry('42', place), '0:0', memory);
		expect(recallRetried(retry('42', place), '0:0')).toBeUndefined();
		rememberRetried(retry('43', place), '0:0', memory);
		expect(recallRetried(retry('44', place), '0:0')).toBe(memory);
	});
});
