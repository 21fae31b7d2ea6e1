import type { IExecutePaginationFunctions } from 'n8n-workflow';

/** The webhook address of this execution and this node. */
export function ownAddress(context: IExecutePaginationFunctions): string {
	const address = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	address.pathname += `/${context.getNode().id}`;
	return address.href;
}
