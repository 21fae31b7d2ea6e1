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

// What each file was compiled to: each call of it makes a new module. Most suites load the same files.
const compiled = new Map();
const { compileFunction } = vm;
vm.compileFunction = (code, params, options = {}) => {
	const { parsingContext, ...others } = options;
	if (parsingContext !== global) return compileFunction(code, params, options);
	const known = compiled.get(others.filename);
	if (known?.code === code) return known.made;
	const made = compileFunction(code, params, others);
	compiled.set(others.filename, { code, made });
	return made;
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
