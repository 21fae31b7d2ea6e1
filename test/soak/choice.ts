/** What an account does next: the same for the same seed. */
import { NOT_TRIED, expectedOf } from '../faults/expected';
import { operationRows } from '../faults/operationRows';
import { operationNamed, row, type Row } from '../faults/row';
import { SUBMITS, submitRows } from '../faults/submitRows';
import { triggerRows } from '../faults/triggerRows';
import { WEATHER, type Weather } from '../faults/weather';
import { isTask } from '../faults/wrong';
import type { FaultRule } from '../simulator';

export interface Choice {
	row: Row;
	/** Unset: nothing goes wrong. */
	weather?: Weather;
	/** What happens to the next delivery of the service. */
	delivery?: FaultRule['action'];
}

/** Wrong, late and repeated deliveries. The service repeats those that are refused. */
const DELIVERIES: Array<FaultRule['action']> = [
	{ kind: 'double' },
	{ kind: 'forge' },
	{ kind: 'unsigned' },
	{ kind: 'delay', ms: 5_000 },
];

const IN_TEN = { faults: 4, longOnes: 1, badDeliveries: 3 };

export class Chooser {
	private readonly groups: Row[][];

	/** `noted` gets the ids of what was submitted with the standing trigger as its receiver. */
	constructor(
		private state: number,
		triggerUrl: string,
		noted: (id: string) => void,
	) {
		const submits = submitRows.filter(({ name }) => !name.includes('notifyTrigger'));
		const notifies = notifyRows(triggerUrl, noted);
		const others = operationRows.filter(({ name }) => !name.startsWith('apiKey.'));
		this.groups = [submits, submits, submits, notifies, notifies, others, others, triggerRows];
	}

	/** `isOutage`: n8n stops in the middle, which has to be the only thing that does not come back. */
	next(isOutage: boolean): Choice {
		const all = this.oneOf(this.groups);
		// n8n 2 sends a second bot if it is killed while it publishes: GAPS in exceptions.ts.
		const found = this.oneOf(all.filter(({ kind }) => !isOutage || kind !== 'activation'));
		const isLong = this.hits(IN_TEN.longOnes);
		const weathers = WEATHER.filter(
			(one) =>
				one.isLong === isLong &&
				one.name !== 'kill -9' &&
				expectedOf(found, one.name) !== NOT_TRIED,
		);
		const isBad = this.hits(IN_TEN.faults) && !isOutage && weathers.length > 0;
		return {
			row: found,
			weather: isBad ? this.oneOf(weathers) : undefined,
			delivery: this.hits(IN_TEN.badDeliveries) ? this.oneOf(DELIVERIES) : undefined,
		};
	}

	oneOf<T>(list: readonly T[]): T {
		const one = list[Math.floor(this.random() * list.length)];
		if (one === undefined) throw new Error('There is nothing to choose from');
		return one;
	}

	private hits(inTen: number): boolean {
		return this.random() * 10 < inTen;
	}

	/** Mulberry32: from 0 to 1. */
	private random(): number {
		this.state = (this.state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}
}

/** With a trigger that is there for the whole run: what it stores must not grow without end. */
function notifyRows(triggerUrl: string, noted: (id: string) => void): Row[] {
	return SUBMITS.map(({ name, post, more, file }) =>
		row(
			`${name}, notifyTrigger: standing`,
			file ? 'file' : 'once',
			post,
			{
				parameters: () => ({
					...operationNamed(name),
					...more,
					onCompletion: 'notifyTrigger',
					triggerUrl,
				}),
				file,
				wrong(items, cell, id) {
					for (const { json } of items) noted(String(json['task_id'] ?? json['bot_id']));
					return isTask(items, cell, id);
				},
			},
			1,
		),
	);
}
