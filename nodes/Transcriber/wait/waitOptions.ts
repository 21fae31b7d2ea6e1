import type { IExecuteSingleFunctions } from 'n8n-workflow';

import {
	booleanIn,
	choiceIn,
	collectionIn,
	numberIn,
	textIn,
} from '../../shared/parameters/checkedValues';
import { EXPORT_FORMATS, type ExportFormat } from '../../shared/exportFormats';

/** 'Transcript Options' with all defaults filled in. */
interface WaitOptions {
	/** Between two status requests, in seconds. */
	pollInterval: number;
	/** In minutes. */
	timeout: number;
	includeResult: boolean;
	exportFormat: ExportFormat | 'none';
	/** A binary file, or the text in the output field `export`. */
	exportAs: 'file' | 'text';
	exportBinaryPropertyName: string;
	onInsufficientBalance: 'keepWaiting' | 'fail';
}

/** In seconds and minutes. */
export const WAIT_DEFAULTS = { pollInterval: 10, timeout: 180 };

/** Longer intervals would overflow a timer of Node.js. */
const LONGEST_POLL_INTERVAL_SECONDS = 24 * 3600;

const LONGEST_TIMEOUT_MINUTES = 60 * 24 * 60;

/** 'Transcript Options' of the item. Refuses invalid values. */
export function waitOptionsOf(
	context: Pick<IExecuteSingleFunctions, 'getNode' | 'getNodeParameter'>,
): WaitOptions {
	const given = collectionIn(
		context,
		context.getNodeParameter('waitOptions', {}),
		'Transcript Options',
	);
	const seconds = { above: 0, max: LONGEST_POLL_INTERVAL_SECONDS };
	const minutes = { above: 0, max: LONGEST_TIMEOUT_MINUTES };
	const formats = ['none', ...EXPORT_FORMATS] as const;
	const onBalance = ['keepWaiting', 'fail'] as const;
	const field = textIn(context, given.exportBinaryPropertyName, 'Put Output File in Field');
	return {
		pollInterval:
			numberIn(context, given.pollInterval, 'Poll Interval', seconds) ?? WAIT_DEFAULTS.pollInterval,
		timeout: numberIn(context, given.timeout, 'Timeout', minutes) ?? WAIT_DEFAULTS.timeout,
		includeResult: booleanIn(context, given.includeResult, 'Include Result') ?? true,
		exportFormat: choiceIn(context, given.exportFormat, 'Export Format', formats) ?? 'none',
		exportAs: choiceIn(context, given.exportAs, 'Export As', ['file', 'text']) ?? 'file',
		exportBinaryPropertyName: field ?? 'data',
		onInsufficientBalance:
			choiceIn(context, given.onInsufficientBalance, 'On Insufficient Balance', onBalance) ??
			'keepWaiting',
	};
}

/** Refuses invalid wait options before anything is submitted. */
export function checkWaitOptions(
	context: Pick<IExecuteSingleFunctions, 'getNode' | 'getNodeParameter'>,
): void {
	waitOptionsOf(context);
}
