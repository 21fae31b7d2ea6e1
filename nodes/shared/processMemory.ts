/**
 * What an n8n process keeps between calls of these nodes. There are two lists: the maps in
 * {@link REMEMBERED}, and this one of what is kept only as long as an object lives, in a WeakMap or
 * WeakSet. A line has the owner, the name, the object, and what is known of it. `OWN` lives as long
 * as the process. All other lasting state is saved with the execution or in the workflow's static
 * data.
 *
 *     api/deadlines.ts sources                                    a combined signal: its sources
 *     api/callService.ts firstCalls                               a context of n8n: the beginning of its first call
 *     api/credential.ts itemReadings                              the context of an item: its credential, for a second
 *     api/sendWithRetries.ts unsent                               a failure: nothing was sent
 *     parameters/refuse.ts lasting                                an error: no Retry can mend it
 *     n8nInternals/runIdentity.ts latestKeys                      the data of an execution: the latest run of each node
 *     n8nInternals/runIdentity.ts unsaved                         the run of a caller without run data: the node's data
 *     Transcriber/item/nodeRun.ts current                         the data of a run: its NodeRun
 *     Transcriber/item/sendCancelOrClear.ts latestSent            the data of a node: the latest request with each path
 *     Transcriber/resources/dictionary/writesInTurn.ts turns      a NodeRun: its writes
 *     Transcriber/submit/once/oncePerPlace.ts beingSent           the data of a node: its submits under way
 *     Transcriber/submit/once/shareWithRepeats.ts callsOfRun      the run of a caller: its tool calls that n8n does not remember
 *     parameters/joinedText.ts inInput                            the input of a run: the words that stand in it
 *     TranscriberTrigger/repairStaticData.ts OWN                 this process: the token of calls to itself
 */

/**
 * The maps. One row per map, with the name of the map: its owner, its key, when an entry is removed,
 * and the most entries. No key contains a secret: API keys and parameters are hashed.
 */
const REMEMBERED = {
	// api/waitForTurn.ts. Key: hash of the API key, and the limit. Until the process ends.
	rateLimitQueues: 1_000,
	// api/roomForTasks.ts. Key: hash of the API key. Until no submit needs it.
	rooms: 1_000,
	// Transcriber/wait/pollUntilEnded.ts. Key: hash of the API key. While tasks are polled.
	polledTasks: 1_000,
	// webhook/webhookCredential.ts. Key: hash of workflow, node, credential and execution. 10 seconds.
	credentialReadings: 10_000,
	// webhook/logSeldom.ts. Key: workflow, node and line. 10 seconds.
	writtenLines: 100,
	// Transcriber/submit/once/submittedByOtherRetry.ts. Key: hash of first execution, node and place. Until the process ends.
	retriedSubmissions: 20_000,
	// Transcriber/submit/once/sameFile.ts. Key: `database`, or execution, node and one of ten numbers. While files are read.
	filesRead: 1_000,
	// Transcriber/submit/once/shareWithRepeats.ts. Key: hash of workflow, credential and what a tool call asks for. While it runs; if it took long or failed, two minutes longer.
	unrememberedCalls: 1_000,
	// Transcriber/submit/suspension/knownEndings.ts. Key: execution, node and run. Until an hour after its timeout.
	suspendedRuns: 10_000,
	// Transcriber/submit/trigger/handOverBatches.ts. Key: hash of trigger and API key, and whether there is a secret. While something waits for the trigger.
	outboxes: 10_000,
	// Transcriber/submit/trigger/confirmedByTrigger.ts. Key: hash of trigger and API key, and task or bot. While the trigger is checked.
	triggerChecks: 10_000,
	// TranscriberTrigger/triggerMemory.ts. Key: workflow. Until the process ends.
	triggerWorkflows: 10_000,
	// TranscriberTrigger/askServiceWithoutSecret.ts. Key: hash of workflow and node, hash of submission. 10 seconds; a minute if it has completed.
	looksAtService: 10_000,
	// TranscriberTrigger/askServiceWithoutSecret.ts. Key: hash of workflow and node, hash of bot. A day, or until the bot is not called off any more.
	calledOffBots: 1_000,
	// TranscriberTrigger/receiveDelivery.ts. Key: hash of workflow, node, submission, status, kind of proof and parameters. Until a repeat takes the result; after 10 minutes, until the next fetch begins.
	resultFetches: 10_000,
	// TranscriberTrigger/patienceForData.ts. Key: workflow, node, submission, data and kind of failure. Until a newer one needs the place.
	refusedDeliveries: 1_000,
	// TranscriberTrigger/repairStaticData.ts. Key: address of the trigger in this process. Until the trigger is switched off.
	watches: 10_000,
	warnings: 10,
	// TranscriberTrigger/cancelBotWhenUnpublished.ts. Key: workflow, node, account and bot. Until the bot is kept, or a moment after it is cancelled.
	botsToCancel: 10_000,
	// TranscriberTrigger/launchBot.ts. Key: workflow and node. While a bot is launched.
	launches: 10_000,
	// TranscriberTrigger/sendBotWhenPublished.ts. Key: workflow and node. Until the next launch.
	unknownLaunches: 1_000,
	// TranscriberTrigger/sendBotWhenPublished.ts. Key: workflow and node. Until the next slow refusal.
	slowRefusals: 1_000,
	// TranscriberAccountTrigger/warnOnce.ts. Key: workflow, node and topic. Until the process ends.
	accountWarnings: 100,
	// TranscriberAccountTrigger/pollStore.ts. Key: workflow and node. While a poll runs; until the process ends.
	pollsUnderWay: 10_000,
	pollTries: 10_000,
	latestPollStates: 10_000,
};

/** A map that outlives a call. If it exceeds the limit in its row, the oldest entry is removed. */
export function remembered<Value>(row: keyof typeof REMEMBERED): Map<string, Value> {
	return new BoundedMap<Value>(REMEMBERED[row]);
}

class BoundedMap<Value> extends Map<string, Value> {
	constructor(private readonly most: number) {
		super();
	}

	override set(key: string, value: Value): this {
		super.set(key, value);
		for (const oldest of this.keys()) {
			if (this.size <= this.most) break;
			this.delete(oldest);
		}
		return this;
	}
}
