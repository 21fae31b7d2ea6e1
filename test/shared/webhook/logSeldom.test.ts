/** Contract, "Webhook calls": before the signature is verified, a request costs little, also in n8n's log. */

import { NodeOperationError, type INode } from 'n8n-workflow';

import { ServiceError } from '../../../nodes/shared/api/serviceError';
import { logSeldom, wordForLog } from '../../../nodes/shared/webhook/logSeldom';

const NOW = Date.UTC(2026, 10, 22);
const NODE = { id: '1', name: 'Trigger', parameters: {} } as unknown as INode;
const written: string[] = [];

let start = NOW;
beforeEach(() => {
	// Later than everything that the test before has written.
	jest.useFakeTimers({ now: (start += 3_600_000), doNotFake: ['nextTick', 'setImmediate'] });
	written.length = 0;
});
afterEach(() => jest.useRealTimers());

/** A node's context in a workflow. */
const contextOf = (id = '1', workflow = 'w1') => {
	const to = (level: string) => (line: string) => void written.push(`${level} ${line}`);
	return {
		getNode: () => ({ ...NODE, id }),
		getWorkflow: () => ({ id: workflow, active: true }),
		logger: { warn: to('warn'), error: to('error'), info: to('info'), debug: to('debug') },
	};
};

describe('A line in the log of n8n', () => {
	it('is written with its level', () => {
		logSeldom(contextOf(), 'warn', 'refused');
		logSeldom(contextOf(), 'error', 'broken');
		expect(written).toEqual(['warn refused', 'error broken']);
	});

	it('is written again although the clock was set back by an hour since', () => {
		logSeldom(contextOf(), 'warn', 'refused');
		jest.setSystemTime(Date.now() - 3_600_000);
		logSeldom(contextOf(), 'warn', 'refused');
		expect(written).toEqual(['warn refused', 'warn refused']);
	});

	it('is written once in ten seconds, however often it is called for', () => {
		for (const ms of [0, 0, 5_000, 4_999]) {
			jest.advanceTimersByTime(ms);
			logSeldom(contextOf(), 'warn', 'refused');
		}
		expect(written).toEqual(['warn refused']);
		jest.advanceTimersByTime(1);
		logSeldom(contextOf(), 'warn', 'refused');
		expect(written).toEqual(['warn refused', 'warn refused']);
	});

	it('does not hide another line, nor that of another node or workflow', () => {
		logSeldom(contextOf(), 'warn', 'refused');
		logSeldom(contextOf(), 'warn', 'too large');
		logSeldom(contextOf('2'), 'warn', 'refused');
		logSeldom(contextOf('1', 'w2'), 'warn', 'refused');
		expect(written).toHaveLength(4);
	});

	it('is one of at most a hundred in ten seconds, whatever strangers call', () => {
		for (let count = 0; count < 105; count++) logSeldom(contextOf(), 'warn', `${count}`);
		expect(written).toHaveLength(100);
		logSeldom(contextOf(), 'warn', '0');
		expect(written.at(-1)).toBe('warn 99');
		jest.advanceTimersByTime(10_000);
		logSeldom(contextOf(), 'warn', 'at last');
		expect(written.at(-1)).toBe('warn at last');
	});
});

describe('The log says of a failure', () => {
	it('the message of an error of this package', () => {
		const service = new ServiceError(NODE, { path: '/tasks/1', status: 404 });
		expect(wordForLog(service)).toBe(service.message);
		expect(wordForLog(new NodeOperationError(NODE, 'No consent'))).toBe('No consent');
	});

	it('only the kind of any other, because its message may hold a secret', () => {
		expect(wordForLog(new TypeError('whsec_1'))).toBe('TypeError');
		const refused = Object.assign(new Error('whsec_1'), { code: 'ECONNREFUSED' });
		expect(wordForLog(refused)).toBe('Error (ECONNREFUSED)');
		expect(wordForLog(Object.assign(new Error('whsec_1'), { code: { secret: 1 } }))).toBe('Error');
		expect(['whsec_1', undefined].map(wordForLog)).toEqual(['string', 'undefined']);
	});
});
