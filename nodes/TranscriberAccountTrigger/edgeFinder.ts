import type { IDataObject } from 'n8n-workflow';

import type { PagesWithinBudget } from './pagesWithinBudget';
import { ACCOUNT_MEMORY, possibleSince, type State } from './rememberedBetweenPolls';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import { hashesIn, hashesOf } from './taskHashes';

/** A page of the list, where it begins, and the index in it of the last task of the edge, or -1. */
interface Look {
	offset: number;
	page: IDataObject[];
	last: number;
	isEnd: boolean;
}

/** What a scan has seen of the known part: see {@link State.sought}. */
type Seen = Pick<NonNullable<State['sought']>, 'known' | 'run'>;

/**
 * Finds the edge in the list: the last tasks of the known part, in their order. New tasks that come
 * before them, and deleted tasks, move the edge.
 *
 * Only a task of the edge itself shows where the edge is. Whether other tasks are known is a guess at
 * where to look first: among many new tasks, every page is unknown. Only a scan of the whole range in
 * which the edge can be may conclude that the edge is gone. A poll that has no request or no time
 * left before that concludes nothing, and the next poll continues the scan.
 */
export class EdgeFinder {
	/** The place of each task of the edge in it. */
	private places = new Map<string, number>();

	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
		private readonly tasks: NewSinceLastPoll,
	) {
		this.places = placesOf(hashesIn(state.edge));
	}

	/** The edge, in the order of the list. */
	get hashes(): string[] {
		return [...this.places.keys()];
	}

	/** Sets the edge, as the end of the known part at this offset of the list. */
	moveTo(offset: number, hashes: string[]): void {
		this.places = placesOf(hashes.filter((hash) => hash !== '').slice(-ACCOUNT_MEMORY.tail));
		const edge = this.hashes.join('');
		Object.assign(this.state, { frontier: offset, edge, sought: undefined });
	}

	/** The index of the last task of the edge in a page; -1 if the page has none. */
	lastIn(page: IDataObject[]): number {
		return hashesOf(page).reduce((last, hash, at) => (this.places.has(hash) ? at : last), -1);
	}

	/**
	 * Searches for the edge, and sets `state.frontier` to the offset behind it. Returns the tasks
	 * behind it in its page; none at the end of the list. `gone` if the list has no task of the edge,
	 * `short` if it has none and ends early; undefined if the requests or the time that are left do not
	 * suffice to find it.
	 *
	 * @param overlap How many tasks of the edge to read again where it is expected.
	 */
	async find(overlap: number): Promise<IDataObject[] | 'gone' | 'short' | undefined> {
		const { state, pages } = this;
		if (!state.sought) {
			if (!pages.has(1)) return undefined;
			const near = await this.look(Math.max(0, state.frontier - overlap));
			if (near.last >= 0) return await this.behind(near);
			// If this poll fails or has no request left, the next poll scans instead of guessing.
			state.sought = { place: state.frontier };
			const guessed = await this.guess(near);
			if (guessed) return await this.behind(guessed);
		}
		const scanned = await this.scan();
		return typeof scanned === 'object' ? await this.behind(scanned) : scanned;
	}

	/**
	 * The known tasks of a page if most of it is known; none otherwise. Tasks at the end of the list do
	 * not count: they are known although those before them are not.
	 */
	knownIn(page: IDataObject[]): IDataObject[] {
		const tail = new Set(hashesIn(this.state.tail));
		const known = page.filter(
			(task) => this.tasks.isKnown(task) && !hashesOf([task]).some((hash) => tail.has(hash)),
		);
		return known.length * 2 > page.length ? known : [];
	}

	private async look(offset: number): Promise<Look> {
		const page = await this.pages.page(offset);
		const isEnd = page.length === 0 || this.pages.isSeenBefore(page, offset);
		return { offset, page, last: this.lastIn(page), isEnd };
	}

	/**
	 * Looks where the known tasks end, with steps that double and then by binary search: right unless
	 * the new tasks before the known part outnumber the known part.
	 */
	private async guess({ offset: from, page: first }: Look): Promise<Look | undefined> {
		const { pages } = this;
		const isBefore = this.knownIn(first).length > 0;
		let [low, high] = isBefore ? [from + first.length, Infinity] : [0, from];
		for (let step = this.stride(first); high - low > this.stride() && pages.has(1); step *= 2) {
			const next = high === Infinity ? low + step : Math.floor((low + high) / 2);
			const look = await this.look(next);
			if (look.last >= 0) return look;
			if (!look.isEnd && this.knownIn(look.page).length > 0) low = next + look.page.length;
			else high = next;
		}
		return undefined;
	}

	/**
	 * Looks through the list from where the edge was on, and then from the beginning, with steps that
	 * cannot miss the edge even if half of it is deleted. New tasks move it only towards the end, and
	 * by no more than can have been submitted since it was last found.
	 */
	private async scan(): Promise<Look | 'gone' | 'short' | undefined> {
		const { state, pages } = this;
		const until = state.frontier + possibleSince(state);
		while (pages.has(1)) {
			const { place = 0, isSecondRound, known, run } = state.sought ?? {};
			const look = await this.look(place);
			if (look.last >= 0) return look;
			if (run && place > run.end && !this.isKnownPart(look)) {
				// Only what follows known tasks directly shows whose they are.
				state.sought = { place: run.end, isSecondRound, known, run };
				continue;
			}
			const seen = this.seenWith(look, { known, run });
			const next = place + this.stride(look.page);
			if (!look.isEnd && (next <= until || seen.run)) {
				state.sought = { place: next, isSecondRound, ...seen };
			} else if (!isSecondRound) state.sought = { place: 0, isSecondRound: true };
			// The conclusion needs a request. Without one, the next poll looks here again.
			else if (!pages.has(1)) return undefined;
			else {
				state.sought = { place, isSecondRound, ...seen };
				return look.isEnd ? 'short' : 'gone';
			}
		}
		return undefined;
	}

	/**
	 * What a scan has seen of the known part, with one more page. Known tasks that go on to the tail do
	 * not count: they have come to the end of the list, and were not read from its beginning.
	 */
	private seenWith(look: Look, { known, run }: Seen): Seen {
		const { offset, page } = look;
		if (this.isKnownPart(look)) return { known, run: { place: offset, end: offset + page.length } };
		return { known: this.hasTail(look) ? known : (run?.place ?? known) };
	}

	private isKnownPart(look: Look): boolean {
		return !look.isEnd && !this.hasTail(look) && this.knownIn(look.page).length > 0;
	}

	private hasTail({ page, isEnd }: Look): boolean {
		const tail = new Set(hashesIn(this.state.tail));
		return !isEnd && hashesOf(page).some((hash) => tail.has(hash));
	}

	/** How far a step may go without missing the edge. */
	private stride(page: IDataObject[] = []): number {
		return page.length + Math.floor(this.places.size / 2);
	}

	/** From a page with tasks of the edge on: the tasks behind the last of them. */
	private async behind(look: Look): Promise<IDataObject[] | undefined> {
		const { state, pages } = this;
		state.sought = undefined;
		let mayLeap = true;
		for (let { offset, page, last } = look; ;) {
			if (last < page.length - 1) {
				state.frontier = offset + last + 1;
				state.shortLists = undefined;
				return page.slice(last + 1);
			}
			const end = offset + page.length;
			const left = this.places.size - 1 - (this.places.get(hashesOf(page)[last] ?? '') ?? 0);
			for (;;) {
				state.frontier = end;
				if (!pages.has(1)) return undefined;
				const next = await this.look(end + (mayLeap ? Math.max(0, left - 1) : 0));
				const isBehind = next.isEnd || next.last < 0;
				if (!isBehind) {
					({ offset, page, last } = next);
					break;
				}
				if (next.offset === end) {
					if (!next.isEnd) state.shortLists = undefined;
					return next.isEnd ? [] : next.page;
				}
				// Tasks of the edge were deleted, so it ends before.
				mayLeap = false;
			}
		}
	}
}

function placesOf(hashes: string[]): Map<string, number> {
	return new Map(hashes.map((hash, place) => [hash, place]));
}
