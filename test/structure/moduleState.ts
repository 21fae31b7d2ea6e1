/** What a module can keep from one call to the next, as TypeScript reads it. */
import * as ts from 'typescript';

/** Made to be filled, also if it is empty at first. */
const CONTAINERS = ['Map', 'Set', 'Array', 'Object'];

const CHANGES = [
	...['push', 'unshift', 'pop', 'shift', 'splice', 'sort', 'reverse', 'fill', 'copyWithin'],
	...['set', 'add', 'delete', 'clear'],
];

/** Of `Object`, which change their first argument. */
const CHANGES_FIRST = ['assign', 'defineProperty', 'defineProperties', 'setPrototypeOf'];

/**
 * The variables of a module, and its constants that are made to be filled, or that it writes to. A table that only says
 * what is so is none of them. `others`: what other modules write to (see {@link importsWrittenIn}).
 */
export function moduleStateIn(source: string, others: string[] = []): string[] {
	const file = parsed(source);
	const written = new Set([...writtenIn(file), ...others]);
	return file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
		const isConstant = (declarationList.flags & ts.NodeFlags.Const) !== 0;
		return declarationList.declarations.flatMap(({ name, initializer }) => {
			const value = initializer && bare(initializer);
			const isState = !isConstant || (value && isForFilling(value));
			const isTable =
				value && (ts.isArrayLiteralExpression(value) || ts.isObjectLiteralExpression(value));
			return namesIn(name).filter((one) => isState || (isTable && written.has(one)));
		});
	});
}

function parsed(source: string): ts.SourceFile {
	return ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest);
}

function namesIn(name: ts.BindingName): string[] {
	if (ts.isIdentifier(name)) return [name.text];
	return name.elements.flatMap((one) => (ts.isBindingElement(one) ? namesIn(one.name) : []));
}

/** Without parentheses and types. */
function bare(value: ts.Expression): ts.Expression {
	const isWrapped =
		ts.isParenthesizedExpression(value) ||
		ts.isAsExpression(value) ||
		ts.isSatisfiesExpression(value) ||
		ts.isNonNullExpression(value) ||
		ts.isTypeAssertionExpression(value);
	return isWrapped ? bare(value.expression) : value;
}

function isForFilling(value: ts.Expression): boolean {
	if (ts.isArrayLiteralExpression(value)) return value.elements.length === 0;
	if (ts.isObjectLiteralExpression(value)) return value.properties.length === 0;
	if (!ts.isNewExpression(value) && !ts.isCallExpression(value)) return false;
	const callee = bare(value.expression);
	// A function that is called at once may keep what it has made.
	if (ts.isFunctionExpression(callee) || ts.isArrowFunction(callee)) return true;
	const isOf = (one: ts.Expression) => ts.isIdentifier(one) && CONTAINERS.includes(one.text);
	const isMaker =
		ts.isPropertyAccessExpression(callee) && ['create', 'from', 'of'].includes(callee.name.text);
	return isOf(callee) || (isMaker && isOf(callee.expression));
}

/** What a module imports and writes to, by the name that it has where it comes from. */
export function importsWrittenIn(source: string): string[] {
	const file = parsed(source);
	const written = new Set(writtenIn(file));
	return file.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
		const bindings = importClause?.namedBindings;
		if (!bindings || !ts.isNamedImports(bindings)) return [];
		return bindings.elements
			.filter(({ name }) => written.has(name.text))
			.map(({ name, propertyName }) => (propertyName ?? name).text);
	});
}

/** The first word of what is written to: `list` of `list.push(1)` and `list[0].a = 1`. */
function writtenIn(node: ts.Node): string[] {
	const found = targetsOf(node).flatMap(firstWord);
	ts.forEachChild(node, (child) => void found.push(...writtenIn(child)));
	return found;
}

function targetsOf(node: ts.Node): ts.Expression[] {
	if (ts.isBinaryExpression(node)) {
		const { kind } = node.operatorToken;
		const isWrite = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
		return isWrite ? [node.left] : [];
	}
	if (ts.isDeleteExpression(node)) return [node.expression];
	if (ts.isPostfixUnaryExpression(node)) return [node.operand];
	if (ts.isPrefixUnaryExpression(node)) {
		const isStep = [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(
			node.operator,
		);
		return isStep ? [node.operand] : [];
	}
	if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
	const { expression: owner, name } = node.expression;
	if (CHANGES.includes(name.text)) return [owner];
	const isOfObject = ts.isIdentifier(owner) && owner.text === 'Object';
	return isOfObject && CHANGES_FIRST.includes(name.text) ? node.arguments.slice(0, 1) : [];
}

function firstWord(value: ts.Expression): string[] {
	const one = bare(value);
	if (ts.isIdentifier(one)) return [one.text];
	const isPart = ts.isPropertyAccessExpression(one) || ts.isElementAccessExpression(one);
	return isPart ? firstWord(one.expression) : [];
}
