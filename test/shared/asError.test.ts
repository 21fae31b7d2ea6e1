/** Whatever is thrown, a message can be shown. */
import { asError, messageOf } from '../../nodes/shared/asError';

describe('What was thrown', () => {
	it('stays the same error if it is one', () => {
		const error = new TypeError('no such thing');
		expect(asError(error)).toBe(error);
		expect(messageOf(error)).toBe('no such thing');
	});

	it.each([['a text'], [undefined], [42]])('becomes an error if it is %p', (thrown) => {
		expect(asError(thrown)).toBeInstanceOf(Error);
		expect(messageOf(thrown)).toBe(String(thrown));
	});
});
