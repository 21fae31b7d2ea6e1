module.exports = globalThis.loadOnce?.('lodash') ?? require('../../../node_modules/lodash');
