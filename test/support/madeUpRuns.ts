/** What n8n makes up, after a crash, of a node of which it had saved nothing (execution-recovery.service.js, `amend`). */
import type { ExecutionError, ITaskData } from 'n8n-workflow';

const run = { startTime: 0, executionIndex: 0, source: [null] };

export const MADE_UP: Record<'begun' | 'ended', ITaskData> = {
	begun: {
		...run,
		executionTime: 0,
		executionStatus: 'crashed',
		error: new Error('Node crashed, possible out-of-memory issue') as ExecutionError,
	},
	ended: {
		...run,
		executionTime: 100,
		executionStatus: 'success',
		data: { main: [[{ json: { isArtificialRecoveredEventItem: true }, pairedItem: undefined }]] },
	},
};
