import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
	NodeOperationError,
} from 'n8n-workflow';
import { booleanIn, choiceIn, collectionIn } from '../../../shared/parameters/checkedValues';
import { performOperation } from '../../item/performOperation';
import { inputCount, itemCount } from '../../item/nodeRun';
import { shownFor } from '../commonFields';
import { isInherited, isSame, report } from './syncReport';
import { addition, checkSize, replacement, termsIn } from './missingTerms';
import { checkIsSplit } from './checkTerms';
import { distinct, readTerms, termsField } from './terms';
import { messageOf } from '../../../shared/asError';
import { refuse } from '../../../shared/parameters/refuse';
import { isTool, nodeContextOf, runIndexOf } from '../../../shared/n8nInternals/runIdentity';
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
				'All input items together are one sync: the node reads the dictionary once, writes it at most once, and outputs one item. In a loop, each round would replace the terms of the round before: place the node after the loop. A trigger that brings only new rows, such as Google Sheets Trigger, needs Add Missing, or a step that reads the whole sheet.',
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
	const given = distinct(items.flatMap((item) => termsOfItem(context, item)));
	const { replaces, dryRun, allowEmpty } = syncChoices(context);
	if (given.length === 0 && replaces && !allowEmpty) throw hasNoTerm(context);

	const before = await callService(context, { method: 'GET', url: '/dictionary' });
	const old = distinct(termsIn(context, before));
	// A user who inherits the team owner's terms has none to remove: the owner's terms stay in force.
	const keepsInherited = isInherited(before) && given.length === 0;
	const wanted = replaces && !keepsInherited ? given : distinct([...old, ...given]);
	if (old.some((term) => !wanted.includes(term))) {
		checkIsSplit(context, given);
		if (replaces) checkIsOnlyReplacement(context);
		if (replaces && given.length === 1) checkSeesAllItems(context);
	}
	checkSize(context, wanted, before);

	const changed = !isSame(old, wanted);
	const write = replaces ? replacement(wanted) : addition(old, wanted, before);
	const answer =
		changed && !dryRun ? await callService(context, { url: '/dictionary', ...write }) : {};
	if (saysNo(answer)) throw dictionaryNotChanged(context, answer);
	if (replaces && !dryRun) replacementOf(context).run ??= runIndexOf(context);
	return [{ json: { changed, dryRun, ...report(old, wanted, before, answer) } }];
}

/** The run of this node that has replaced the dictionary in this execution, by its index. */
function replacementOf(context: IExecutePaginationFunctions): { run?: number } {
	const memory = nodeContextOf(context) as { replacement?: { run?: number } };
	memory.replacement ??= {};
	return memory.replacement;
}

/**
 * Refuses to remove what an earlier run of this node has put there: in a loop, and with several wires
 * into the node, each run has only some of the items. An agent calls a tool as often as it likes.
 */
function checkIsOnlyReplacement(context: IExecutePaginationFunctions): void {
	const { run } = replacementOf(context);
	if (isTool(context) || run === undefined || run === runIndexOf(context)) return;
	throw refuse(
		context,
		'An earlier run of this node in this execution has replaced the dictionary. This run would remove terms from it, so the dictionary was left as it is',
		"In a loop, or with several wires into this node, each run has only some of the terms. Place the node after the loop, or join the wires with a Merge node. Or choose Add Missing in 'Mode'. What the earlier run removed is in its output.",
	);
}

/** Refuses to replace a dictionary by the term of the one item that 'Execute Once' lets through. */
function checkSeesAllItems(context: IExecutePaginationFunctions): void {
	if (context.getNode().executeOnce !== true || inputCount(context) === 1) return;
	throw refuse(
		context,
		"With 'Execute Once', n8n gives this node only the first item, and one term would replace all others",
		"Turn off 'Execute Once' in the settings of the node: Sync reads the terms of all items, and writes the dictionary at most once.",
	);
}

/**
 * The terms of any item of the run, in their order. n8n gives an item only its own parameters, so
 * for other items the expressions are evaluated. An unreadable item stops the whole sync, because
 * without its terms the dictionary would lose them.
 */
function termsOfItem(context: IExecutePaginationFunctions, item: number): string[] {
	if (item === context.getItemIndex()) {
		return readTerms(context, context.getNodeParameter('terms', ''));
	}
	let value: unknown;
	try {
		value = evaluated(context, context.getNode().parameters.terms, item);
	} catch (error) {
		throw refuse(
			context,
			`'Terms' of item ${item} cannot be read: ${messageOf(error)}`,
			'Correct the expression or the item. The dictionary was left as it is, because without these terms it would lose them.',
		);
	}
	return readTerms(context, value, item);
}

/** A stored parameter as n8n resolves it for an item: an expression, or a list that has some. */
function evaluated(context: IExecutePaginationFunctions, raw: unknown, item: number): unknown {
	if (Array.isArray(raw)) return raw.map((member) => evaluated(context, member, item));
	const isExpression = typeof raw === 'string' && raw.startsWith('=');
	return isExpression ? context.evaluateExpression(raw.slice(1), item) : raw;
}

function hasNoTerm(context: IExecutePaginationFunctions): NodeOperationError {
	return refuse(
		context,
		"'Terms' has no term in any input item, so the dictionary was left as it is",
		"Check the expression in 'Terms' and the step before. To empty the dictionary on purpose, add the option 'Allow Empty' and turn it on.",
	);
}
