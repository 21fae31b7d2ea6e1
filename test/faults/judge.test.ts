/** The matrix takes an hour; whether it would report what it is there for is known at once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Execution } from '../n8n/rest';
import { simulatorForTests } from '../simulator/testing-client';
import { CRASHED, WORKS } from './acts';
import type { Cell } from './cell';
import { booksOf, secretsInFiles, secretsOf, secretsOutside, wrongInBooks } from './invariants';
import { isAsExpected } from './judge';
import { ROWS } from './rows';

const { running, submit, ask } = simulatorForTests();
const row = (name: string) => {
	const found = ROWS.find((one) => one.name === name);
	if (!found) throw new Error(`No row ${name}`);
	return found;
};
const link = row('transcription.transcribeUrl, poll: submit');

it('an error that contains the word of a success is no success', () => {
	expect(isAsExpected('A Test URL works only for two minutes', WORKS)).toBe(false);
	expect(isAsExpected(`${CRASHED}, and more`, CRASHED)).toBe(false);
	expect(isAsExpected(WORKS, WORKS)).toBe(true);
	expect(isAsExpected('[item 0] The service cannot be reached', 'cannot be reached')).toBe(true);
});

describe('the books', () => {
	const wrong = async (accepted: number, hasWorked: boolean, hasGap = false) => {
		const before = booksOf(running());
		for (let place = 0; place < accepted; place++) await submit();
		return wrongInBooks(link, before, running(), { hasWorked, hasGap });
	};

	it('report what is paid twice, and what has worked without being submitted', async () => {
		expect(await wrong(2, true)).toEqual(['PAID TWICE: 2 accepted']);
		expect(await wrong(0, true)).toEqual(['ONLY 0 ACCEPTED']);
		expect(await wrong(0, false)).toEqual([]);
		expect(await wrong(1, true)).toEqual([]);
	});

	it('report a bot that a trigger has sent again after a lost answer', async () => {
		const meeting = row('transcriberTrigger, meeting: bot');
		const before = booksOf(running());
		const match = { path: '/meeting$' };
		const json = { meeting_url: 'https://meet.example.com/a', consent_acknowledged: true };
		running().fault({ match, action: { kind: 'cut', when: 'beforeBody' } });
		await ask('POST /meeting', { json }).catch(() => undefined);
		await ask('POST /meeting', { json });
		const wrongWith = (hasGap: boolean) =>
			wrongInBooks(meeting, before, running(), { hasWorked: false, hasGap });
		expect([wrongWith(false), wrongWith(true)]).toEqual([['SENT 2 TIMES'], []]);
	});

	it('allow a known gap one more, and not two', async () => {
		expect(await wrong(2, true, true)).toEqual([]);
		expect(await wrong(3, true, true)).toEqual(['PAID TWICE: 3 accepted']);
	});
});

describe('secrets', () => {
	const receiver = 'https://receiver.example.com';
	const cell = () => ({ simulator: running(), apiKey: running().apiKey, receiver }) as Cell;
	const execution = (raw: unknown) => ({ raw }) as Execution;
	const secretOf = async (url: string) => {
		const id = await submit({ form: { webhook_url: url } });
		return running().task(id).webhookSecret ?? '';
	};

	it('are found in any form, in executions, errors and the log', async () => {
		const secret = await secretOf('https://n8n.example.com/hook');
		const coded = Buffer.from(`user:${secret}!`).toString('base64');
		expect(secretsOutside(cell(), [execution({ a: [coded] })], '')).toEqual([
			'SECRET IN THE EXECUTION',
		]);
		expect(secretsOutside(cell(), [], `… ${running().apiKey} …`)).toEqual(["SECRET IN N8N'S LOG"]);
		expect(secretsOutside(cell(), [execution({ a: secret.slice(1) })], '')).toEqual([]);
	});

	it('may be in the output only of what is for another receiver', async () => {
		const secret = await secretOf(receiver);
		const error = { message: secret };
		expect(secretsOutside(cell(), [execution({ secret })], '')).toEqual([]);
		expect(secretsOutside(cell(), [{ ...execution({}), error } as Execution], '')).toEqual([
			'SECRET IN AN ERROR',
		]);
		expect(secretsOf(cell())).toEqual({ hidden: [running().apiKey], output: [secret] });
	});

	it('are found in the addresses of requests', async () => {
		expect(secretsOutside(cell(), [], '')).toEqual([]);
		await ask(`GET /tasks?key=${running().apiKey}`);
		expect(secretsOutside(cell(), [], '')).toEqual(['SECRET IN AN ADDRESS']);
	});

	it('are found in the files of n8n, wherever they stand', async () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
		const secret = await secretOf('https://n8n.example.com/hook');
		writeFileSync(path.join(folder, 'a.sqlite'), `${' '.repeat(65_520)}ab${secret}`);
		writeFileSync(path.join(folder, 'b.sqlite'), `${' '.repeat(65_520)}${secret.slice(1)}`);
		expect(await secretsInFiles(folder, [secret])).toEqual(['a.sqlite']);
		rmSync(folder, { recursive: true });
	});
});
