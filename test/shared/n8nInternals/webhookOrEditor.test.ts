/** What tells the contexts of n8n apart, in the n8n-core of the lock file. */
import {
	isForEditorList,
	isForItem,
	isForWebhookCall,
} from '../../../nodes/shared/n8nInternals/webhookOrEditor';
import { additionalDataFor } from '../../support/n8n';
import { contextsWith } from './contexts';

const contexts = contextsWith(additionalDataFor({ baseUrl: 'https://a.example', apiKey: 'key' }));

it.each([
	['an item', isForItem, 'item'],
	['a webhook call', isForWebhookCall, 'webhookCall'],
	['a list in the editor', isForEditorList, 'editorList'],
])('the context of %s is known, and no other is taken for it', (_kind, isOfKind, name) => {
	const found = Object.entries(contexts).filter(([, context]) => isOfKind(context));
	expect(found.map(([kind]) => kind)).toEqual([name]);
});
