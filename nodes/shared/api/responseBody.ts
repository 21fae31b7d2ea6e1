import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { parseJson } from '../jsonValues';
import { Refused } from './noUsableAnswer';
import { isWebPage } from './refusalBody';

/**
 * The body of a success: an object or a list, or `{}` if empty. The service document does not show
 * the answers to most writes, so for a write a text or another plain value passes as `{ value }`. A
 * web page or JSON that is cut off never passes. Throws {@link Refused}.
 */
export function bodyOf(response: IN8nHttpFullResponse, method = 'GET'): IDataObject {
	const body = anyBodyOf(response) ?? '';
	if (body === '') return {};
	if (typeof body === 'object') return body as IDataObject;
	// The HTTP client leaves JSON that it cannot read as a text: cut off, or with NaN in it.
	const isJson = typeof body === 'string' && /^\s*[{[]/.test(body);
	const json = isJson ? parseJson(body) : undefined;
	if (json !== undefined) return json as IDataObject;
	if (method === 'GET' || isJson || isWebPage(response)) throw new Refused(response);
	return { value: body as IDataObject[string] };
}

/** The body of a success in any form; bytes as text. Throws {@link Refused}. */
export function anyBodyOf(response: IN8nHttpFullResponse): unknown {
	const { body, statusCode } = response;
	if (statusCode < 200 || statusCode >= 300) throw new Refused(response);
	return Buffer.isBuffer(body) ? body.toString('utf8') : body;
}
