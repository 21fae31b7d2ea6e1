// Also covers accidentalText.ts.
import type { INodeExecutionData, INodeParameters, INodeProperties } from 'n8n-workflow';

import { fieldsOf, operations, parametersOf } from '../../structure/read';
import { EVERY_OPERATION, WITH_SUMMARY_REGENERATION } from '../../support/everyOperation';
import { byId, serviceForTests } from '../../support/service';
import { atLength } from '../../support/long';

/** What an expression can give that nobody means, each as the code of the expression. */
const NOTHING = ['undefined', 'null', '""', '"  "', 'NaN', '$json.noSuchField'];
const WRONG = {
	object: '$json.anObject',
	list: '$json.aList',
	infinite: 'Infinity',
	text: '"no such value"',
	undefinedAsText: '"undefined"',
	nanAsText: '"NaN"',
	// Of Luxon, whose dates n8n's expressions have.
	invalidDateAsText: '"Invalid DateTime"',
	objectAsText: '"[object Object]"',
	true: 'true',
};
type Wrong = keyof typeof WRONG;

interface Rule {
	/** What a value that is nothing does. */
	nothing: 'refused' | 'leftOut';
	/** Values that are right for this kind of parameter, or that mean something else there. */
	takes?: Wrong[];
	/** A field of the request that is not sent then, although it has a default. */
	without?: string;
}

const text = { takes: ['text'] satisfies Wrong[] };

/**
 * Every parameter of every operation. One that is missing here fails the test below. A collection as
 * a whole is not among them: n8n puts an empty one in place of an expression.
 */
const RULES: Record<string, Rule> = {
	binaryPropertyName: { nothing: 'refused', ...text },
	bodyJson: { nothing: 'leftOut', takes: ['object'] },
	botId: { nothing: 'refused', ...text },
	confirm: { nothing: 'refused', takes: ['true'] },
	consentAcknowledged: { nothing: 'refused', takes: ['true'] },
	dryRun: { nothing: 'leftOut', takes: ['true'] },
	'filters.status': { nothing: 'leftOut' },
	format: { nothing: 'leftOut' },
	include: { nothing: 'leftOut' },
	// A text of letters might be a code of a language.
	language: { nothing: 'leftOut', without: 'language' },
	limit: { nothing: 'leftOut' },
	meetingUrl: { nothing: 'refused' },
	method: { nothing: 'leftOut' },
	mode: { nothing: 'leftOut' },
	onCompletion: { nothing: 'leftOut' },
	'options.allowEmpty': { nothing: 'leftOut', takes: ['true'] },
	'options.customFields': { nothing: 'leftOut', takes: ['object'] },
	'options.domain': { nothing: 'leftOut' },
	'options.fileName': { nothing: 'leftOut', ...text },
	'options.idempotencyKey': { nothing: 'leftOut', ...text },
	'options.numSpeakers': { nothing: 'leftOut' },
	'options.prompt': { nothing: 'leftOut', ...text },
	'options.summaryTemplate': { nothing: 'leftOut', ...text },
	output: { nothing: 'leftOut' },
	path: { nothing: 'refused' },
	returnAll: { nothing: 'leftOut', takes: ['true'] },
	specifyTerms: { nothing: 'leftOut' },
	startAt: { nothing: 'refused' },
	summaryTemplate: { nothing: 'leftOut', ...text },
	taskId: { nothing: 'refused', ...text },
	terms: { nothing: 'refused', takes: ['text', 'list', 'true'] },
	text: { nothing: 'refused', ...text },
	triggerUrl: { nothing: 'refused' },
	url: { nothing: 'refused' },
	'waitOptions.exportAs': { nothing: 'leftOut' },
	'waitOptions.exportBinaryPropertyName': { nothing: 'leftOut', ...text },
	'waitOptions.exportFormat': { nothing: 'leftOut' },
	'waitOptions.includeResult': { nothing: 'leftOut', takes: ['true'] },
	'waitOptions.onInsufficientBalance': { nothing: 'leftOut' },
	'waitOptions.pollInterval': { nothing: 'leftOut' },
	'waitOptions.timeout': { nothing: 'leftOut' },
	webhookUrl: { nothing: 'refused' },
};

/** A parameter of an operation, with what has to be chosen before it is on the panel. */
interface Case {
	id: string;
	path: string;
	displayName: string;
	chosen: INodeParameters;
	isId: boolean;
}

const chosenFor = ({ displayOptions }: INodeProperties): INodeParameters =>
	Object.fromEntries(
		Object.entries(displayOptions?.show ?? {})
			.filter(([name]) => !['resource', 'operation'].includes(name))
			.map(([name, values]) => [name, (values as INodeParameters[string][])[0] ?? null]),
	);

const CASES: Case[] = operations.flatMap(({ id, ...operation }) =>
	parametersOf({ id, ...operation })
		.filter(({ type }) => type !== 'notice')
		.flatMap((field) =>
			(field.type === 'collection' ? fieldsOf(field) : [field])
				.filter(({ displayOptions }) => isFor(id, displayOptions?.show?.['/operation']))
				.map((one) => ({
					id,
					path: one === field ? one.name : `${field.name}.${one.name}`,
					displayName: one.displayName,
					chosen: chosenFor(field),
					isId: one.type === 'resourceLocator',
				})),
		),
);

/** Some members of a collection are for one operation only. */
function isFor(id: string, shownFor: unknown[] = [id.split('.')[1]]): boolean {
	return shownFor.includes(id.split('.')[1]);
}

const service = serviceForTests(WITH_SUMMARY_REGENERATION);
const FORBIDDEN = /undefined|\bnull\b|NaN|Infinity|\[object Object\]/;
/** A wait that begins with a submit looks for the first time after the poll interval of 10 s. */
const waitsForLong = ({ id, path, chosen }: Case) =>
	path === 'onCompletion' || (chosen['onCompletion'] === 'poll' && !id.endsWith('.wait'));

function withValue(path: string, value: INodeParameters[string]): INodeParameters {
	const [name = '', member] = path.split('.');
	return { [name]: member === undefined ? value : { [member]: value } };
}

/** What was sent, and the fields that came out, without what differs from run to run. */
interface Seen {
	error?: string;
	sent: unknown;
	output: unknown;
}

async function seen(one: Case, value?: INodeParameters[string]): Promise<Seen> {
	const example = EVERY_OPERATION.find(({ name }) => name === one.id);
	if (!example) throw new Error(`No example of ${one.id}`);
	service.running().reset();
	const input = await example.input(service);
	const item: INodeExecutionData = {
		...input,
		json: { ...input.json, anObject: { a: { b: 1 } }, aList: [1] },
	};
	const before = structuredClone(item);
	const given = value === undefined ? {} : withValue(one.path, value);
	service.running().requests.splice(0);
	// n8n wants both where it cannot know yet which one it will be.
	const both = one.path === 'specifyTerms' ? { terms: 'n8n', text: 'n8n' } : {};
	const parameters = { ...example.parameters, ...both, ...one.chosen, ...given };
	const { error, json } = await service.run(parameters, { items: [item] });
	expect(item).toEqual(before);
	const { requests } = service.running();
	const sent = requests.map(({ method, path, query, body, headers }) => {
		const key = headers['idempotency-key'];
		expect(JSON.stringify({ path, query, body: body ?? {}, key })).not.toMatch(FORBIDDEN);
		return { method, path, query, body };
	});
	const withoutIds = JSON.stringify(sent).replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
	return {
		error: error?.message,
		sent: JSON.parse(withoutIds) as unknown,
		output: json.map((fields) => Object.keys(fields)),
	};
}

/** Each case sends many requests: `npm test` shows the rule in three of them. */
const some = (cases: Case[]): Case[] =>
	cases.filter((_, index) => index % atLength(1, Math.ceil(cases.length / 3)) === 0);

const inExpression = (code: string) => `={{ ${code} }}`;

describe('a parameter whose expression gives nothing, or something of the wrong kind', () => {
	it('has a rule, whichever parameter of whichever operation it is', () => {
		const paths = [...new Set(CASES.map(({ path }) => path))].sort();
		expect(Object.keys(RULES).sort()).toEqual(paths);
	});

	it.each(
		some(CASES.filter((one) => !waitsForLong(one) && RULES[one.path]?.nothing === 'leftOut')),
	)('$id: $path is left out where it is nothing', async (one) => {
		const { sent, output, error } = await seen(one);
		expect(error).toBeUndefined();
		const { without = '' } = RULES[one.path] ?? {};
		const expected = JSON.parse(
			JSON.stringify(sent, (name, value: unknown) =>
				name && name === without ? undefined : value,
			),
		) as unknown;
		for (const code of NOTHING) {
			const found = await seen(one, inExpression(code));
			expect({ code, ...found }).toEqual({ code, error: undefined, sent: expected, output });
		}
	});

	it.each(some(CASES.filter(({ path }) => RULES[path]?.nothing === 'refused')))(
		'$id: $path is refused by name where it is nothing, and nothing is sent',
		async (one) => {
			const values = NOTHING.map(inExpression);
			for (const value of values.flatMap((given) => (one.isId ? idsOf(given) : [given]))) {
				const { sent, error } = await seen(one, value);
				expect(error).toContain(`'${one.displayName}'`);
				expect(sent).toEqual([]);
			}
		},
	);

	it.each(some(CASES))('$id: $path of the wrong kind is refused by name', async (one) => {
		const takes: string[] = RULES[one.path]?.takes ?? [];
		const wrong = Object.entries(WRONG).filter(([kind]) => !takes.includes(kind));
		for (const value of wrong.flatMap(([, code]) =>
			one.isId ? idsOf(inExpression(code)) : [inExpression(code)],
		)) {
			const { sent, error } = await seen(one, value);
			expect({ value, error }).toEqual({
				value,
				error: expect.stringContaining(`'${one.displayName}'`),
			});
			expect(sent).toEqual([]);
		}
	});
});

/** The ways in which a resource locator can hold an expression. */
function idsOf(expression: string): INodeParameters[string][] {
	return [byId(expression), { __rl: true, mode: 'list', value: expression }, expression];
}
