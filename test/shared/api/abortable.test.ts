/** "Waiting": a deadline holds whatever happens meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { anyOf, signalAt } from '../../../nodes/shared/api/abortable';

/** What V8 does by itself when memory is wanted. */
function collectGarbage(): void {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
}

it('a deadline beside the signal that cancels the execution survives garbage collection', async () => {
	const execution = new AbortController();
	const stop = anyOf(execution.signal, signalAt(Date.now() + 200));
	for (let count = 0; count < 6; count++) {
		collectGarbage();
		await sleep(60);
	}
	expect(stop?.aborted).toBe(true);
});

it('so does a deadline that is put beside such a pair', async () => {
	const execution = new AbortController();
	const pair = anyOf(execution.signal, signalAt(Date.now() + 200));
	const stop = anyOf(pair, signalAt(Date.now() + 60_000));
	for (let count = 0; count < 6; count++) {
		collectGarbage();
		await sleep(60);
	}
	expect(stop?.aborted).toBe(true);
});
