import {
	NodeOperationError,
	type IExecutePaginationFunctions,
	type IWebhookDescription,
} from 'n8n-workflow';

/**
 * Where a suspended execution receives deliveries: at `$execution.resumeUrl`, which n8n documents,
 * with the path of this webhook behind it, which n8n does not document. Seen in 2.41.1 and
 * 1.123.81 (waiting-webhooks.js, get-additional-keys.js): n8n serves `restartWebhook` only for the
 * node that has suspended the execution, at the execution's address and the path.
 */
export const resumeWebhooks: IWebhookDescription[] = [
	{
		name: 'default',
		httpMethod: 'POST',
		responseMode: 'onReceived',
		path: '={{ $nodeId }}',
		isFullPath: true,
		restartWebhook: true,
	},
];

/**
 * The address of {@link resumeWebhooks} for this execution and this node. On n8n 2 it has a query
 * with a token. Throws if this n8n has no such address.
 */
export function resumeUrlOf(context: IExecutePaginationFunctions): string {
	const given = String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0));
	if (!URL.canParse(given)) {
		throw new NodeOperationError(
			context.getNode(),
			'The webhook address of this n8n is not a web address',
			{
				description:
					'It has to begin with https:// (N8N_WEBHOOK_URL on n8n 2, WEBHOOK_URL on n8n 1). Or choose Wait for the Transcript (Polling).',
			},
		);
	}
	const address = new URL(given);
	address.pathname += `/${context.getNode().id}`;
	return address.href;
}
