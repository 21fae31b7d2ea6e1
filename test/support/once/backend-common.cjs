module.exports =
	globalThis.loadOnce?.('@n8n/backend-common') ??
	require('../../../node_modules/@n8n/backend-common');
