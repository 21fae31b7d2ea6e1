/** What the dictionary loses, or is said to lose, by a text that holds no terms and by a write that was not done. */
// Also covers terms.ts, sync.ts.

import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const dictionary = { resource: 'dictionary' };
const termsNow = async () => (await service.ask('GET /dictionary')).body['terms'];

beforeEach(async () => {
	await service.ask('PUT /dictionary', { json: { terms: ['Kubernetes', 'OKR'] } });
});

it.each([
	['the name of a column', 'term', "'Text' holds 'term', which is the name of a column"],
	['braces without an expression', '{{ term }}', "'Text' holds an expression as plain text"],
	['separators only', ', ;', "The parameter 'Text' has no terms"],
])('Replace As Text does not replace the dictionary by %s', async (_what, text, message) => {
	const { error } = await service.run(
		{ ...dictionary, operation: 'replace', specifyTerms: 'text', text },
		{ items: itemsOf({ term: 'Grafana' }) },
	);
	expect(error?.message).toContain(message);
	expect(service.lines()).toEqual([]);
	expect(await termsNow()).toEqual(['Kubernetes', 'OKR']);
});

it('Sync does not say that terms may be removed if the service answers that it has changed nothing', async () => {
	service.running().fault({
		match: { method: 'PUT' },
		action: { kind: 'respond', status: 200, body: { success: false, message: 'Read only' } },
	});
	const { error } = await service.run(
		{ ...dictionary, operation: 'sync', terms: '={{ $json.term }}' },
		{ items: itemsOf({ term: 'Grafana' }, { term: 'Loki' }) },
	);
	expect(error?.message).toContain('the dictionary is not changed: Read only');
	expect(error?.description).not.toContain('may have replaced');
});
