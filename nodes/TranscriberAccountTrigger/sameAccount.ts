import type { IDataObject } from 'n8n-workflow';

import { OVERLAP, type PagesWithinBudget } from './pagesWithinBudget';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import { possibleSince, type State } from './rememberedBetweenPolls';

/**
 * Whether a new API key belongs to the account that the state is about. After a rotation the service
 * still shows known tasks, although maybe behind many new ones: so only a list whose end was found
 * without a known task is one of another account. An account that had no tasks can have new ones by
 * now, but no more than is possible. An empty list proves nothing.
 *
 * Undefined if the requests or the time of the poll do not suffice. Then `state.keySearch` says where
 * the next poll goes on.
 */
export async function isSameAccount(
	firstPage: IDataObject[],
	state: State,
	pages: PagesWithinBudget,
	tasks: NewSinceLastPoll,
): Promise<boolean | undefined> {
	const showsKnown = (page: IDataObject[]) => page.some((task) => tasks.isKnown(task));
	if (firstPage.length === 0 || showsKnown(firstPage)) return true;
	const first = firstPage.length;
	// A task of the known end is there, unless the new tasks before the end outnumber the end, or the service
	// has deleted the end. Then known tasks are behind the new ones, and far more than these.
	const expected = Math.max(first, (state.end ?? 0) - OVERLAP);
	let { low = first, high = Infinity, before = expected } = state.keySearch ?? {};
	for (; before > first; before = Math.floor(before / 2)) {
		if (!pages.has(1)) return undefined;
		const page = await pages.page(before);
		if (showsKnown(page)) return true;
		if (page.length === 0 || pages.isSeenBefore(page, before)) high = before;
		else low = Math.max(low, before + page.length);
		state.keySearch = { low, high: finite(high), before: Math.floor(before / 2) };
	}
	let next = high === Infinity ? low : Math.floor((low + high) / 2);
	for (let step = 1; low < high; step *= 2) {
		if (!pages.has(1)) return undefined;
		const page = await pages.page(next);
		if (showsKnown(page)) return true;
		if (page.length === 0 || pages.isSeenBefore(page, next)) high = next;
		else low = next + page.length;
		state.keySearch = { low, high: finite(high), before };
		next = Math.min(low + step, Math.floor((low + high) / 2));
	}
	return state.complete && tasks.hasKnownNone && low <= possibleSince(state);
}

/** JSON has no Infinity. */
function finite(offset: number): number | undefined {
	return offset === Infinity ? undefined : offset;
}
