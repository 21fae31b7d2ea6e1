module.exports = globalThis.loadOnce?.('n8n-core') ?? require('../../../node_modules/n8n-core');
