/** A service may replace the dictionary, and then report a fault in a success: what is gone must be named. */
// Also covers sync.ts, lostWrites.ts.

import type { INode } from 'n8n-workflow';

import { captureLogs } from '../../../support/logs';
import { giveUpSoon } from '../../../support/scale';
import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();
const SYNC = {
	resource: 'dictionary',
	operation: 'sync',
	terms: '={{ $json.term }}',
	mode: 'replace',
};
const OLD = ['Kubernetes', 'Anna Petrova'];

async function synced(body: string, node: Partial<INode>) {
	await service.ask('PUT /dictionary', { json: { terms: OLD } });
	const action = { kind: 'garble', body, status: 200 } as const;
	service.running().fault({ match: { method: 'PUT' }, action });
	return await service.run(SYNC, { items: itemsOf({ term: 'OKR' }, { term: 'SLA' }), node });
}

describe.each([
	'{"status":"error","message":"Timeout while the index was rebuilt"}',
	'{"error":"timeout"}',
	'{"success":false,"error":"fatal_error"}',
])('After %s', (body) => {
	it('the error of a node that stops names them', async () => {
		const { error } = await synced(body, {});
		expect(service.running().terms()).toEqual(['OKR', 'SLA']);
		for (const term of OLD) expect(error?.description).toContain(term);
	});

	it('the output of a node that goes on names them', async () => {
		const { json } = await synced(body, { onError: 'continueRegularOutput' });
		for (const term of OLD) expect(json[0]?.error).toContain(term);
	});

	it('the next try of Retry On Fail outputs them as removed', async () => {
		const { json } = await synced(body, { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 });
		expect(json[0]).toMatchObject({ changed: true, removed: OLD });
	});
});

it.each<[string, object]>([
	['replace', { status: 409, body: { detail: 'Dictionary is being updated' } }],
	['add', { status: 409, body: { detail: 'Dictionary is being updated' } }],
	['sync', { status: 413, body: { detail: 'Too large' } }],
])(
	'%s does not say that nothing was done if the answer to an earlier attempt was lost',
	async (operation, refusal) => {
		await service.ask('PUT /dictionary', { json: { terms: OLD } });
		const match = { method: operation === 'add' ? 'POST' : 'PUT' };
		service.running().fault({ match, times: 1, action: { kind: 'cut', when: 'afterProcessing' } });
		service.running().fault({
			match,
			times: 99,
			action: { kind: 'respond', status: 409, ...refusal, readBody: true },
		});
		const { error } = await service.run(
			{ ...SYNC, operation, terms: 'OKR' },
			{ items: itemsOf({}) },
		);
		expect(service.running().terms()).toContain('OKR');
		expect(error?.description).toMatch(/earlier attempt of this request may have been carried out/);
		expect(error?.description).not.toMatch(/Nothing was done|changed nothing/);
	},
);

it.each([
	['replace', 'PUT'],
	['clear', 'DELETE'],
])(
	'%s says in the output of a node that goes on that the dictionary may be changed',
	async (operation, method) => {
		giveUpSoon();
		await service.ask('PUT /dictionary', { json: { terms: OLD } });
		service
			.running()
			.fault({ match: { method }, times: 99, action: { kind: 'cut', when: 'afterProcessing' } });
		const node = { onError: 'continueRegularOutput' } as const;
		const parameters = { resource: 'dictionary', operation, terms: 'OKR' };
		const { json } = await service.run(parameters, { items: itemsOf({}), node });
		expect(json[0]?.error).toMatch(/may have been changed: look with Dictionary: Get/);
	},
);

it.each([
	['replace', 'PUT'],
	['add', 'POST'],
	['clear', 'DELETE'],
])(
	'%s that is stopped before its answer says in the log that the dictionary may be changed',
	async (operation, method) => {
		const action = { kind: 'delay', ms: 3_000, processed: true } as const;
		service.running().fault({ match: { method }, action });
		const logs = captureLogs();
		const parameters = { resource: 'dictionary', operation, terms: 'OKR' };
		const isUnderWay = () => service.lines().length > 0;
		await service.run(parameters, { items: itemsOf({}), cancelWhen: isUnderWay });
		logs.release();
		expect(logs.of('Transcriber')).toEqual([
			expect.stringMatching(/was stopped.*may have been changed/),
		]);
	},
);

it('clear says why the service has not done it, although the look after that fails', async () => {
	const answer = (method: string, status: number, body: object) =>
		service.running().fault({ match: { method }, action: { kind: 'respond', status, body } });
	answer('DELETE', 200, { success: false, message: 'Locked by an administrator' });
	answer('GET', 403, { detail: 'Not allowed' });
	const { error } = await service.run({ resource: 'dictionary', operation: 'clear' });
	expect(error?.message).toContain('Locked by an administrator');
});
