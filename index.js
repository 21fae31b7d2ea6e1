// n8n reads the nodes and credentials from package.json; the main file only has to exist.
module.exports = {};
