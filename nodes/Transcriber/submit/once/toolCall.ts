import { NodeConnectionTypes, type IExecutePaginationFunctions } from 'n8n-workflow';

import {
	isOutsideExecution,
	isToolCall,
	isUnrememberedCall,
} from '../../../shared/n8nInternals/runIdentity';
import { isExpression } from '../../../shared/parameters/expressionParts';
import { startAtFrom } from '../../../shared/parameters/startAt';
import { fileOf, isFile } from '../../item/inputFile';
import { asSent, isPlainObject, steadyParameter } from './steadyValue';

/**
 * Identifies a tool call within its execution; one that n8n does not remember, among all such calls of its
 * workflow: there, n8n may give the node another id each time.
 */
export function toolCallOf(context: IExecutePaginationFunctions): string {
	const asked = isUnrememberedCall(context)
		? [undefined, ...askedByCall(context, namesOf(context), argumentsOf)]
		: [context.getNode().id, ...askedByCall(context, namesOfTool(context), inputsOf)];
	return JSON.stringify(asked, asSentWithLastingIds);
}

/** How to wait decides nothing about what is paid for. */
function namesOf(context: IExecutePaginationFunctions): string[] {
	return Object.keys(context.getNode().parameters).filter((name) => name !== 'waitOptions');
}

/** Of a tool call: what it says to the model, and what happens with the transcript. */
const BESIDE = ['descriptionType', 'toolDescription', 'onCompletion', 'webhookUrl', 'triggerUrl'];

/**
 * The same for the calls of one tool. What the user has entered as a fixed value is the same in all of
 * them, and may be another one only in a Retry, which must not pay again because the user has improved the
 * description.
 */
function namesOfTool(context: IExecutePaginationFunctions): string[] {
	const { parameters } = context.getNode();
	const isFixed = (name: string) => name === 'toolDescription' || !isExpression(parameters[name]);
	return namesOf(context).filter((name) => !(BESIDE.includes(name) && isFixed(name)));
}

/**
 * What a tool call asks for, independent of time and spelling. If the text of an expression counts, so
 * do its inputs: everything from the model and from the agent's item.
 */
function askedByCall(
	context: IExecutePaginationFunctions,
	names: string[],
	inputs: (context: IExecutePaginationFunctions) => unknown[],
): unknown[] {
	const read = names.map((name) => {
		const parameter = steadyParameter(context, name);
		return {
			...parameter,
			value: parameter.isText ? parameter.value : inOneSpelling(context, name, parameter.value),
		};
	});
	const given = read.some(({ isText }) => isText) ? inputs(context) : [];
	return [...read.map(({ value }) => value), ...given];
}

/** A model that repeats a call may write the same time, link or language in another way. */
function inOneSpelling(
	context: IExecutePaginationFunctions,
	name: string,
	value: unknown,
): unknown {
	if (name === 'startAt') return instantOf(context) ?? value;
	if (typeof value !== 'string') return value;
	const text = value.trim();
	if (name === 'language') return text.toLowerCase();
	const isLink = name === 'url' || name === 'meetingUrl';
	return isLink && URL.canParse(text) ? new URL(text).href : value;
}

/** 'Start At' in ms since 1970; undefined if the bot joins at once, or if it is no time. */
function instantOf(context: IExecutePaginationFunctions): number | undefined {
	try {
		const start = startAtFrom(context);
		return start === undefined ? undefined : Date.parse(start);
	} catch {
		return undefined;
	}
}

/** For JSON.stringify: as sent, with a file by its lasting id, because n8n may rename it before a Retry. */
function asSentWithLastingIds(name: string, value: unknown): unknown {
	return isFile(value) ? fileOf(value) : asSent(name, value);
}

function inputsOf(context: IExecutePaginationFunctions): unknown[] {
	const call = context.getInputData(0, NodeConnectionTypes.AiTool);
	const given = [context.evaluateExpression('{{ $json }}', 0), call.json];
	// n8n 2 adds an id that differs in each call.
	return given.map((json) => ({ ...(isPlainObject(json) && json), toolCallId: undefined }));
}

/**
 * What the model gives. For the Agents of n8n 2.41 that is the item. The item of an MCP client is its
 * request, which has another id in each call.
 */
function argumentsOf(context: IExecutePaginationFunctions): unknown[] {
	const isOfAgent = isOutsideExecution(context) && !isToolCall(context);
	if (isOfAgent) return [context.evaluateExpression('{{ $json }}', 0)];
	return [context.getInputData(0, NodeConnectionTypes.AiTool).json];
}
