/** "Parameters" in the contract: what an expression joins from a missing value is not sent, whatever the operation. */
// Also covers joinedText.ts.
import type { INodeParameters } from 'n8n-workflow';

import { LINK } from '../../support/parameters';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

const SUMMARY = {
	resource: 'task',
	operation: 'regenerateSummary',
	taskId: byId('task-1'),
	path: '/tasks/{taskId}/summary',
};
const TEXT = { resource: 'dictionary', specifyTerms: 'text' };
const NOTIFY = { ...LINK, onCompletion: 'notifyTrigger' };

it.each<[string, INodeParameters]>([
	['Text', { ...TEXT, operation: 'replace', text: '={{ "OKR, Dr. " + $json.name }}' }],
	['Text', { ...TEXT, operation: 'add', text: '={{ "OKR, Dr. " + $json.name }}' }],
	['Summary Template', { ...SUMMARY, summaryTemplate: '={{ $json.kind + "-call" }}' }],
	['Summary Template', { ...LINK, options: { summaryTemplate: '={{ $json.kind + "-call" }}' } }],
	['Idempotency Key', { ...LINK, options: { idempotencyKey: '={{ "call-" + $json.id }}' } }],
	['Path', { ...SUMMARY, path: '={{ "/tasks/{taskId}/summary/" + $json.kind }}' }],
	['Body', { ...SUMMARY, bodyJson: '={{ { style: "for " + $json.reader } }}' }],
	[
		'Trigger URL',
		{ ...NOTIFY, triggerUrl: '={{ "http://127.0.0.1:1/" + $json.id + "/transcriber" }}' },
	],
])("'%s' is refused: %j", async (name, parameters) => {
	const { error } = await service.run(parameters, { items: itemsOf({}) });
	expect(error?.message).toContain(`'${name}' has 'undefined' in it`);
	expect(service.lines()).toEqual([]);
});
