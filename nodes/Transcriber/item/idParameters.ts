import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
} from 'n8n-workflow';
import { isAccident, isUnevaluated, unevaluated } from '../../shared/parameters/accidentalText';
import { isNothing } from '../../shared/parameters/checkedValues';
import { isObject } from '../../shared/jsonValues';
import { checkNotRounded } from '../../shared/parameters/roundedNumber';
import { idIn, isNoId } from '../../shared/api/undocumented/idNames';
import { refuse } from '../../shared/parameters/refuse';
import type { RoutingRequest } from '../../shared/api/types';

const IDS = {
	taskId: { displayName: 'Task', from: 'task_id' },
	botId: { displayName: 'Bot ID', from: 'bot_id' },
};

/** The id in a parameter, as text. Refuses any other value: it could change the path or be another id. */
export function idFrom(context: IExecuteSingleFunctions, parameter: keyof typeof IDS): string {
	const { displayName, from } = IDS[parameter];
	const value: unknown = context.getNodeParameter(parameter, '', { extractValue: true });
	checkNotRounded(context, value, displayName);
	const { [parameter]: stored } = context.getNode().parameters;
	const entered = isObject(stored) ? (stored as IDataObject).value : stored;
	if (typeof value === 'string' && isUnevaluated(entered, value, true)) {
		throw unevaluated(context, value.trim(), displayName);
	}
	const id = idIn(typeof value === 'string' ? value.trim() : value) ?? '';
	if (id && isSafeInPath(id)) return id;
	const reason = isNothing(value) ? 'is empty' : 'is not an id';
	const isShown = typeof value === 'number' || (typeof value === 'string' && !isNoId(value));
	throw refuse(
		context,
		`The parameter '${displayName}' ${reason}${isShown ? `: '${String(value).trim().slice(0, 80)}'` : ''}`,
		`Use the ${from} that an earlier step returned, for example {{ $json.${from} }}.`,
	);
}

/** A lone surrogate cannot be written in a URL. */
function isSafeInPath(text: string): boolean {
	return !/\p{Surrogate}/u.test(text) && !isAccident(text);
}

/** Puts the encoded ids into a declared path such as `/tasks/{taskId}`. */
export function fillPath(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	request.options.url = (request.options.url ?? '').replace(
		/\{(taskId|botId)\}/g,
		(_, parameter: keyof typeof IDS) => encodeURIComponent(idFrom(context, parameter)),
	);
}

/**
 * The id that {@link fillPath} has put at the end of the path. To ask n8n for the parameter again
 * would evaluate its expression again, which takes half a millisecond.
 */
export function idInPath({ options: { url = '' } }: RoutingRequest): string {
	return decodeURIComponent(url.slice(url.lastIndexOf('/') + 1));
}
