module.exports = globalThis.loadOnce?.('@n8n/di') ?? require('../../../node_modules/@n8n/di');
