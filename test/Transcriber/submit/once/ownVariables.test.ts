/** Variables of n8n that are another one in each execution, in an item that nobody has changed. */
// Also covers steadyValue.ts, sameRequest.ts.

import { askedFor } from '../../../../nodes/Transcriber/submit/once/sameRequest';
import { itemContext } from '../../../support/itemContext';
import { FILE, LINK } from '../../../support/parameters';

const VARIABLES = ['$executionId', '$execution.id', '$now', '$today.toISO()', '$runIndex'];

describe.each([LINK, FILE])('in a Retry, $operation', (parameters) => {
	it.each(VARIABLES)('with {{ %s }} in its prompt asks for the same', (variable) => {
		const options = { prompt: `={{ ${variable} }}` };
		const asked = (executionId: string, runIndex: number, day: string) => {
			jest.useFakeTimers({ now: new Date(day), doNotFake: ['nextTick', 'setImmediate'] });
			try {
				return askedFor(itemContext({ ...parameters, options }, { executionId, runIndex }));
			} finally {
				jest.useRealTimers();
			}
		};
		expect(asked('42', 1, '2030-01-02T12:00:00Z')).toBe(asked('41', 0, '2030-01-01T12:00:00Z'));
	});
});
