/** Whoever knows the address of a trigger can send it anything. */
import { sealHandOvers } from '../../nodes/shared/webhook/handOverEnvelope';
import { broken } from '../TranscriberTrigger/broken';
import { deliver, post, type Answer } from '../TranscriberTrigger/client';
import { TriggerBench, inTurn, taskIdsIn } from './triggers';

/** How many of them are under way at a time. */
const AT_ONCE = 8;

let bench: TriggerBench;

// With its default engine n8n 2 sets up a sandbox for every call of any trigger, 50 ms each: the same as here, but
// in ten minutes.
beforeAll(async () => (bench = await TriggerBench.open({ N8N_EXPRESSION_ENGINE: 'legacy' })));
afterAll(async () => await bench.close());

describe('10 000 malicious or broken deliveries and hand-overs', () => {
	it('start no execution, crash and hang nothing, and do not slow the honest ones', async () => {
		const trigger = await bench.activeTrigger();
		const ids = await bench.submitted(40, trigger.url);
		await Promise.all(ids.map((id) => bench.handOver(trigger.url, id)));
		const [victim = '', other = '', ...honest] = ids;
		const quiet = honest.slice(0, 19);
		const busy = honest.slice(19);
		const [ended = ''] = quiet;
		const timed = async (list: string[]) => {
			const times = await inTurn(list, async (id) => {
				const start = Date.now();
				expect((await deliver(trigger.url, { task_id: id }, bench.secretOf(id))).status).toBe(200);
				return Date.now() - start;
			});
			return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
		};
		const alone = await timed(quiet);

		const oldHandOver = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
		const expired = sealHandOvers(bench.simulator.apiKey, trigger.url, [
			{ id: 'planted', secret: 'x' },
		]);
		oldHandOver.mockRestore();
		const requests = broken({
			count: 10_000,
			taskId: victim,
			secret: bench.secretOf(victim),
			otherSecret: bench.secretOf(other),
			expired,
			delivered: { raw: JSON.stringify({ task_id: ended }), secret: bench.secretOf(ended) },
			handedOver: sealHandOvers(bench.simulator.apiKey, trigger.url, [
				{ id: ended, secret: bench.secretOf(ended) },
			]),
		});
		const replays = requests.filter(({ isReplay }) => isReplay).length;
		const answers = new Map<number, number>();
		let isOver = false;
		const send = async () => {
			for (let next = requests.pop(); next; next = requests.pop()) {
				const { status }: Answer = await post(trigger.url, next.raw, next.headers, next.method);
				answers.set(status, (answers.get(status) ?? 0) + 1);
			}
		};
		const attack = Promise.all(Array.from({ length: AT_ONCE }, send)).then(() => (isOver = true));
		const amidst = await timed(busy);
		expect(isOver).toBe(false);
		await attack;
		console.log(
			`Answers: ${JSON.stringify(Object.fromEntries(answers))}; an honest delivery took ${alone} ms alone, ${amidst} ms amidst`,
		);
		expect([...answers.values()].reduce((sum, count) => sum + count)).toBe(10_000);
		expect(answers.get(200)).toBe(replays);
		expect([...answers.keys()].filter((status) => status < 400 || status === 500)).toEqual([200]);
		// It waits for those under way, none of which costs more than it does, and half as much again for a busy machine.
		expect(amidst).toBeLessThan(Math.max(1000, 1.5 * (AT_ONCE + 1) * alone));
		expect(taskIdsIn(await bench.executionsOf(trigger, 38)).sort()).toEqual([...honest].sort());
		// The one that all of it was about is still waited for.
		expect((await deliver(trigger.url, { task_id: victim }, bench.secretOf(victim))).status).toBe(
			200,
		);
	}, 400_000);
});
