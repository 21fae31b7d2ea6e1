/** The form of what n8n saves of suspended executions, which later versions have to read. */
import { waitingKey } from '../../../../nodes/Transcriber/submit/once/suspensionState';

it('The first task of an item has the number of the item as its key, as in older executions', () => {
	expect(waitingKey(3, 0)).toBe('3');
});

it('Each further task of an item has another key', () => {
	expect(waitingKey(3, 1)).toBe('3.1');
	expect(waitingKey(31, 0)).not.toBe(waitingKey(3, 1));
});
