import { refuse, type WithNode } from './refuse';

/**
 * Refuses a number that JavaScript has rounded because it is too large. As an id it would name
 * something else, and as a key it would be the same for different things.
 */
export function checkNotRounded(context: WithNode, value: unknown, displayName: string): void {
	if (typeof value !== 'number' || !Number.isFinite(value)) return;
	if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return;
	throw refuse(
		context,
		`'${displayName}' is a number too large for n8n, which has rounded it: ${value}`,
		'Take it as a text from the step that has it: as a number, its last digits are lost.',
	);
}
