/** Whether a dialect has been spoken: whether the service would have said the same without it. */
import type { LoggedRequest, Simulator } from '../simulator';
import {
	bytesOf,
	dialectOf,
	kindOf,
	type Dialect,
	type DialectName,
	type Wire,
} from '../simulator/dialects';

/** Listens from now on, until the test ends. Returns whether the dialect was spoken since the last reset of the service. */
export function listenTo(name: DialectName): (simulator: Simulator) => boolean {
	const dialect = dialectOf(name);
	const { instead, delivery } = dialect;
	let hasChanged = false;
	if (instead) {
		jest.spyOn(dialect, 'instead').mockImplementation((asked) => {
			const said = instead(asked);
			hasChanged ||= said !== undefined;
			return said;
		});
	}
	for (const part of ['success', 'refusal'] as const) {
		const change = dialect[part];
		if (!change) continue;
		jest.spyOn(dialect, part).mockImplementation((wire, asked) => {
			const said = change(wire, asked);
			hasChanged ||= lineOf({ ...wire, ...said }) !== lineOf(wire);
			return said;
		});
	}
	if (delivery) {
		jest.spyOn(dialect, 'delivery').mockImplementation((body, copy) => {
			const said = delivery(body, copy);
			const { body: own = body, raw = JSON.stringify(own), ...more } = said;
			hasChanged ||= raw !== JSON.stringify(body) || Object.keys(more).length > 0;
			return said;
		});
	}
	return (simulator) =>
		(hasChanged || isShaped(dialect, simulator) || isDelivered(dialect, simulator)) &&
		(!isAboutKeys(dialect) || hasKey(simulator));
}

/** What goes over the wire. */
function lineOf(wire: Wire): string {
	return JSON.stringify([wire.status, wire.headers, bytesOf(wire).toString('latin1')]);
}

/** Whether the state of the service or its log shows what the dialect makes of them. */
function isShaped({ shapes = {} }: Dialect, { requests, tasks }: Simulator): boolean {
	const lists = requests.filter(({ method, path }) => kindOf(method, path) === 'list');
	const statuses: unknown[] = Object.entries(shapes)
		.filter(([name]) => name.endsWith('Status'))
		.map(([, value]) => value);
	const { taskListMaximum = Infinity, taskListIgnores = [], taskListOrder } = shapes;
	const isRefused = shapes.taskListAboveMaximum === 'refused';
	return (
		requests.some(({ status }) => statuses.includes(status)) ||
		tasks().some(({ status }) => statuses.includes(status)) ||
		(isRefused && lists.some(({ status = 0 }) => status >= 400)) ||
		(!isRefused && lists.length > 0 && tasks().length > taskListMaximum) ||
		(shapes.botStatuses !== undefined && requests.some(isOfBot)) ||
		(taskListIgnores.includes('offset') &&
			lists.some(({ query }) => Number(query['offset']) > 0)) ||
		(taskListOrder !== undefined && lists.length > 0 && tasks().length > 1)
	);
}

function isOfBot({ method, path, status }: LoggedRequest): boolean {
	return kindOf(method, path) === 'bot' && status === 200;
}

/** Whether it was delivered more often, or was not delivered again although it was refused. */
function isDelivered({ copies, retries }: Dialect, { deliveries }: Simulator): boolean {
	const isRefused = deliveries.some(({ status, error }) => error !== undefined || status !== 200);
	return (
		(copies !== undefined && deliveries.length >= copies) || (retries !== undefined && isRefused)
	);
}

function isAboutKeys({ rows }: Dialect): boolean {
	return rows.some((row) => row.startsWith('Whether /transcribe-url heeds'));
}

function hasKey({ requests }: Simulator): boolean {
	return requests.some(
		({ method, path, headers }) =>
			kindOf(method, path) === 'link' && headers['idempotency-key'] !== undefined,
	);
}
