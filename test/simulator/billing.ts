/** Section "Billing": the price per minute, by the minutes used in the month. */
const TIERS: ReadonlyArray<{ upToMinutes: number; rublesPerMinute: number }> = [
	{ upToMinutes: 10_000, rublesPerMinute: 0.5 },
	{ upToMinutes: 50_000, rublesPerMinute: 0.44 },
	{ upToMinutes: 200_000, rublesPerMinute: 0.4 },
	{ upToMinutes: Infinity, rublesPerMinute: 0.36 },
];
const MINIMUM_TOP_UP = 500;

/** The prepaid API balance and the minutes used in the calendar month. */
export class Billing {
	private readonly secondsByMonth = new Map<string, number>();

	constructor(
		public balance: number,
		private readonly now: () => number,
	) {}

	/** Price in rubles, charged per started second. Each minute has the price of its tier. */
	cost(seconds: number): number {
		let from = this.minutesThisMonth();
		const to = from + Math.ceil(seconds) / 60;
		let rubles = 0;
		for (const tier of TIERS) {
			const end = Math.min(to, tier.upToMinutes);
			if (end <= from) continue;
			rubles += (end - from) * tier.rublesPerMinute;
			from = end;
		}
		return rubles;
	}

	/** Takes the price of a recording from the balance and returns it. */
	charge(seconds: number): number {
		const rubles = this.cost(seconds);
		this.balance -= rubles;
		this.addUsage(Math.ceil(seconds));
		return rubles;
	}

	/** Section "Limits": the minimum top-up is 500 rubles. */
	topUp(rubles: number): void {
		if (!(rubles >= MINIMUM_TOP_UP)) {
			throw new RangeError(`The minimum top-up is ${MINIMUM_TOP_UP} rubles`);
		}
		this.balance += rubles;
	}

	addUsage(seconds: number): void {
		const month = this.month();
		this.secondsByMonth.set(month, (this.secondsByMonth.get(month) ?? 0) + seconds);
	}

	minutesThisMonth(): number {
		return (this.secondsByMonth.get(this.month()) ?? 0) / 60;
	}

	private month(): string {
		return new Date(this.now()).toISOString().slice(0, 7);
	}
}
