import type { IExecuteSingleFunctions } from 'n8n-workflow';

import { choiceIn, collectionIn, numberIn } from '../../shared/parameters/checkedValues';
import { outputOptionsOf, type OutputOptions } from '../../shared/parameters/outputOptions';

/** 'Transcript Options' with all defaults filled in. */
interface WaitOptions extends OutputOptions {
	/** Between two status requests, in seconds. */
	pollInterval: number;
	/** In minutes. */
	timeout: number;
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
	const onBalance = ['keepWaiting', 'fail'] as const;
	return {
		pollInterval:
			numberIn(context, given.pollInterval, 'Poll Interval', seconds) ?? WAIT_DEFAULTS.pollInterval,
		timeout: numberIn(context, given.timeout, 'Timeout', minutes) ?? WAIT_DEFAULTS.timeout,
		...outputOptionsOf(context, given),
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
