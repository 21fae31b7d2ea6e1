/** Where the two lines of n8n differ in what tests can expect; how to ask them for the same thing, rest.ts knows. */
export interface Line {
	/** Nodes can make data tables; on 1.x only the user can. */
	hasDataTableNode: boolean;
	/** The public API can change a credential; that of 1.x can only create and delete one. */
	canChangeCredentials: boolean;
	/** A webhook is answered when its execution is saved; 1.x answers a moment before. */
	savesBeforeItAnswers: boolean;
	/** A workflow in which a required parameter is empty cannot be published; 1.x refuses to run it instead. */
	publishesOnlyWhatIsComplete: boolean;
	/** A workflow gets what another one returns that was suspended; on 1.x it gets its own input back. */
	returnsFromSleep: boolean;
	/** The Retry of an execution that crashed can tell which one it repeats; 1.x saves nothing that shows it. */
	tellsWhatCrashed: boolean;
}

export function lineOf(version: string): Line {
	const isSecond = !version.startsWith('1.');
	return {
		hasDataTableNode: isSecond,
		canChangeCredentials: isSecond,
		savesBeforeItAnswers: isSecond,
		publishesOnlyWhatIsComplete: isSecond,
		returnsFromSleep: isSecond,
		tellsWhatCrashed: isSecond,
	};
}
