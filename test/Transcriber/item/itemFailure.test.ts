/** "Errors" in the contract: what a failed item says, as the error of the node, as an output, and to an AI agent. */
import type { INodeParameters } from 'n8n-workflow';

import { describeFailure } from '../../../nodes/Transcriber/item/itemFailure';
import { NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { callTool } from '../../support/agent';
import { itemContext } from '../../support/itemContext';
import { LINK } from '../../support/parameters';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

const GET: INodeParameters = {
	resource: 'task',
	operation: 'get',
	taskId: byId('={{ $json.id }}'),
};
const LINK_WITHOUT_URL = { ...LINK, url: '={{ "" }}' };
const CONTINUE = { node: { onError: 'continueRegularOutput' as const } };
const SILENT = { detail: { error_code: 'no_sound', message: 'The file has no sound track' } };

const refuses = (path: string, status: number, body: Record<string, unknown> = SILENT) =>
	service.running().fault({ match: { path }, action: { kind: 'respond', status, body } });

describe.each(['continueErrorOutput', 'continueRegularOutput'] as const)(
	'with On Error %s, the output says what the service answered',
	(onError) => {
		it.each([400, 403, 409, 415, 422])('HTTP %i', async (status) => {
			const body = { detail: { error_code: 'no_sound', message: 'The file has no sound track' } };
			service.running().fault({
				match: { path: '/transcribe-url$' },
				action: { kind: 'respond', status, body },
			});
			const { outputs } = await service.run(LINK, { node: { onError } });
			const [item] = outputs.flat();
			expect(item?.json['error']).toMatch(/The file has no sound track/);
			expect(item?.json['error']).toMatch(/ \[item 0\]$/);
		});
	},
);

describe('an error that stops the node', () => {
	it('is titled in plain words, and leaves what the service said to its description', async () => {
		refuses('/transcribe-url$', 422);
		const { error } = await service.run(LINK);
		expect(error?.message).not.toContain('sound track');
		expect(error?.description).toContain('The file has no sound track');
	});

	it('names its item, also for n8n', async () => {
		const known = await service.pendingTask();
		const { error } = await service.run(GET, { items: itemsOf({ id: known }, { id: 'lost' }) });
		expect(error?.message).toMatch(/ \[item 1\]$/);
		expect(error?.context).toMatchObject({ itemIndex: 1 });
	});

	it.each([
		['a parameter', { ...LINK, url: 'ENOTFOUND' }, /'URL' .*\[item 0\]$/],
		['a file', { ...LINK, operation: 'transcribeFile' }, /\[item 0\]$/],
	])('keeps its message about %s, whatever words are in it', async (_, parameters, words) => {
		const { error } = await service.run(parameters as INodeParameters);
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toMatch(words);
		expect(error?.httpCode).toBe('none');
	});

	it.each([
		['where n8n has no signal of a stop, as for an MCP client', undefined],
		['where nobody has stopped the execution', new AbortController().signal],
	])('keeps the words of n8n itself %s', (_where, cancel) => {
		const context = itemContext(LINK, { cancel });
		const failure = describeFailure(context, new Error('The storage is full'), NodeRun.of(context));
		expect(failure.name).toBe('NodeOperationError');
		expect(failure.message).toBe('The storage is full [item 0]');
	});

	it('lets n8n offer a Retry, which it does not if the message has the word canceled', async () => {
		const body = { task_id: 'a', status: 'failed', error_message: 'it was canceled' };
		service.running().fault({
			match: { path: '/tasks/a$' },
			action: { kind: 'respond', status: 200, body },
		});
		const wait = { ...GET, operation: 'wait' };
		const { error } = await service.run(wait, { items: itemsOf({ id: 'a' }) });
		expect(error?.message).toContain('it was cancelled');
		expect(`${error?.message}`).not.toContain('canceled');
	});

	it('says that the execution was cancelled, and what the service had accepted by then', async () => {
		const isWaiting = () => service.lines().length > 2;
		const { error } = await service.run(
			{ ...LINK, onCompletion: 'poll' },
			{ cancelWhen: isWaiting },
		);
		const [id] = service
			.running()
			.tasks()
			.map((task) => task.id);
		expect(error?.message).toBe(
			`The execution was cancelled (task ${id} was accepted by the service) [item 0]`,
		);
	});
});

describe('a failed item that is an output', () => {
	it('has the message, and the error for the error output', async () => {
		const { items } = await service.run(GET, { ...CONTINUE, items: itemsOf({ id: 'lost' }) });
		expect(items).toMatchObject([{ json: { error: expect.stringMatching(/\[item 0\]$/) } }]);
		expect(Object.keys(items[0]?.json ?? {})).toEqual(['error']);
		expect(items[0]?.pairedItem).toEqual({ item: 0 });
	});

	it("has the error as a plain object, because n8n's expressions cannot read a list with an Error in it", async () => {
		const { items } = await service.run(GET, { items: itemsOf({ id: 'lost' }), ...CONTINUE });
		const [{ error } = {}] = items;
		expect(error).toEqual({
			name: 'NodeApiError',
			message: expect.stringMatching(/ \[item 0\]$/),
			description: expect.stringContaining("Check the 'Task'"),
			context: { itemIndex: 0 },
			httpCode: '404',
		});
		expect(Object.getPrototypeOf(error)).toBe(Object.prototype);
		const { items: refused } = await service.run(LINK_WITHOUT_URL, CONTINUE);
		expect(Object.getPrototypeOf(refused[0]?.error)).toBe(Object.prototype);
		expect(refused[0]?.error).not.toHaveProperty('httpCode');
	});

	it('is tried again by Retry On Fail, because n8n looks for its message', async () => {
		refuses('/transcribe-url$', 422);
		const node = { ...CONTINUE.node, retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { json } = await service.run(LINK, { node });
		expect(json).toMatchObject([{ status: 'pending' }]);
		expect(service.lines()).toHaveLength(2);
	});

	it('names what was accepted, once', async () => {
		const waitOptions = { pollInterval: 0.05, timeout: 0.002 };
		const { items } = await service.run({ ...LINK, onCompletion: 'poll', waitOptions }, CONTINUE);
		const [id = ''] = service
			.running()
			.tasks()
			.map((task) => task.id);
		const message = String(items[0]?.json['error']);
		expect(message.split(id)).toHaveLength(2);
	});

	it('says once that the service has accepted something without an id', async () => {
		service.running().fault({
			match: { path: '/transcribe-url$' },
			action: { kind: 'respond', status: 200, body: {} },
		});
		const { items } = await service.run(LINK, CONTINUE);
		expect(String(items[0]?.json['error']).match(/accepted/g)).toHaveLength(1);
		expect(items[0]?.json['error']).not.toContain('by the service)');
	});

	it('does not say twice what the service said', async () => {
		refuses('/transcribe-url$', 422);
		const { items } = await service.run(LINK, CONTINUE);
		expect(String(items[0]?.json['error']).split('sound track')).toHaveLength(2);
	});

	it('says no more where its message says enough', async () => {
		const body = { detail: { error_code: 'not_found', message: 'Nothing under this number' } };
		refuses('/tasks/lost$', 404, body);
		const { items } = await service.run(GET, { ...CONTINUE, items: itemsOf({ id: 'lost' }) });
		expect(items[0]?.json['error']).toBe('The service has no task with this ID [item 0]');
	});

	it('says the error code of the service, where there is no message', async () => {
		refuses('/transcribe-url$', 422, { detail: { error_code: 'no_sound' } });
		const { items } = await service.run(LINK, CONTINUE);
		expect(items[0]?.json['error']).toContain('no_sound');
	});

	it('says nothing more where the service said nothing', async () => {
		refuses('/transcribe-url$', 422, {});
		const { items } = await service.run(LINK, CONTINUE);
		expect(items[0]?.json['error']).toMatch(/[a-z] \[item 0\]$|\. \[item 0\]$/);
		expect(items[0]?.json['error']).not.toMatch(/undefined|\.\./);
	});
});

describe('to an AI agent', () => {
	it('a failure is an answer that says what to do, with On Error as the user has set it', async () => {
		for (const node of [{}, CONTINUE.node]) {
			refuses('/transcribe-url$', 422);
			const credentials = service.credentials();
			const [answer = ''] = await callTool({ credentials, parameters: LINK, calls: [{}], node });
			const [{ error, what_to_do: next }] = JSON.parse(answer) as [Record<string, string>];
			expect(error).toMatch(/\[item 0\]$/);
			expect(error).not.toContain('sound track');
			expect(next).toContain('The file has no sound track');
		}
	});
});
