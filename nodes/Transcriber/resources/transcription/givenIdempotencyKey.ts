import { createHash } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import type { RoutingRequest } from '../../../shared/api/types';
import { refuse } from '../../../shared/parameters/refuse';
import { ownKeyOf } from '../../item/ownKey';
import { isKeyOf } from '../../submit/once/submissionMemory';

/**
 * 'Idempotency Key' in a form that fits a header; undefined if not set. Refuses one key for two
 * recordings: the service would return the first task and never transcribe the second recording.
 */
export function givenKey(
	context: IExecutePaginationFunctions,
	recording: string,
	noun: 'files' | 'links',
): string | undefined {
	const key = ownKeyOf(context);
	if (!key) return undefined;
	if (isKeyOf(context, key, recording)) return asHeader(key);
	throw refuse(
		context,
		`'Idempotency Key' is '${key.slice(0, 80)}' for two different ${noun}`,
		`The service makes one task per key, so the second of the ${noun} would not be transcribed. Use a different key for each, for example {{ $json.fileId }}, or leave it empty.`,
	);
}

/** Hashes a non-ASCII key: n8n's HTTP client drops such characters, so two keys could be equal. */
function asHeader(key: string): string {
	if (/^[\x20-\x7e]+$/.test(key)) return key;
	return `n8n-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
}

export function setKey(request: RoutingRequest, key: string): void {
	request.options.headers = { ...request.options.headers, 'Idempotency-Key': key };
}
