import {
	NodeHelpers,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { languages } from '../../nodes/Transcriber/resources/transcription/languages';
import { runNode } from '../support/engine';
import {
	allParameters,
	credentialTypes,
	description,
	fieldsOf,
	nodeType,
	nodeTypes,
	operations,
	optionsOf,
	parametersOf,
	type OperationEntry,
} from './read';

interface Row {
	request: string;
	/** The operation's own parameters; notices and what completion adds are left out. */
	parameters: string[];
	options?: string[];
}

const TRANSCRIBE_OPTIONS = [
	'customFields',
	'domain',
	'idempotencyKey',
	'numSpeakers',
	'prompt',
	'summaryTemplate',
];

/** The contract's table: names that workflows store, which can never change once published. */
const CONTRACT: Record<string, Row> = {
	'transcription.transcribeFile': {
		request: 'POST /transcribe',
		parameters: ['binaryPropertyName', 'language', 'onCompletion', 'options'],
		options: TRANSCRIBE_OPTIONS,
	},
	'transcription.transcribeUrl': {
		request: 'POST /transcribe-url',
		parameters: ['language', 'onCompletion', 'options', 'url'],
		options: TRANSCRIBE_OPTIONS,
	},
	'task.get': { request: 'GET /tasks/{taskId}', parameters: ['taskId'] },
	'task.getAll': { request: 'GET /tasks', parameters: ['filters', 'limit', 'returnAll'] },
	'task.getResult': {
		request: 'GET /tasks/{taskId}/result',
		parameters: ['include', 'taskId'],
	},
	'task.export': {
		request: 'GET /tasks/{taskId}/export',
		parameters: ['binaryPropertyName', 'format', 'options', 'output', 'taskId'],
		options: ['fileName'],
	},
	'task.cancel': { request: 'POST /tasks/{taskId}/cancel', parameters: ['taskId'] },
	// Its method and path are not documented: the user gives them.
	'task.regenerateSummary': {
		request: 'POST ',
		parameters: ['bodyJson', 'method', 'path', 'summaryTemplate', 'taskId'],
	},
	'task.wait': { request: 'GET /tasks/{taskId}', parameters: ['taskId', 'waitOptions'] },
	'meeting.sendBot': {
		request: 'POST /meeting',
		parameters: ['consentAcknowledged', 'meetingUrl', 'onCompletion', 'startAt'],
	},
	'meeting.get': { request: 'GET /meeting/{botId}', parameters: ['botId'] },
	'meeting.cancel': { request: 'DELETE /meeting/{botId}', parameters: ['botId'] },
	'meeting.wait': { request: 'GET /meeting/{botId}', parameters: ['botId', 'waitOptions'] },
	'dictionary.get': { request: 'GET /dictionary', parameters: [] },
	'dictionary.clear': { request: 'DELETE /dictionary', parameters: [] },
	'dictionary.replace': {
		request: 'PUT /dictionary',
		parameters: ['specifyTerms', 'terms', 'text'],
	},
	'dictionary.add': { request: 'POST /dictionary', parameters: ['specifyTerms', 'terms', 'text'] },
	'dictionary.preview': {
		request: 'POST /dictionary/preview',
		parameters: ['taskId', 'terms'],
	},
	'dictionary.sync': {
		request: 'GET /dictionary',
		parameters: ['dryRun', 'mode', 'options', 'terms'],
		options: ['allowEmpty'],
	},
	'account.get': { request: 'GET /account', parameters: [] },
	'apiKey.rotate': { request: 'POST /api-key/generate', parameters: ['confirm'] },
};

const ROWS = Object.entries(CONTRACT).map(([id, row]) => ({ id, ...row }));

/** Which of the contract's defaults a parameter has. */
const DEFAULTS: Record<string, unknown> = {
	binaryPropertyName: 'data',
	limit: 50,
	returnAll: false,
	include: ['segments', 'speakers', 'summary', 'text'],
	output: 'file',
	startAt: '',
	consentAcknowledged: false,
	confirm: false,
	specifyTerms: 'list',
	language: 'ru',
	pollInterval: 10,
	timeout: 180,
	includeResult: true,
	exportAs: 'file',
	exportFormat: 'none',
	onInsufficientBalance: 'keepWaiting',
	numSpeakers: 2,
	source: 'submissions',
	emitDuplicates: false,
};

const COMPLETIONS: Record<string, string> = {
	returnTask: 'Return the ID at Once',
	poll: 'Wait for the Transcript (Polling)',
	awaitWebhook: 'Wait for the Transcript (Webhook)',
	notifyTrigger: 'Start Another Workflow When Ready',
	callUrl: 'Call a URL When Ready',
};

const SUBMITTING = [
	'transcription.transcribeFile',
	'transcription.transcribeUrl',
	'meeting.sendBot',
];
const ADDED_BY_COMPLETION = ['triggerUrl', 'waitOptions', 'webhookUrl'];
const WAIT_OPTIONS = [
	'exportAs',
	'exportBinaryPropertyName',
	'exportFormat',
	'includeResult',
	'onInsufficientBalance',
	'pollInterval',
	'timeout',
];

const entry = (id: string): OperationEntry => {
	const found = operations.find((operation) => operation.id === id);
	if (found === undefined) throw new Error(`The node has no operation ${id}`);
	return found;
};
const parameter = (id: string, name: string): INodeProperties | undefined =>
	parametersOf(entry(id)).find((field) => field.name === name);
const namesOf = (fields: INodeProperties[]): string[] =>
	[...new Set(fields.filter(({ type }) => type !== 'notice').map(({ name }) => name))].sort();

/** The parameters that the editor shows, with their defaults, to whoever has set these. */
function shownOf(name: string, parameters: INodeParameters): INodeParameters {
	const { description: type } = nodeType(name);
	const node = { typeVersion: 1 };
	return NodeHelpers.getNodeParameters(type.properties, parameters, true, false, node, type) ?? {};
}

/** Whether the editor shows a field of this type to whoever has set these parameters. */
function isShown(
	field: INodeProperties,
	type: INodeTypeDescription,
	parameters: INodeParameters,
	fieldType: INodeProperties['type'],
): boolean {
	const isOfType = field.type === fieldType;
	return isOfType && NodeHelpers.displayParameter(parameters, field, { typeVersion: 1 }, type);
}

/** The parameters that choose an operation. */
function operationNamed(id: string): INodeParameters {
	const { resource, option } = entry(id);
	return { resource, operation: String(option.value) };
}

/** Something for every parameter without which n8n runs nothing. */
function requiredOf(operation: OperationEntry): INodeParameters {
	const required = parametersOf(operation).filter((field) => field.required);
	return Object.fromEntries(
		required.map(({ name, type }) => [
			name,
			type === 'resourceLocator' ? { __rl: true, mode: 'id', value: 'x' } : 'x',
		]),
	);
}

describe('the operations of the contract', () => {
	it('are all there, and no other', () => {
		expect(operations.map(({ id }) => id).sort()).toEqual(Object.keys(CONTRACT).sort());
	});

	it.each(ROWS)('$id sends $request', ({ id, request }) => {
		const { method, url } = entry(id).option.routing?.request ?? {};
		expect(`${String(method)} ${String(url)}`).toBe(request);
	});

	it.each(ROWS)('$id has the parameters of the contract', ({ id, parameters, options }) => {
		const added = SUBMITTING.includes(id) ? ADDED_BY_COMPLETION : [];
		const names = namesOf(parametersOf(entry(id))).filter((name) => !added.includes(name));
		expect(names).toEqual(parameters);
		expect(namesOf(fieldsOf(parameter(id, 'options')))).toEqual(options ?? []);
	});

	it.each(operations)('$id goes through the one policy of all requests', async (operation) => {
		// Its first check is the one nothing else makes.
		const { error } = await runNode({
			parameters: {
				resource: operation.resource,
				operation: String(operation.option.value),
				...requiredOf(operation),
			},
			credentials: { baseUrl: 'ftp://nowhere', apiKey: 'key' },
		});
		expect(error?.message).toBe("The 'Base URL' of the credential is not a web address [item 0]");
	});

	it('leave no answer to a hook of n8n, which knows nothing of its request', () => {
		const resource = description.properties.find(({ name }) => name === 'resource');
		expect(resource?.routing).toEqual({ send: { paginate: true } });
		expect(JSON.stringify(description)).not.toContain('postReceive');
	});

	it.each(['get', 'getResult', 'export', 'cancel', 'regenerateSummary', 'wait'])(
		'task.%s takes the task from a searchable list or by id',
		(operation) => {
			const field = parameter(`task.${operation}`, 'taskId');
			expect(field?.type).toBe('resourceLocator');
			expect(field?.modes?.map(({ name }) => name)).toEqual(['list', 'id']);
			expect(field?.modes?.[0]?.typeOptions?.searchable).toBe(true);
		},
	);

	it.each([
		['limit', { minValue: 1 }],
		['numSpeakers', { minValue: 1, maxValue: 6 }],
	])('the field %s takes numbers of %j', (name, typeOptions) => {
		const field = allParameters(description.properties).find((one) => one.name === name);
		expect(field?.typeOptions).toEqual(typeOptions);
	});

	it.each([
		['task.getAll', 'limit', 5, { returnAll: false }, { returnAll: true }],
		['task.export', 'options', { fileName: 'a' }, { output: 'file' }, { output: 'json' }],
		[
			'dictionary.sync',
			'options',
			{ allowEmpty: true },
			{ mode: 'replace' },
			{ mode: 'addMissing' },
		],
	])('%s offers %s (%j) with %j, and not with %j', (id, name, value, fitting, other) => {
		const given = { ...operationNamed(id), [name]: value };
		expect(shownOf('transcriber', { ...given, ...fitting })).toHaveProperty(name, value);
		expect(shownOf('transcriber', { ...given, ...other })).not.toHaveProperty(name);
	});

	it.each([
		['task.export', 'format', ['json', 'srt', 'txt', 'vtt']],
		['task.export', 'output', ['file', 'json']],
		['task.getResult', 'include', ['segments', 'speakers', 'summary', 'text']],
		['dictionary.add', 'specifyTerms', ['list', 'text']],
	])('%s offers for %s what the contract does', (id, name, values) => {
		const offered = optionsOf(parameter(id, name)).map(({ value }) => value);
		expect(offered.sort()).toEqual(values);
	});
});

describe('completion', () => {
	it.each(SUBMITTING)('%s offers values of the contract, under their names', (id) => {
		const offered = optionsOf(parameter(id, 'onCompletion'));
		const values = offered.map(({ value }) => String(value));
		expect(values).toEqual(expect.arrayContaining(['returnTask', 'poll', 'callUrl']));
		for (const { name, value } of offered) expect(name).toBe(COMPLETIONS[String(value)]);
	});

	it.each([
		['transcription.transcribeFile', 'poll'],
		['transcription.transcribeUrl', 'poll'],
		['meeting.sendBot', 'returnTask'],
	])('%s begins with %s', (id, value) => {
		expect(parameter(id, 'onCompletion')?.default).toBe(value);
	});

	it('is the same for all operations that submit', () => {
		const [file, ...others] = SUBMITTING.map((id) => parameter(id, 'onCompletion')?.options);
		for (const other of others) expect(other).toEqual(file);
	});

	it.each([...SUBMITTING, 'task.wait', 'meeting.wait'])(
		'%s has the wait options of the contract',
		(id) => {
			expect(namesOf(fieldsOf(parameter(id, 'waitOptions')))).toEqual(WAIT_OPTIONS);
		},
	);

	it('Poll Interval says that it is the least time, and that the pauses grow', () => {
		const fields = fieldsOf(parameter('task.wait', 'waitOptions'));
		const interval = fields.find(({ name }) => name === 'pollInterval');
		expect(interval?.description).toMatch(/^The shortest pause .* Pauses grow for long recordings/);
	});

	it.each([
		['poll', true],
		['awaitWebhook', false],
	])('%s: Poll Interval is offered: %s', (onCompletion, isOffered) => {
		const chosen = { resource: 'transcription', operation: 'transcribeUrl', onCompletion };
		const waitOptions = { pollInterval: 5, timeout: 60 };
		const shown = shownOf('transcriber', { ...chosen, waitOptions });
		expect(shown['waitOptions']).toEqual(isOffered ? waitOptions : { timeout: 60 });
	});
});

describe.each(nodeTypes.map(({ description }) => [description.name, description] as const))(
	'%s',
	(_, { properties }) => {
		it('has the defaults of the contract', () => {
			for (const { name, default: value } of allParameters(properties)) {
				if (name in DEFAULTS) expect({ [name]: value }).toEqual({ [name]: DEFAULTS[name] });
			}
		});
	},
);

describe('the user reads before running it', () => {
	const consent = /all participants have to know .* 152-FZ .* are charged/;

	it.each<[string, INodeParameters, RegExp[]]>([
		['transcriber', operationNamed('transcription.transcribeFile'), [/^Charged by the second/]],
		['transcriber', operationNamed('transcription.transcribeUrl'), [/^Charged by the second/]],
		['transcriber', operationNamed('meeting.sendBot'), [consent]],
		['transcriber', operationNamed('task.regenerateSummary'), [/does not document its address/]],
		['transcriber', operationNamed('dictionary.clear'), [/^All terms .* are removed at once/]],
		['transcriber', operationNamed('dictionary.replace'), [/^Each input item/]],
		['transcriber', operationNamed('dictionary.add'), [/^Each input item/]],
		['transcriber', operationNamed('dictionary.sync'), [/^All input items together are one sync/]],
		['transcriber', operationNamed('apiKey.rotate'), [/^The new key appears only in the output/]],
		['transcriberTrigger', { source: 'submissions' }, [/copy the Production URL/]],
		['transcriberTrigger', { source: 'meeting' }, [/^The bot is sent when you publish/, consent]],
		['transcriberAccountTrigger', {}, [/needs no public address/]],
	])('%s %j', (name, parameters, texts) => {
		const { description: type } = nodeType(name);
		const notices = type.properties.filter((field) => isShown(field, type, parameters, 'notice'));
		expect(notices.map(({ displayName }) => displayName)).toEqual(
			texts.map((text) => expect.stringMatching(text)),
		);
	});
});

describe('the trigger', () => {
	const { description: trigger } = nodeType('transcriberTrigger');

	it('has the options of the contract, and no Export As, which it does not read', () => {
		const options = trigger.properties.find(({ name }) => name === 'options');
		expect(namesOf(fieldsOf(options))).toEqual([
			'emitDuplicates',
			'exportBinaryPropertyName',
			'exportFormat',
			'includeResult',
		]);
	});

	it.each([
		[
			'submissions',
			['meetingCompleted', 'meetingFailed', 'transcriptionCompleted', 'transcriptionFailed'],
		],
		['meeting', ['meetingCompleted', 'meetingFailed']],
	])('%s: offers %j, and starts on all of them unless told otherwise', (source, events) => {
		expect(shownOf('transcriberTrigger', { source })['events']).toEqual(events);
		const field = trigger.properties.find((one) => {
			return one.name === 'events' && isShown(one, trigger, { source }, 'multiOptions');
		});
		expect(optionsOf(field).map(({ value }) => value)).toEqual(events);
	});
});

describe('the account trigger', () => {
	const { description: account } = nodeType('transcriberAccountTrigger');

	it('polls at the times of n8n, and has the parameters of the contract', () => {
		expect(account.polling).toBe(true);
		expect(namesOf(account.properties)).toEqual(['events', 'options']);
		const options = account.properties.find(({ name }) => name === 'options');
		expect(namesOf(fieldsOf(options))).toEqual([
			'exportAs',
			'exportBinaryPropertyName',
			'exportFormat',
			'includeResult',
		]);
		const events = account.properties.find(({ name }) => name === 'events');
		expect(optionsOf(events).map(({ value }) => value)).toEqual([
			'transcriptCompleted',
			'transcriptFailed',
		]);
	});

	it('starts on no failure unless the user chooses it', () => {
		expect(shownOf(account.name, {})['events']).toEqual(['transcriptCompleted']);
	});
});

describe('the credential', () => {
	const [credential] = credentialTypes;

	it('has the fields of the contract', () => {
		const fields = credential?.properties.map(({ name, required, typeOptions }) => ({
			name,
			isRequired: required === true,
			isHidden: typeOptions?.password === true,
		}));
		expect(fields).toEqual([
			{ name: 'baseUrl', isRequired: true, isHidden: false },
			{ name: 'apiKey', isRequired: true, isHidden: true },
			{ name: 'webhookSecret', isRequired: false, isHidden: true },
		]);
	});

	it('is offered by the HTTP Request node, with an example of an address', () => {
		expect(credential?.httpRequestNode).toMatchObject({
			name: 'Transcriber',
			apiBaseUrlPlaceholder: expect.stringMatching(/^https:.*\/api\/v1\/account$/),
		});
	});
});

describe('languages', () => {
	it('are the 99 the service document speaks of, with Russian among them', () => {
		expect(languages).toHaveLength(99);
		expect(languages).toContainEqual({ name: 'Russian (ru)', value: 'ru' });
	});

	it('have the codes of their names', () => {
		const english = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
		const wrong = languages
			.filter(({ name, value }) => name !== `${String(english.of(String(value)))} (${value})`)
			.map(({ name }) => name);
		// Other names for these are as common.
		expect(wrong).toEqual(['Bengali (bn)', 'Maori (mi)', 'Tagalog (tl)']);
	});

	it('are unique, and sorted by name', () => {
		const names = languages.map(({ name }) => name);
		expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')));
		expect(new Set(languages.map(({ value }) => value)).size).toBe(languages.length);
		expect(new Set(names).size).toBe(names.length);
	});
});

/** The parts of n8n's UX guidelines that its lint rules cannot see in a composed description. */
describe.each(nodeTypes.map(({ description }) => [description.name, description] as const))(
	'words on the screen of %s',
	(_, { properties }) => {
		const all = allParameters(properties);
		const shown = all.filter(({ type }) => type !== 'notice' && type !== 'hidden');
		const choices = all
			.filter(({ name }) => name !== 'language')
			.flatMap((field) => optionsOf(field));
		const titles = [
			...shown.map(({ displayName }) => displayName),
			...shown.flatMap(({ modes }) => (modes ?? []).map(({ displayName }) => displayName)),
			...choices.map(({ name }) => name),
		];
		const sentences = [
			...all.flatMap(({ description, hint }) => [description, hint]),
			...choices.map(({ description }) => description),
		].filter((text): text is string => text !== undefined);

		it('titles are in Title Case', () => {
			expect(titles.filter((title) => !isTitleCase(title))).toEqual([]);
		});

		it('actions are in sentence case, without article and full stop', () => {
			const actions = choices.flatMap(({ action }) => action ?? []);
			for (const action of actions) {
				expect(action).toMatch(/^[A-Z]/);
				expect(action).not.toMatch(/\b(a|an|the)\b|\.$| [A-Z][a-z]/);
			}
		});

		it('a single sentence has no full stop, several have one each', () => {
			const several = (text: string) => /[.!?:] ["']?[A-Z{]/.test(text);
			expect(sentences.filter((text) => several(text) !== text.endsWith('.'))).toEqual([]);
		});

		it('explanations begin with a capital letter', () => {
			expect(sentences.filter((text) => !/^[A-Z{]/.test(text))).toEqual([]);
		});

		it('what a switch does begins with "Whether to" or "Whether the"', () => {
			const switches = all.filter(({ type }) => type === 'boolean');
			expect(
				switches.filter(({ description }) => !/^Whether (to|the) /.test(description ?? '')),
			).toEqual([]);
		});

		it('everything to type or choose is explained, itself or by its choices', () => {
			const silent = shown
				.filter(({ name }) => !['resource', 'operation'].includes(name))
				.filter(({ type }) => type !== 'collection')
				.filter(({ description, hint }) => !description && !hint)
				.filter((field) => !optionsOf(field).every((choice) => choice.description))
				.concat(shown.filter((field) => isTyped(field) && !field.description && !field.hint));
			expect(silent.map(({ name }) => name)).toEqual([]);
		});

		it('explanations do not just repeat the title', () => {
			const echoes = [
				...shown.map((f) => [f.displayName, f.description]),
				...choices.map((c) => [c.name, c.description]),
			].filter(([title, text]) => title?.toLowerCase() === text?.toLowerCase());
			expect(echoes).toEqual([]);
		});

		it('examples begin with "e.g."', () => {
			const examples = shown.flatMap(({ placeholder, type, modes }) => [
				...(type === 'collection' || type === 'fixedCollection' ? [] : [placeholder]),
				...(modes ?? []).map((mode) => mode.placeholder),
			]);
			expect(examples.filter((text) => text && !text.startsWith('e.g. '))).toEqual([]);
		});

		it('choices are in alphabetical order, "None" first', () => {
			for (const field of all) {
				const names = optionsOf(field).map(({ name }) => name);
				const rest = names[0]?.startsWith('None') ? names.slice(1) : names;
				expect(rest).toEqual([...rest].sort((a, b) => a.localeCompare(b, 'en')));
			}
		});

		it('the fields of a collection are in alphabetical order', () => {
			for (const field of all) {
				const names = fieldsOf(field).map(({ displayName }) => displayName);
				expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')));
			}
		});

		it('every operation says what it does, in the list of actions too', () => {
			for (const { id, option } of operations) {
				expect([id, option.action, option.description]).toEqual([
					id,
					expect.stringMatching(/\w/),
					expect.stringMatching(/\w/),
				]);
			}
		});
	},
);

function isTyped({ type }: INodeProperties): boolean {
	return ['string', 'number', 'boolean', 'json', 'resourceLocator'].includes(type);
}

const SMALL_WORDS = 'a an and as at by for from in of on or the to with'.split(' ');

function isTitleCase(title: string): boolean {
	const words = title.split(/\s+/);
	return words.every((word, index) => {
		const small = SMALL_WORDS.includes(word) && index > 0 && index < words.length - 1;
		return small || /^\(?[A-Z0-9]/.test(word);
	});
}
