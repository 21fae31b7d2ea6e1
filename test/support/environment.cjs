/**
 * A test environment that loads the packages of n8n once for each worker process instead of once
 * for each test file: loading them takes longer than running most test files. The tests run in the
 * context of the process, so that `instanceof` works the same in a test as in n8n.
 */
const { ModernFakeTimers } = require('@jest/fake-timers');
const { TestEnvironment } = require('jest-environment-node');
const { ModuleMocker } = require('jest-mock');
const vm = require('node:vm');

const setN8nUp = require('./n8nSettings.cjs');

process.once('exit', setN8nUp());

const { compileFunction } = vm;
vm.compileFunction = (code, params, options = {}) => {
	const { parsingContext, ...others } = options;
	return compileFunction(code, params, parsingContext === global ? others : options);
};

module.exports = class extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.sandbox = this.global;
		// Removes the event handlers of the previous test file.
		delete global[Symbol.for('EVENT_HANDLERS')];
		this.global = global;
		this.moduleMocker = new ModuleMocker(global);
		this.fakeTimersModern = new ModernFakeTimers({ config: config.projectConfig, global });
		global.loadOnce = (name) => require(name);
	}

	getVmContext() {
		return global;
	}

	async teardown() {
		this.global = this.sandbox;
		await super.teardown();
	}
};
