// Also covers credential.ts.

import { Workflow } from 'n8n-workflow';

import { TranscriberApi } from '../../../credentials/TranscriberApi.credentials';
import { API_ROOT_EXPRESSION, apiRoot, pasted } from '../../../nodes/shared/api/baseUrl';
import { queueFor } from '../../../nodes/shared/api/waitForTurn';
import { testCredential } from '../../support/engine';
import { EVERY_OPERATION, WITH_SUMMARY_REGENERATION } from '../../support/everyOperation';
import { byId, failureOf, serviceForTests } from '../../support/service';
import { startSimulator, type Simulator } from '../../simulator/index';
import { ACCOUNT } from '../../support/parameters';
import { few } from '../../support/long';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);

const WAYS_TO_WRITE_IT = [
	'',
	'/',
	'//',
	'/api/v1',
	'/api/v1//',
	' ',
	'/api/v1 ',
	'\u200b\r\n',
	'\ufeff',
];

describe('Base URL', () => {
	few.it.each(WAYS_TO_WRITE_IT)('may end in "%s"', async (end) => {
		const credentials = service.credentials({ baseUrl: service.running().url + end });
		const { error } = await service.run(ACCOUNT, { credentials });
		expect(error).toBeUndefined();
		expect(service.lines()).toEqual(['GET /api/v1/account']);
	});

	few.it.each(WAYS_TO_WRITE_IT)('may end in "%s", also for what follows a submit', async (end) => {
		const credentials = service.credentials({ baseUrl: service.running().url + end });
		const id = await service.completedTask();
		const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
		const { error } = await service.run(wait, { credentials });
		expect(error).toBeUndefined();
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`, `GET /api/v1/tasks/${id}/result`]);
	});

	few.it.each([
		['transcriber.example.com', 'https://transcriber.example.com/api/v1'],
		['\ufefftranscriber.example.com/api/v1/\n', 'https://transcriber.example.com/api/v1'],
		['//transcriber.example.com', 'https://transcriber.example.com/api/v1'],
		['localhost:8443', 'https://localhost:8443/api/v1'],
		['https://transcriber.example.com//api/v1', 'https://transcriber.example.com/api/v1'],
		['transcriber.example.com/a:b', 'https://transcriber.example.com/a:b/api/v1'],
		['127.0.0.1:8443/proxy', 'https://127.0.0.1:8443/proxy/api/v1'],
		['HTTP://Transcriber.example.com', 'HTTP://Transcriber.example.com/api/v1'],
		['ftp://transcriber.example.com', 'ftp://transcriber.example.com/api/v1'],
		['', '/api/v1'],
		[undefined, '/api/v1'],
	])('"%s" means "%s", in the node and in the credential alike', (baseUrl, root) => {
		expect(apiRoot(baseUrl)).toBe(root);
		expect(evaluated(API_ROOT_EXPRESSION, { baseUrl })).toBe(root);
	});

	it('may be without https://, for every way the node sends a request', async () => {
		const baseUrl = service.running().url.replace('http://', '');
		const credentials = service.credentials({ baseUrl });
		const wait = { resource: 'task', operation: 'wait', taskId: byId('7f3c') };
		for (const parameters of [ACCOUNT, wait]) {
			const { error } = await service.run(parameters, { credentials });
			// The simulator speaks no TLS, so this shows that https was tried.
			expect(error?.message).toMatch(/^No secure connection to the service can be made/);
		}
	});

	it('may have a path in front of /api/v1', async () => {
		const credentials = service.credentials({ baseUrl: `${service.running().url}/proxy/` });
		await service.run(ACCOUNT, { credentials });
		expect(service.lines()).toEqual(['GET /proxy/api/v1/account']);
	});
});

it.each([undefined, null])('a field of the credential that is missing (%s) is blank', (field) => {
	expect(pasted(field)).toBe('');
});

describe('the credential test', () => {
	few.it.each(WAYS_TO_WRITE_IT)(
		'asks GET /api/v1/account, for a Base URL that ends in "%s"',
		async (end) => {
			const baseUrl = service.running().url + end;
			const { error } = await testCredential(service.credentials({ baseUrl }));
			expect(error).toBeUndefined();
			expect(service.sent()).toMatchObject({
				method: 'GET',
				path: '/api/v1/account',
				query: {},
				bodyBytes: 0,
			});
			expect(service.sent().headers['x-api-key']).toBe('test-api-key');
		},
	);

	it('fails for a key that the service does not accept', async () => {
		const { error } = await testCredential(service.credentials({ apiKey: 'wrong' }));
		expect(error).toMatchObject({ httpCode: '401' });
	});

	const rules = new TranscriberApi().test.rules ?? [];

	/** What n8n's credential test says of an answer with a status of success: its own reading of the rules. */
	const { get } = jest.requireActual<{ get: (from: unknown, key: string) => unknown }>('lodash');
	const verdictOn = async (body: unknown) => {
		service.running().fault({
			match: { path: '/account$' },
			action: { kind: 'respond', status: 200, body },
		});
		const { json } = await testCredential(service.credentials());
		return rules.find(
			({ type, properties }) =>
				type === 'responseSuccessBody' && get(json[0], properties.key) === properties.value,
		)?.properties.message;
	};

	it.each(['<html>Welcome</html>', '\n\n<!DOCTYPE html>', 'OK', '"OK"', '{ "cut": '])(
		'fails for an answer that is no account: %j',
		async (body) => {
			expect(await verdictOn(body)).toContain('Something other than the service answered');
		},
	);

	it.each<object>([{ balance: 1000 }, { 0: '<', trim: true }, {}])(
		'succeeds for an object, whatever its fields: %j',
		async (body) => {
			expect(await verdictOn(body)).toBeUndefined();
		},
	);

	it.each<[number, string]>([
		[401, 'The service does not accept the API key'],
		[404, 'There is no such service at this address'],
		...[301, 302, 307, 308].map((status): [number, string] => [
			status,
			'This address forwards to another one',
		]),
	])('says what is wrong where the answer is %d', async (status, words) => {
		service.running().fault({
			match: { path: '/account$' },
			// n8n tries once more after a 401.
			times: 2,
			action: { kind: 'respond', status, body: {} },
		});
		const { error } = await testCredential(service.credentials());
		const rule = rules.find(
			({ type, properties }) =>
				type === 'responseCode' && String(properties.value) === error?.httpCode,
		);
		expect(rule?.properties.message).toContain(words);
	});

	it('fails for a redirect', async () => {
		service.running().fault({
			match: { path: '/account$' },
			action: { kind: 'redirect', status: 302, location: '/api/v1/tasks' },
		});
		const { error } = await testCredential(service.credentials());
		expect(error).toBeDefined();
		expect(service.lines()).toEqual(['GET /api/v1/account']);
	});
});

describe('the API key', () => {
	const PASTED = [
		'test-api-key\n',
		'\r\n test-api-key\t',
		'\ufefftest-api-key\u200b',
		'\u00a0test-api-key\u2028',
	];

	few.it.each(PASTED)('may be pasted with invisible characters around it: %j', async (apiKey) => {
		const credentials = service.credentials({ apiKey });
		const { error } = await testCredential(credentials);
		expect(error).toBeUndefined();
		const id = await service.completedTask();
		const wait = { resource: 'task', operation: 'wait', taskId: byId(id) };
		for (const parameters of [ACCOUNT, wait]) {
			expect((await service.run(parameters, { credentials })).error).toBeUndefined();
		}
		for (const { headers } of service.running().requests) {
			expect(headers['x-api-key']).toBe('test-api-key');
		}
	});

	few.it.each(PASTED)(
		'is masked in what the service repeats of it, and counted as one key: %j',
		async (apiKey) => {
			const taken = jest.spyOn(queueFor('test-api-key', 'other'), 'take').mockClear();
			service.running().fault({
				match: { path: '/account$' },
				action: { kind: 'respond', status: 200, body: { note: 'key test-api-key is used' } },
			});
			const { json } = await service.run(ACCOUNT, { credentials: service.credentials({ apiKey }) });
			expect(json).toEqual([{ note: 'key *** is used' }]);
			expect(taken).toHaveBeenCalledTimes(1);
			taken.mockRestore();
		},
	);

	it.each(['', '  ', '\n', '\u200b'])('that is blank is refused by name: %j', async (apiKey) => {
		const { error } = await service.run(ACCOUNT, { credentials: service.credentials({ apiKey }) });
		expect(error).toMatchObject(failureOf(0, "The 'API Key' of the credential is empty"));
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		'test\napi-key',
		'test-аpi-key',
		'test\u200bapi-key',
		'test-api-key…',
		'test\u0000key',
	])('that no header can hold is refused by name and never shown: %j', async (apiKey) => {
		const credentials = service.credentials({ apiKey });
		for (const { parameters, input } of EVERY_OPERATION) {
			const items = [await input(service)];
			const { error } = await service.run(parameters, { items, credentials });
			expect(error).toMatchObject(
				failureOf(0, "The 'API Key' of the credential has characters that no API key can have"),
			);
			expect(JSON.stringify([error?.message, error?.description])).not.toContain(apiKey);
		}
		expect(service.lines()).toEqual([]);
	});

	few.it.each(EVERY_OPERATION)(
		'is in X-API-Key and nowhere else: $name',
		async ({ parameters, input }) => {
			const items = [await input(service)];
			const { error } = await service.run(parameters, { items });
			expect(error).toBeUndefined();
			expect(service.lines()).not.toEqual([]);
			for (const { headers, rawHeaders, path, query, body } of service.running().requests) {
				expect(headers['x-api-key']).toBe('test-api-key');
				expect(rawHeaders.filter((value) => value.includes('test-api-key'))).toHaveLength(1);
				expect(JSON.stringify({ path, query, body })).not.toContain('test-api-key');
			}
		},
	);
});

function evaluated(expression: string, $credentials: Record<string, unknown>): unknown {
	const workflow = new Workflow({
		nodes: [],
		connections: {},
		active: false,
		nodeTypes: {} as never,
	});
	return workflow.expression.getSimpleParameterValue({} as never, expression, 'internal', {
		$credentials,
	} as never);
}

describe('redirects are never followed', () => {
	let elsewhere: Simulator | undefined;
	beforeAll(async () => {
		elsewhere = await startSimulator();
	});
	afterAll(async () => await elsewhere?.close());

	const REDIRECTED =
		'The service answered with a redirect, which is not followed to keep the API key safe';
	const redirect = (status: number) =>
		service.running().fault({
			match: {},
			times: 10,
			action: { kind: 'redirect', status, location: `${elsewhere?.url}/api/v1/account` },
		});

	few.it.each([301, 302, 303, 307, 308])('HTTP %d is an error', async (status) => {
		redirect(status);
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject(failureOf(0, REDIRECTED));
		expect(service.lines()).toHaveLength(1);
		expect(elsewhere?.requests).toEqual([]);
	});

	few.it.each(EVERY_OPERATION)('$name', async ({ parameters, input }) => {
		const items = [await input(service)];
		redirect(307);
		const { error } = await service.run(parameters, { items });
		expect(error).toMatchObject(failureOf(0, REDIRECTED));
		expect(service.lines()).toHaveLength(1);
		expect(elsewhere?.requests).toEqual([]);
	});

	it('the credential test', async () => {
		redirect(307);
		const { error } = await testCredential(service.credentials());
		expect(error).toBeDefined();
		expect(elsewhere?.requests).toEqual([]);
	});
});

describe('ids are URL-encoded in paths', () => {
	const STRANGE = 'a/b?c#d %2e&ö';
	const ENCODED = 'a%2Fb%3Fc%23d%20%252e%26%C3%B6';
	const PATHS = [
		['task.get', 'GET /api/v1/tasks/{id}'],
		['task.getResult', 'GET /api/v1/tasks/{id}/result'],
		['task.export', 'GET /api/v1/tasks/{id}/export'],
		['task.cancel', 'POST /api/v1/tasks/{id}/cancel'],
		['task.regenerateSummary', 'POST /api/v1/tasks/{id}/summary'],
		['task.wait', 'GET /api/v1/tasks/{id}'],
		['meeting.get', 'GET /api/v1/meeting/{id}'],
		['meeting.cancel', 'DELETE /api/v1/meeting/{id}'],
	] as const;
	const parametersOf = (name: string) =>
		EVERY_OPERATION.find((example) => example.name === name)?.parameters ?? {};

	few.it.each(PATHS)('%s', async (name, line) => {
		await service.run(parametersOf(name), { items: [{ json: { id: STRANGE } }] });
		expect(service.lines()[0]).toBe(line.replace('{id}', ENCODED));
	});

	few.it.each(PATHS)('%s takes a number as well', async (name, line) => {
		await service.run(parametersOf(name), { items: [{ json: { id: 4711 } }] });
		expect(service.lines()[0]).toBe(line.replace('{id}', '4711'));
	});

	few.it.each(PATHS.flatMap(([name]) => ['.', '..', ' .. '].map((id) => [name, id])))(
		'%s refuses the id "%s", which would be another path',
		async (name, id) => {
			const { error } = await service.run(parametersOf(name), { items: [{ json: { id } }] });
			const parameter = name.startsWith('meeting') ? 'Bot ID' : 'Task';
			expect(error).toMatchObject(
				failureOf(0, `The parameter '${parameter}' is not an id: '${id.trim()}'`),
			);
			expect(service.lines()).toEqual([]);
		},
	);

	it('an id that the service gave is encoded as well', async () => {
		service.running().fault({
			match: { path: '/transcribe-url$' },
			action: { kind: 'respond', status: 200, body: { task_id: '../x?y', status: 'pending' } },
		});
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://files.example.com/talk.mp3',
			onCompletion: 'poll',
			waitOptions: { pollInterval: 0.05 },
		};
		// The service has no task with this ID, which the node believes after two minutes only.
		await service.run(parameters, { cancelWhen: () => service.lines().length > 1 });
		expect(service.lines().slice(0, 2)).toEqual([
			'POST /api/v1/transcribe-url',
			'GET /api/v1/tasks/..%2Fx%3Fy',
		]);
	});
});
