import type { IDataObject } from 'n8n-workflow';
import { isObject, strictJson } from '../jsonValues';

/** The list in a JSON text, if there is one. An AI agent often writes lists like this. */
export function jsonListIn(text: string): unknown[] | undefined {
	if (!/^\s*\[.*\]\s*$/s.test(text)) return undefined;
	const list = strictJson(text);
	return Array.isArray(list) ? list : undefined;
}

/** A copy of an object through JSON; undefined if the value is no object or not valid in JSON. */
export function copyOf(value: unknown, checkText: (text: string) => void): IDataObject | undefined {
	let holds = isObject(value);
	let json = '{}';
	try {
		json =
			JSON.stringify(value, (_name, member: unknown) => {
				if (member === Infinity || member === -Infinity) holds = false;
				// In a list, JSON would write null for it.
				if (Array.isArray(member)) return member.filter((one) => !isMissing(one));
				return isMissing(member) ? undefined : member;
			}) ?? '{}';
	} catch {
		// The value is circular, or holds a number that JSON cannot write.
		return undefined;
	}
	const copy = strictJson(json);
	if (!holds || !isObject(copy)) return undefined;
	textsIn(copy).forEach(checkText);
	return copy;
}

function isMissing(value: unknown): boolean {
	return value === undefined || Number.isNaN(value);
}

/** Works without recursion: a value may be nested almost as deep as the stack. */
function textsIn(value: unknown): string[] {
	const todo = [value];
	for (const one of todo) {
		if (typeof one === 'object' && one !== null)
			Object.values(one).forEach((inner) => todo.push(inner));
	}
	return todo.filter((one) => typeof one === 'string');
}
