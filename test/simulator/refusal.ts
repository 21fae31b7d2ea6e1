import type { Shapes } from './options';

/** An error answer of the service, thrown if a request breaks a rule of the service document. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
		readonly errorCode?: string,
		readonly headers: Record<string, string> = {},
	) {
		super(message);
	}
}

/** Section "Errors": the body of an error answer. */
export function errorBody(refusal: Refusal, shapes: Shapes): unknown {
	if (refusal.errorCode !== undefined) {
		return { detail: { error_code: refusal.errorCode, message: refusal.message } };
	}
	switch (shapes.errorDetail) {
		case 'string':
			return { detail: refusal.message };
		case 'list':
			return { detail: [{ loc: ['request'], msg: refusal.message, type: 'value_error' }] };
		case 'object':
			return { detail: { message: refusal.message } };
	}
}
