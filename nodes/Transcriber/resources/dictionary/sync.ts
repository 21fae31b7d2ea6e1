import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	NodeOperationError,
} from 'n8n-workflow';
import { booleanIn, choiceIn, collectionIn } from '../../../shared/parameters/checkedValues';
import { performOperation } from '../../item/performOperation';
import { logIfStopped } from '../../item/itemFailure';
import { itemCount } from '../../item/inputItems';
import { shownFor } from '../commonFields';
import { isInherited, isSame, report } from './syncReport';
import {
	addition,
	asStored,
	checkSize,
	dictionaryAfterWrite,
	lacking,
	replacement,
	termsIn,
} from './missingTerms';
import { checkIsOnlyReplacement, checkNoFailedItem, checkSeesAllItems } from './checkNoTermIsLost';
import {
	beginWrite,
	hadBeforeLostWrites,
	isCertainlyNotWritten,
	lackedBy,
	noteReplacement,
	sayWhatMayBeRemoved,
} from './lostWrites';
import { checkIsSplit } from './checkTerms';
import { checkHoldsMore, distinct, isOnlyTextAround, termsField } from './terms';
import { termsOfItem } from './termsOfItem';
import { refuse } from '../../../shared/parameters/refuse';
import { callService } from '../../../shared/api/callService';
import { saysNo } from '../../../shared/api/undocumented/answers';
import { dictionaryNotChanged } from '../successThatSaysNo';
import { type RoutingRequest } from '../../../shared/api/types';

export const sync: INodePropertyOptions = {
	name: 'Sync',
	value: 'sync',
	action: 'Sync dictionary',
	description: 'Make the dictionary match the terms of all input items. Writes only what changed.',
	routing: {
		request: { method: 'GET', url: '/dictionary' },
		operations: {
			pagination: forAllItems(performOperation({ prepare: [checkOwnTerms], carryOut: syncOnce })),
		},
	},
};

export const syncFields: INodeProperties[] = shownFor(
	'dictionary',
	['sync'],
	[
		{
			displayName:
				'All input items together are one sync: the node reads the dictionary once, writes it at most once, and outputs one item. In a loop, or in a sub-workflow that runs once for each item, each round would replace the terms of the round before: place the node after it. An input with only some of the rows (Google Sheets Trigger: the new ones; a database node without Return All: the first 50) needs Add Missing, or a step that reads all rows.',
			name: 'syncNotice',
			type: 'notice',
			default: '',
		},
		{
			...termsField,
			// n8n need not check this: the node itself distinguishes an empty cell from an empty sheet.
			required: false,
			placeholder: 'e.g. {{ $json.term }}',
			hint: 'Drag a field here: it is read from every input item',
			description:
				'Taken from every input item: one term per line, or an expression that gives a list. The first terms matter most, so the order of the items counts.',
		},
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			default: 'replace',
			description: 'What to do with terms that are in the dictionary but not in the input',
			hint: 'Replace removes the terms that the input lacks',
			options: [
				{
					name: 'Add Missing',
					value: 'addMissing',
					description: 'Keep them, and add new terms after them',
				},
				{ name: 'Replace', value: 'replace', description: 'Remove them' },
			],
		},
		{
			displayName: 'Dry Run',
			name: 'dryRun',
			type: 'boolean',
			default: false,
			description: 'Whether to only tell what would change, and to write nothing',
		},
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add option',
			default: {},
			displayOptions: { show: { mode: ['replace'] } },
			options: [
				{
					displayName: 'Allow Empty',
					name: 'allowEmpty',
					type: 'boolean',
					default: false,
					description:
						'Whether to empty the dictionary when the input has no term at all. If off, such an input is refused.',
				},
			],
		},
	],
);

/** Pairs the single output item with all input items. */
function forAllItems(
	performOne: ReturnType<typeof performOperation>,
): ReturnType<typeof performOperation> {
	return async function (this: IExecutePaginationFunctions, request: RoutingRequest) {
		const output = await performOne.call(this, request);
		if (this.getItemIndex() > 0) return output;
		const pairedItem = Array.from({ length: itemCount(this) }, (_, item) => ({ item }));
		return output.map((item) => ({ ...item, pairedItem }));
	};
}

/** Reports unreadable terms for their own item, before the dictionary is read or written. */
function checkOwnTerms(context: IExecutePaginationFunctions): void {
	syncChoices(context);
	termsOfItem(context, context.getItemIndex());
}

function syncChoices(context: IExecutePaginationFunctions) {
	const mode = choiceIn(context, context.getNodeParameter('mode', ''), 'Mode', [
		'addMissing',
		'replace',
	]);
	const options = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	return {
		replaces: mode !== 'addMissing',
		dryRun: booleanIn(context, context.getNodeParameter('dryRun', false), 'Dry Run') ?? false,
		allowEmpty: booleanIn(context, options.allowEmpty, 'Allow Empty') ?? false,
	};
}

/** The first item does the work for all items; the others have no output. */
async function syncOnce(context: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	if (context.getItemIndex() > 0) return [];
	const items = Array.from({ length: itemCount(context) }, (_, item) => item);
	const { terms: entered } = context.getNode().parameters;
	// A single row may lack its field: "Win" of `Win {{ $json.version }}` is a term. If all do, the name of
	// the field is probably wrong.
	const { replaces, allowEmpty } = syncChoices(context);
	const isEmpty = items.every((item) => isOnlyTextAround(context, entered, undefined, item));
	const inInput = isEmpty ? [] : distinct(items.flatMap((item) => termsOfItem(context, item)));
	if (replaces && inInput.length > 0) checkHoldsMore(context, entered, { items });
	if (inInput.length === 0 && replaces && !allowEmpty) throw hasNoTerm(context);

	let failure: unknown;
	try {
		return await syncTo(context, inInput);
	} catch (error) {
		failure = error;
	}
	if (replaces) sayWhatMayBeRemoved(context, failure);
	throw failure;
}

/** Makes the dictionary match the terms of the input. */
async function syncTo(
	context: IExecutePaginationFunctions,
	inInput: string[],
): Promise<INodeExecutionData[]> {
	const { replaces, dryRun } = syncChoices(context);
	const before = await callService(context, { method: 'GET', url: '/dictionary' });
	const old = distinct(termsIn(context, before));
	const given = asStored(inInput, old);
	// A user who inherits the team owner's terms has none to remove: the owner's terms stay in force.
	const keepsInherited = isInherited(before) && given.length === 0;
	const wanted = replaces && !keepsInherited ? given : distinct([...old, ...given]);
	const lost = replaces && !dryRun ? hadBeforeLostWrites(context, old) : [];
	const removed = lackedBy(wanted, old);
	if (removed.length > 0) {
		checkIsSplit(context, given);
		checkNoFailedItem(context);
		if (replaces) checkIsOnlyReplacement(context, old, removed);
		if (replaces && given.length === 1) checkSeesAllItems(context);
	}
	const changed = !isSame(old, wanted);
	if (changed) checkSize(context, wanted, before);

	const write = replaces ? replacement(wanted) : addition(old, wanted, before);
	let answer: IDataObject = {};
	if (changed && !dryRun) {
		const terms = { had: old, sent: wanted, isInherited: isInherited(before) };
		const forget = replaces ? beginWrite(context, terms) : () => {};
		const writing = callService(context, { url: '/dictionary', ...write });
		answer = await writing.catch((error: unknown) => {
			if (isCertainlyNotWritten(context, error)) forget();
			throw error;
		});
		if (saysNo(answer)) {
			// A service may report a fault in this way that it had after the write.
			const now = replaces ? await termsNow(context) : old;
			if (now && isSame(now, old)) forget();
			throw dictionaryNotChanged(context, answer);
		}
	}
	if (replaces && !dryRun) noteReplacement(context);
	const terms = { old, wanted, sent: write.body.terms };
	const after = await dictionaryAfterWrite(context, terms, answer);
	const notStored = lacking(after, wanted);
	const [had = old] = lost;
	const gone = lackedBy(after.terms, distinct([...lost.flat(), ...old]));
	if (gone.length > 0 && !dryRun) {
		logIfStopped(context, `The dictionary is replaced, and lacks now: ${gone.join(', ')}`);
	}
	const done = {
		changed: !isSame(had, after.terms),
		dryRun,
		...report(had, before, after),
		removed: gone,
	};
	return [{ json: notStored.length > 0 ? { ...done, not_stored: notStored } : done }];
}

/** Undefined if they cannot be read. */
async function termsNow(context: IExecutePaginationFunctions): Promise<string[] | undefined> {
	const reading = callService(context, { method: 'GET', url: '/dictionary' });
	return await reading
		.then((dictionary) => distinct(termsIn(context, dictionary)))
		.catch(() => undefined);
}

function hasNoTerm(context: IExecutePaginationFunctions): NodeOperationError {
	return refuse(
		context,
		"'Terms' has no term in any input item, so the dictionary was left as it is",
		"Check the expression in 'Terms' and the step before. To empty the dictionary on purpose, add the option 'Allow Empty' and turn it on.",
	);
}
