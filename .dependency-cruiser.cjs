/**
 * Which room may import from which: every import leads down, type imports included.
 *
 * resources → submit → wait → item (rooms of the action node), and every node → shared.
 */
const node = (name) => `^nodes/${name}/`;
const action = (room) => `^nodes/Transcriber/${room}/`;
const shared = (room) => `^nodes/shared/${room}/`;

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
		never('wait-knows-no-submit', action('(wait|item)'), action('submit')),
		never('item-knows-no-wait', action('item'), action('wait')),
		never('internals-stand-alone', shared('n8nInternals'), '^nodes/shared/(?!n8nInternals)'),
		never(
			'parameters-know-no-service',
			shared('parameters'),
			'^nodes/shared/(webhook|n8nInternals)',
		),
		never('api-knows-no-webhook', shared('api'), '^nodes/shared/(webhook|fields|n8nInternals)'),
		never('credentials-know-the-address', '^credentials/', '^nodes/(?!shared/api/baseUrl)'),
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
	},
};
