import { toCronExpression, type INode, type TriggerTime } from 'n8n-workflow';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The longest time between two polls of a trigger at its poll times, rounded up, in ms. */
export function longestPause({ parameters }: INode): number {
	const { item = [] } = (parameters.pollTimes ?? {}) as { item?: TriggerTime[] };
	const pauses = item.map((time) => pauseOf(toCronExpression(time)));
	// n8n's own default is every minute.
	return pauses.length > 0 ? Math.min(...pauses) : HOUR_MS;
}

function pauseOf(cron: string): number {
	const [weekday = '*', month = '*', day = '*', hour = '*'] = cron.trim().split(/\s+/).reverse();
	if (month !== '*') return 366 * DAY_MS;
	// A month may have none of these days.
	if (/^(29|3[01])([,-](29|3[01]))*$/.test(day)) return 62 * DAY_MS;
	if (day !== '*' && day !== '?') return 31 * DAY_MS;
	if (weekday !== '*' && weekday !== '?') return 7 * DAY_MS;
	return hour === '*' ? HOUR_MS : DAY_MS;
}
