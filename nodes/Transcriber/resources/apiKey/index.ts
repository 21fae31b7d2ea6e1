import type { IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';

import { refuse } from '../../request/checks';
import { perform } from '../../request/perform';
import { itemsOf } from '../../request/run';
import { shownFor } from '../fields';

export const apiKey: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'rotate',
		displayOptions: { show: { resource: ['apiKey'] } },
		options: [
			{
				name: 'Rotate',
				value: 'rotate',
				action: 'Rotate API key',
				description: 'Replace the API key by a new one. The old key stops working at once.',
				routing: {
					request: { method: 'POST', url: '/api-key/generate' },
					operations: {
						pagination: perform({
							prepare: [checkConfirmed],
							policy: { limit: 'other', repeatable: false },
						}),
					},
				},
			},
		],
	},
	...shownFor(
		'apiKey',
		['rotate'],
		[
			{
				displayName:
					'The new key appears only in the output of this step. The credential of this node keeps the old one, which is dead from then on: put the new key there.',
				name: 'rotateNotice',
				type: 'notice',
				default: '',
			},
			{
				displayName: 'Confirm',
				name: 'confirm',
				type: 'boolean',
				default: false,
				description: 'Whether the old key may stop working at once, everywhere it is used',
				hint: 'The old key stops working at once, everywhere it is used',
			},
		],
	),
];

function checkConfirmed(this: IExecutePaginationFunctions): void {
	if (this.getNodeParameter('confirm', false) !== true) {
		throw refuse(
			this,
			"'Confirm' is off, so the API key was not rotated",
			'Turn it on if the old key may stop working at once, everywhere it is used.',
		);
	}
	const items = itemsOf(this);
	if (items > 1) {
		throw refuse(
			this,
			`The API key can be rotated once, but ${items} items came in`,
			"Turn on 'Execute Once' in the settings of this node: the second rotation would use a dead key.",
		);
	}
}
