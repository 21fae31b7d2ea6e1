module.exports =
	globalThis.loadOnce?.('n8n-workflow') ?? require('../../../node_modules/n8n-workflow');
