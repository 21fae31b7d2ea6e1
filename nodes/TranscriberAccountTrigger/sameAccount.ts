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
 * the next poll goes on with the same key. `account` is the hash that {@link State.account} would have.
 */
export async function isSameAccount(
	account: string,
	firstPage: IDataObject[],
	state: State,
	pages: PagesWithinBudget,
	tasks: NewSinceLastPoll,
): Promise<boolean | undefined> {
	const showsKnown = (page: IDataObject[]) => page.some((task) => tasks.isKnown(task));
	const first = firstPage.length;
	if (first === 0 || showsKnown(firstPage)) return true;
	if (state.keySearch?.account !== account) {
		const before = Math.max(first, (state.end ?? 0) - OVERLAP);
		state.keySearch = { account, low: first, before };
	}
	const search = state.keySearch;
	for (let step = 1; search.before > first || search.low < (search.high ?? Infinity);) {
		if (!pages.has(1)) return undefined;
		const { low, high = Infinity, before } = search;
		// A task of the known end is there, unless the new tasks before the end outnumber the end, or the
		// service has deleted the end. Then known tasks are behind the new ones, and far more than these.
		const isBeforeEnd = before > first;
		const behind = Math.min(low + step - 1, Math.floor((low + high) / 2));
		const offset = isBeforeEnd ? before : behind;
		const page = await pages.page(offset);
		if (showsKnown(page)) return true;
		if (page.length === 0 || pages.isSeenBefore(page, offset)) search.high = offset;
		else search.low = Math.max(low, offset + page.length);
		if (isBeforeEnd) search.before = Math.floor(before / 2);
		else step *= 2;
	}
	return state.complete && tasks.hasKnownNone && search.low <= possibleSince(state);
}
