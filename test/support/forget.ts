/**
 * The end of an n8n process, as far as nodes notice it: they forget what they remember between
 * calls. All of that is in the maps of processMemory.ts.
 */
interface ProcessState {
	remembered: (row: string) => Map<string, unknown>;
}

/**
 * Call it before the nodes are loaded (in `jest.isolateModules`, for the nodes loaded there). The
 * function that it returns makes them forget everything.
 */
export function watchMemory(): () => void {
	const maps: Array<Map<string, unknown>> = [];
	const state = jest.requireActual<ProcessState>('../../nodes/shared/processMemory');
	const { remembered } = state;
	state.remembered = (row) => {
		const map = remembered(row);
		maps.push(map);
		return map;
	};
	return () => {
		for (const map of maps) map.clear();
	};
}
