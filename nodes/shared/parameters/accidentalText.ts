import type { NodeOperationError } from 'n8n-workflow';

import { refuse, type WithNode } from './refuse';

/**
 * Tells texts that nobody has entered on purpose: a missing value or an object made into text, and an
 * expression that n8n has not evaluated.
 */

/**
 * Whether a text is a missing value or an object that an expression or an earlier step turned into
 * text: "undefined", "[object Object]". Nobody enters such a text on purpose.
 */
export function isAccident(text: string): boolean {
	return (
		/^(undefined|null|NaN|Invalid Date(Time)?)$/.test(text.trim()) ||
		text.includes('[object Object]')
	);
}

/** The error for a text that {@link isAccident}. */
export function accident(context: WithNode, text: string, displayName: string): NodeOperationError {
	return refuse(
		context,
		text.includes('[object Object]')
			? `'${displayName}' has '[object Object]' in it, which is a whole object made into text`
			: `'${displayName}' is '${text.trim()}', which is a missing value made into text`,
		'Check the expression, and name the field that holds the text, for example {{ $json.name }}.',
	);
}

/** An expression without its double braces: `$json.id`, `{ $json.id }`, `${$json.id}`, `item.json.id`. */
const BARE =
	/^[{$\s]*(\$(json|input|item|node|binary|fromAI|execution|itemIndex|runIndex|now|today|vars|workflow)\b(?=[.[(?]|[\s}]*$)|\$\(\s*['"]|items?\.json\.[A-Za-z_]\w*$)/;

/** An expression in double braces. Vue writes `{{ $t('key') }}`, which is none of n8n. */
const IN_BRACES = /\{\{(?:(?!\}\}).)*?\$(?!t\()[\w(]/s;

/** An expression without its double braces anywhere in a text. */
const BARE_INSIDE =
	/\$(json|input|item|node|binary|execution|itemIndex|runIndex)\b|\$\(\s*['"]|\$\{/;

/**
 * Whether a text is an expression that n8n has not evaluated: `{{ $json.name }}` in a field that is set
 * to Fixed, or `$json.name` without the braces. Only what the user has `entered` can be one: data may
 * hold such a text. `isExact`: also if it stands within a text.
 */
export function isUnevaluated(entered: unknown, text: string, isExact = false): boolean {
	if (typeof entered !== 'string' || entered.replace(/^=/, '').trim() !== text.trim()) return false;
	if (!entered.startsWith('=') && (isExact ? text.includes('{{') : IN_BRACES.test(text)))
		return true;
	return BARE.test(text.trim()) || (isExact && BARE_INSIDE.test(text));
}

/** The error for a text that {@link isUnevaluated}. */
export function unevaluated(
	context: WithNode,
	text: string,
	displayName: string,
): NodeOperationError {
	return refuse(
		context,
		`'${displayName}' holds an expression as plain text: '${text.slice(0, 80)}'`,
		'Switch the field to Expression, and write the expression in double braces, for example {{ $json.name }}. Nothing was sent.',
	);
}
