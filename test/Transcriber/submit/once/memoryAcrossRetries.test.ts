/** What this process remembers for the Retries of an execution. */
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import {
	recallRetried,
	rememberRetried,
} from '../../../../nodes/Transcriber/submit/once/memoryAcrossRetries';

it('is found by the parameters of a tool call, which it does not keep: a link may hold a passcode', () => {
	const nodeContext = { lineage: { id: 'first of all', firstExecution: '41' } };
	const context = {
		getContext: () => nodeContext,
		getExecutionId: () => '42',
	} as unknown as IExecutePaginationFunctions;
	const place = JSON.stringify(['https://meet.example.com/j/1?pwd=passcode']);
	const set = jest.spyOn(Map.prototype, 'set');
	rememberRetried(context, place, { taskId: '7f3c' });
	const keys = set.mock.calls.map(([key]) => String(key));
	set.mockRestore();
	expect(recallRetried(context, place)).toEqual({ taskId: '7f3c' });
	expect(recallRetried(context, '[]')).toBeUndefined();
	expect(keys).toHaveLength(1);
	expect(keys[0]).not.toContain('passcode');
});
