module.exports = globalThis.loadOnce?.('luxon') ?? require('../../../node_modules/luxon');
