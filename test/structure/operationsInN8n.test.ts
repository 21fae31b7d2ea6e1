/** `npm run test:versions` calls a version of n8n tested, so what it runs leaves out nothing that the node offers. */
import { OPERATIONS } from '../e2e/operationCases';
import { description, operations, optionsOf, parametersOf, read } from './read';

const RUN = OPERATIONS.map(({ parameters }) => parameters('id'));

const runsOf = (id: string) =>
	RUN.filter(({ resource, operation }) => `${String(resource)}.${String(operation)}` === id);

/** What the node does if the parameter is left out, which is how n8n stores a default. */
const defaults = operations.flatMap((entry) => {
	const field = parametersOf(entry).find(({ name }) => name === 'onCompletion');
	return field ? [{ id: entry.id, byDefault: String(field.default) }] : [];
});

const completionsOf = ({ id, byDefault }: { id: string; byDefault: string }) =>
	runsOf(id).map(({ onCompletion = byDefault }) => onCompletion);

describe('test/e2e/operationCases.ts', () => {
	it('is a part of what npm run test:versions runs', () => {
		expect(read('test/e2e/operations.test.ts')).toContain('it.each(OPERATIONS)');
		expect(read('scripts/versions.ts')).toMatch(/SUITES = \[.*'operations'/);
	});

	it.each(operations)('runs $id', ({ id }) => expect(runsOf(id)).not.toEqual([]));

	it('gets a transcript in each of the five ways', () => {
		const field = description.properties.find(({ name }) => name === 'onCompletion');
		const ways = optionsOf(field).map(({ value }) => value);
		expect(ways).toHaveLength(5);
		expect(defaults.flatMap(completionsOf)).toEqual(expect.arrayContaining(ways));
	});

	it.each(defaults)('gets the transcript of $id by default, $byDefault', (one) => {
		expect(completionsOf(one)).toContain(one.byDefault);
	});
});
