/** Two submits of an execution at the same time. */
import { isBeingSent, oncePerPlace } from '../../../../nodes/Transcriber/submit/once/oncePerPlace';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const saved = {};
const items = [{ json: {} }, { json: {} }];
const at = (itemIndex = 0) => itemContext(LINK, { saved, items, itemIndex });

describe('Of two submits at the same time', () => {
	it('for the same item, the second gets the outcome of the first', async () => {
		const send = jest.fn(async () => await Promise.resolve({}));
		const [first, second] = await Promise.all([oncePerPlace(at(), send), oncePerPlace(at(), send)]);
		expect(second).toBe(first);
		expect(send).toHaveBeenCalledTimes(1);
	});

	it('for two items, both are sent', async () => {
		const send = jest.fn(async () => await Promise.resolve({}));
		await Promise.all([oncePerPlace(at(), send), oncePerPlace(at(1), send)]);
		expect(send).toHaveBeenCalledTimes(2);
	});

	it('the second is sent if the first is over, also if it has failed', async () => {
		const failing = oncePerPlace(at(), async () => await Promise.reject(new Error('refused')));
		await expect(failing).rejects.toThrow('refused');
		expect(await oncePerPlace(at(), async () => await Promise.resolve('sent'))).toBe('sent');
	});
});

it('An item is being sent from the begin of its submit to the end, and no other item is', async () => {
	let end = () => {};
	const sending = oncePerPlace(
		at(),
		async () => await new Promise<void>((resolve) => (end = resolve)),
	);
	expect([isBeingSent(at()), isBeingSent(at(1))]).toEqual([true, false]);
	end();
	await sending;
	expect(isBeingSent(at())).toBe(false);
});
