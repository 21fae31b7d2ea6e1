/**
 * Which room may import from which: every import leads down, type imports included.
 *
 * Action node: resources → submit → wait → item. Within submit: submit.ts and prepareCompletion.ts →
 * sleep, trigger → once → choice.
 * Every node → shared. Within shared: webhook → api → undocumented → api/statusMeaning.ts, parameters → the
 * files beside the folders. n8nInternals imports nothing of them.
 */
const node = (name) => `^nodes/${name}/`;
const action = (room) => `^nodes/Transcriber/${room}/`;
const shared = (room) => `^nodes/shared/${room}/`;
const beside = (folder) => `^${folder}/[^/]+[.]ts$`;

const never = (name, from, to) => ({
	name,
	severity: 'error',
	from: { path: from },
	to: { path: to },
});

module.exports = {
	forbidden: [
		{ name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
		never('shared-knows-no-node', '^nodes/shared/', '^nodes/Transcriber'),
		never(
			'nodes-meet-in-shared',
			node('TranscriberTrigger'),
			'^nodes/Transcriber(AccountTrigger)?/',
		),
		never(
			'nodes-meet-in-shared-2',
			node('TranscriberAccountTrigger'),
			'^nodes/Transcriber(Trigger)?/',
		),
		never('nodes-meet-in-shared-3', node('Transcriber'), '^nodes/Transcriber(Account)?Trigger/'),
		never('submit-knows-no-operation', action('(submit|wait|item)'), action('resources')),
		never(
			'parts-of-submit-know-no-whole',
			action('submit/(sleep|trigger|once|choice)'),
			beside('nodes/Transcriber/submit'),
		),
		never('sleep-knows-no-trigger', action('submit/suspension'), action('submit/trigger')),
		never('trigger-knows-no-sleep', action('submit/trigger'), action('submit/suspension')),
		never('once-knows-no-ending', action('submit/once'), action('submit/(sleep|trigger)')),
		never('choice-stands-alone', action('submit/choice'), action('submit/(sleep|trigger|once)')),
		never('wait-knows-no-submit', action('(wait|item)'), action('submit')),
		never('item-knows-no-wait', action('item'), action('wait')),
		never('internals-stand-alone', shared('n8nInternals'), '^nodes/shared/(?!n8nInternals)'),
		never(
			'parameters-know-no-service',
			shared('parameters'),
			'^nodes/shared/(api|webhook|n8nInternals)/',
		),
		never('api-knows-no-webhook', shared('api'), '^nodes/shared/webhook/|/sharedFields[.]ts$'),
		never(
			'answers-know-no-requests',
			shared('api/(undocumented|statusMeaning|sizeLimits)'),
			'^nodes/shared/api/(?!statusMeaning)[^/]+[.]ts$',
		),
		never('files-beside-know-no-folder', beside('nodes/shared'), '^nodes/shared/[^/]+/'),
		never('credentials-know-the-address', '^credentials/', '^nodes/(?!shared/api/baseUrl)'),
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
