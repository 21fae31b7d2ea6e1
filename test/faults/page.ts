/** docs/faults.md, made of the table of outcomes, so that page and run cannot disagree. */
import { CRASHED, WORKS } from './acts';
import { EXCEPTIONS, GAPS, RETRIES, type Exception } from './exceptions';
import { EXPECTED, NOT_TRIED } from './expected';
import { KEY } from './messages';
import type { Kind } from './row';
import { ROWS } from './rows';
import { WEATHER, type FaultName } from './weather';

const COLUMNS: Record<Exclude<Kind, 'asleep'>, string> = {
	repeatable: 'Requests that may be repeated',
	file: 'Submitting a file',
	once: 'Requests that must not be repeated',
	'first look': 'First status request of **Wait Until Finished**, **Wait Until Transcribed**',
	look: 'Status requests while waiting',
	result: 'Result of a finished task',
	trigger: 'Triggers',
	activation: 'Publishing a trigger that sends a bot',
	'switch off': 'Cancelling the bot of a trigger that is switched off',
};

const SAME = '–';

const kinds = Object.keys(COLUMNS) as Array<keyof typeof COLUMNS>;

/** What the table of gaps cannot say in a line, and what is paid twice, but is no cell of the matrix. */
const MORE_GAPS = [
	'- n8n stopped or killed while the node submits or waits by polling: n8n has saved nothing of the node, so a Retry of the',
	'  crashed execution submits again. Find the task with **Get Many** (**Return All**), and fetch it with **Wait Until Finished** instead.',
	'  **Wait for the Transcript (Webhook)** survives a restart. The node cannot mend this: n8n saves the data of an execution',
	'  when it starts, suspends or ends, and gives a node no way to save anything before it sends a request. In the saved start,',
	'  n8n 1 has nothing that identifies the execution. n8n 2 has a token: a file of the same size with the same first 64 MB is sent',
	'  again with the same key, also if the Retry downloads it again, and the service returns its task: as long as it has the same',
	'  place in the list and the same options. With an **Idempotency Key** of your own, the task comes back if the key is the',
	'  same in a Retry: the id of the execution is not.',
	'- A Retry of a file whose answer was lost costs nothing as long as the service knows its key. The service document does not say',
	'  how long that is, nor whether the same key may come with another webhook address, as a Retry after a kill sends it',
	'  if it waits by webhook. Retry soon. After a day, or if the service refuses the key, look with **Get Many** (**Return All**) first.',
	'- n8n stopped or killed while a later step runs: without **Save execution progress** in the settings of the workflow, n8n has',
	'  saved nothing of the steps before it either, and the Retry begins at the first step. Switch it on: then the Retry goes on behind',
	'  the node, and nothing is submitted again.',
	'- n8n 1 in queue mode starts an execution again by itself when its worker dies or is stopped in the middle, and reports no',
	'  crash. The node knows nothing of the first run, so links and bots are submitted and paid for again; files are not. Set',
	'  `QUEUE_WORKER_MAX_STALLED_COUNT=0` for all processes, as n8n 2 does by itself.',
	'- A sub-workflow that is started again, by a Retry of its parent, by **Retry On Fail** of **Execute Sub-workflow** or as a',
	'  tool of an agent: it is a new execution, and submits again. Retry the execution of the sub-workflow itself, or set an',
	'  **Idempotency Key** for files.',
	'- A call of an MCP client, or of the Agents of n8n 2.41, that is repeated after a restart of n8n or in another process (in',
	'  queue mode, another worker), after a call that was answered within half a minute, or that ended more than two minutes ago: n8n',
	'  keeps nothing of these calls that the repeat could find, so only the process knows them, for a while. The answer to the first is',
	'  lost if the client has given up: find the task with **Get Many** (**Return All**).',
	'- n8n 2.30 with **On Error** set to Continue: an expression that n8n cannot evaluate for one item ends the node at once, and n8n',
	'  passes the input on as if it were the output. The items before it may have been submitted, and no output names them: look with',
	'  **Get Many** (**Return All**). n8n 1.123 and 2.41 give that item alone an error.',
	'- A credential that n8n itself cannot read (it was deleted, the encryption key of a worker is another one, the database is away), with',
	'  **On Error** set to Continue: n8n does not start the node, and passes the input on as if it were the output, by the output',
	'  for successes. Nothing is submitted then, but if **Retry On Fail** has tried before, look with **Get Many** (**Return All**). An execution',
	'  that sleeps fails instead, unless n8n could not evaluate one of its items. Select a credential that can be read, save the',
	"  workflow, and only then choose 'Retry with currently saved workflow': that fetches the transcripts.",
	'- A failed execution that n8n does not save (by the settings of the workflow, or `EXECUTIONS_DATA_SAVE_ON_ERROR`): there',
	'  is nothing to retry, whatever an error says of a Retry. Look with **Get Many** (**Return All**) for what the service has accepted.',
	'- A loop of your own that brings an item back into the node after it has failed: each round is a new run, and submits again.',
	'  Only a link or a bot that the service may have accepted in an earlier round without saying so is refused then, as long as the',
	"  item has the field `error` that n8n's error output gives it, and the request is the same: with another time in it, it is",
	'  another one. Use **Retry On Fail**, or fetch the task that the error names with **Wait Until Finished**.',
	'- A term that another workflow adds while **Sync** with **Replace** waits to write, or before **Sync**, **Replace** or **Clear** repeats a',
	'  write whose answer was lost: it is removed, and no output names it. Let one workflow write the dictionary, or use',
	'  **Add Missing**.',
	'- A `webhook_url` in **Custom Fields** without **Call a URL When Ready**: nothing shows the secret of its deliveries. Choose',
	'  **Call a URL When Ready**, which outputs the secret.',
	'- A second Retry of the same execution, after a restart of n8n or in another worker of queue mode: n8n does not show what',
	'  the first Retry has submitted, and each process remembers only its own Retries. Retry the latest execution.',
];

export function faultsPage(): string {
	return [
		'# When things go wrong',
		'',
		'`npm run test:faults` tries every operation, with every way to get the transcript, in a real n8n against a service that',
		'fails in every way below. This page is the table that the command compares with (`test/faults/expected.ts`).',
		'',
		'## What comes out',
		'',
		`"${WORKS}" means: the output is right, and nobody had to do anything. A text in quotes: the node ends with an error that`,
		`contains it, or has it in its output; when a trigger is switched off or n8n was killed, n8n's log has it. “${SAME}”: one 401`,
		'has ended it already, so that it is not tried.',
		'',
		'<!-- prettier-ignore-start -->',
		'',
		`| What happens, once or for so long | ${kinds.map((kind) => COLUMNS[kind]).join(' | ')} |`,
		`|---|${kinds.map(() => '---').join('|')}|`,
		...WEATHER.map(
			({ name, title }) =>
				`| ${title} | ${kinds.map((kind) => outcomeOf(name, kind)).join(' | ')} |`,
		),
		'',
		'### Exceptions',
		'',
		'| What happens | Where | What comes out | Why |',
		'|---|---|---|---|',
		...EXCEPTIONS.map((one) => lineOf(one)),
		'',
		"### n8n's Retry of a failed or crashed execution, in good weather",
		'',
		`Of what submits, and of what must not be repeated: ${WORKS}, but for these:`,
		'',
		'| What happened before | Where | What comes out | Why |',
		'|---|---|---|---|',
		...RETRIES.map((one) => lineOf(one, '')),
		'',
		'<!-- prettier-ignore-end -->',
		'',
		'A suspended execution (**Wait for the Transcript (Webhook)**) survives the kill: it wakes when n8n runs again.',
		'',
		'## What holds in every cell',
		'',
		'By the books of the service, not by what the node says:',
		'',
		'- Nothing is paid twice. One item is one task or bot, also after a Retry of the failed or crashed execution in n8n. A',
		'  request that must not be repeated and may have arrived is sent once. The exceptions are listed below.',
		'- Nothing that was accepted is lost. Its id is in an output or in an error; or a Retry of the execution outputs it; or,',
		'  if the answer with the id was lost, the error says that the service may have accepted it and where to look. Of what is',
		'  paid once more after a kill (see below), the first is reported by the crash alone, in n8n 1 in queue mode by nothing.',
		'- No secret gets out. API key and webhook secrets are in no output, error, stored execution or log of n8n, and the',
		'  host that a redirect names gets no request. Exceptions: the new key in the output of **Rotate**, and the secret that',
		'  **Call a URL When Ready** is there to give.',
		'',
		'## What the node cannot prevent',
		'',
		'In these cells, something is paid or asked for once more, and not twice more, or is named by nobody. Nothing else may be.',
		'',
		'<!-- prettier-ignore-start -->',
		'',
		'| What happens | Where | n8n | Why |',
		'|---|---|---|---|',
		...GAPS.map(
			({ fault, row, line, why }) =>
				`| ${titleOf(fault)} | ${namesOf(row)} | ${line ?? '1 and 2'} | ${why} |`,
		),
		'',
		'<!-- prettier-ignore-end -->',
		'',
		'What they mean for you, and what the matrix does not try:',
		'',
		...MORE_GAPS,
		'',
		'## What is what',
		'',
		'<!-- prettier-ignore-start -->',
		'',
		'| Column | Rows of the matrix |',
		'|---|---|',
		...kinds.map((kind) => `| ${COLUMNS[kind]} | ${rowsOf(kind)} |`),
		'',
		'<!-- prettier-ignore-end -->',
		'',
	].join('\n');
}

/** Whoever gives up after one 401 meets no second one: nothing else can come out. */
function outcomeOf(fault: FaultName, kind: keyof typeof COLUMNS): string {
	const outcome = EXPECTED[fault][kind];
	if (outcome !== NOT_TRIED) return shown(outcome);
	return fault === '401 for good' && EXPECTED['401 once'][kind] === KEY ? SAME : NOT_TRIED;
}

/** `inN8n2`: why it comes out differently there. */
function shown(outcome: string, inN8n2 = ', which tries again'): string {
	const [first = '', second] = outcome.split(' / ');
	if (second !== undefined) return `${shown(first)} in n8n 2${inN8n2}; ${shown(second)} in n8n 1`;
	const isError = ![WORKS, CRASHED].includes(outcome);
	return isError ? `“${outcome}”` : outcome;
}

function lineOf({ fault, row, outcome, why }: Exception, inN8n2?: string): string {
	return `| ${titleOf(fault)} | ${namesOf(row)} | ${shown(outcome, inN8n2)} | ${why} |`;
}

function titleOf(fault: string): string {
	return WEATHER.find(({ name }) => name === fault)?.title ?? fault;
}

function namesOf(row: RegExp): string {
	const names = ROWS.filter(({ name }) => row.test(name)).map(({ name }) => `\`${name}\``);
	return names.join('<br>');
}

function rowsOf(kind: Kind): string {
	const names = ROWS.filter((row) => row.kind === kind).map(({ name }) => `\`${name}\``);
	return names.join('<br>');
}
