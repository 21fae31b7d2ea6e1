import type { IExecuteData, INodeExecutionData, NodeOperationError } from 'n8n-workflow';

/**
 * Where n8n 1 and n8n 2 differ. Nothing here asks which one it runs on: what the one needs, the
 * other does not heed.
 */

/** The setting with n8n's public address: 2.x reads the first and 1.x the second. */
export const PUBLIC_ADDRESS_SETTING = 'N8N_WEBHOOK_URL on n8n 2, WEBHOOK_URL on n8n 1';

/**
 * When nobody wakes a suspended execution in time, n8n passes the node's input on as if it were the
 * result. To make it fail instead: n8n 2 throws the `resumeError` of the stack entry, n8n 1 turns
 * items that carry an error into error outputs.
 */
export function failUnlessWoken(entry: IExecuteData, error: NodeOperationError): void {
	entry.metadata = { ...entry.metadata, resumeError: error };
	const main = entry.data.main ?? [];
	entry.data = {
		...entry.data,
		main: main.map((items) => items?.map((item) => ({ ...item, error })) ?? null),
	};
}

/** Takes {@link failUnlessWoken} back, and returns the node's input. */
export function inputOfWoken(entry: IExecuteData): INodeExecutionData[] {
	delete entry.metadata?.resumeError;
	const [items] = entry.data.main ?? [];
	return (items ?? []).map(({ error: _, ...item }) => item);
}
