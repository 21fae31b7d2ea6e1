/** The titles of the tests in a suite, as TypeScript reads it: what stands in a comment or a text is no test. */
import {
	createSourceFile,
	forEachChild,
	isCallExpression,
	isIdentifier,
	isPropertyAccessExpression,
	isStringLiteralLike,
	isTaggedTemplateExpression,
	ScriptTarget,
	type CallExpression,
	type Expression,
	type Node,
} from 'typescript';

/** Of each test, and of each `describe` that holds one. */
export function testTitlesIn(source: string): string[] {
	const file = createSourceFile('suite.ts', source, ScriptTarget.Latest);
	return callsIn(file).flatMap((call) => {
		const [title, ...rest] = call.arguments;
		if (!title || !isStringLiteralLike(title)) return [];
		const runs =
			isCallOf(call, 'it') || (isCallOf(call, 'describe') && rest.flatMap(callsIn).some(isTest));
		return runs && rest.length > 0 ? [title.text] : [];
	});
}

const isTest = (call: CallExpression) => isCallOf(call, 'it');

function callsIn(node: Node): CallExpression[] {
	const calls = isCallExpression(node) ? [node] : [];
	forEachChild(node, (child) => void calls.push(...callsIn(child)));
	return calls;
}

/** `it()`, `it.each()()`, `long.it()`, but not `it.skip()` or `xit()`. */
function isCallOf(call: CallExpression, name: string): boolean {
	const words = wordsOf(call.expression).filter((word) => !['long', 'few', 'each'].includes(word));
	return words.length === 1 && words[0] === name;
}

function wordsOf(callee: Expression): string[] {
	if (isIdentifier(callee)) return [callee.text];
	if (isPropertyAccessExpression(callee)) return [...wordsOf(callee.expression), callee.name.text];
	if (isCallExpression(callee)) return wordsOf(callee.expression);
	return isTaggedTemplateExpression(callee) ? wordsOf(callee.tag) : ['?'];
}
