/** What names a submission: at the service, in the output, in messages, and where a secret is stored. */

import {
	idFields,
	idsIn,
	submissionKey,
	submissionName,
} from '../../../nodes/shared/api/submission';

it('The ids of a submission are those in its answer, also if they are numbers', () => {
	expect(idsIn({ task_id: '7f3c', status: 'pending' })).toEqual({ taskId: '7f3c' });
	expect(idsIn({ bot_id: 5, task_id: '' })).toEqual({ botId: '5' });
	expect(idsIn({ bot_id: 'b1', task_id: '7f3c' })).toEqual({ botId: 'b1', taskId: '7f3c' });
	expect(idsIn({})).toEqual({});
});

it('An output has the ids that are known, under the names of the service', () => {
	expect(idFields({ taskId: '7f3c', botId: 'b1' })).toEqual({ task_id: '7f3c', bot_id: 'b1' });
	expect(idFields({ botId: 'b1' })).toEqual({ bot_id: 'b1' });
	expect(idFields({ taskId: '7f3c' })).toEqual({ task_id: '7f3c' });
	expect(idFields({})).toEqual({});
});

it('A secret is sealed to a name that never changes: executions that are suspended now still wake', () => {
	expect(submissionKey({ taskId: '7f3c' })).toBe('task 7f3c');
	expect(submissionKey({ botId: 'b1' })).toBe('bot b1');
	expect(submissionKey({ taskId: '7f3c', botId: 'b1' })).toBe('task 7f3c');
});

it('A message names the task, or the bot as long as it has none', () => {
	expect(submissionName({ taskId: '7f3c', botId: 'b1' })).toBe('task 7f3c');
	expect(submissionName({ botId: 'b1' })).toBe('bot b1');
	expect(submissionName({})).toBe('something without an id');
});
