/**
 * For what n8n has made a context. n8n does not document it, so a method tells that only contexts of
 * this kind have. Seen in 2.41.1 and 1.123.81 (node-execution-context/ of n8n-core).
 */

/** For one item of a node that runs. n8n makes one for each item, and keeps it until the item ends. */
export function isForItem(context: object): boolean {
	return 'getItemIndex' in context;
}

/** For a call of a webhook. n8n makes one for each call. */
export function isForWebhookCall(context: object): boolean {
	return 'getRequestObject' in context;
}

/** For a list in the editor. n8n makes one for each list. */
export function isForEditorList(context: object): boolean {
	return 'getCurrentNodeParameter' in context;
}
