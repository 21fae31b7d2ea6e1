/** Answers with a success status about a fault, after which nobody knows what was done. */
export const FAULTS_IN_SUCCESS: object[] = [
	// Slack documents that part of the operation may have succeeded.
	{ ok: false, error: 'fatal_error' },
	// JSend: an exception was thrown.
	{ status: 'error', message: 'The database does not answer' },
	{ success: false, code: 'INTERNAL_SERVER_ERROR', message: 'Something went wrong' },
	{ success: false, code: 504, message: 'Gateway Timeout' },
];
