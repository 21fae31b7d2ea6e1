/**
 * What SECURITY.md says without naming a test that proves it, and the rows of its tables, all word for word: whoever changes one of
 * them looks whether the tests that it names still prove it. A row or sentence that claims something names its tests on the page.
 */

/** By the heading above the table: the cells of each row, but for the last one, which names the tests. */
export const ROWS: Record<string, string[][]> = {
	'Who can send what to which address': [
		[
			"The trigger's URL, POST",
			'Anybody who knows it',
			'Deliveries, signed with the secret of the submission, or with the Webhook Secret of the credential if the trigger has no other ([three exceptions](#with-the-triggers-address))',
		],
		[
			"The trigger's URL, PUT",
			'Anybody who knows it',
			'Hand-overs, encrypted with a key derived from the API key',
		],
		[
			'The address of a suspended execution, POST',
			'Anybody who knows it',
			'Deliveries for the submissions that the execution waits for',
		],
	],
	'What each secret opens': [
		[
			'API key',
			"n8n's credential, encrypted by n8n",
			'Everything at the service; the key that seals hand-overs and stored secrets is derived from it',
		],
		[
			'`webhook_secret` of a submission',
			"Sealed with AES-256-GCM, in the data of the execution that submits, and in the static data of the trigger's workflow",
			'Signs deliveries of this one submission',
		],
		[
			'`webhookSecret` of the credential',
			"n8n's credential, encrypted by n8n",
			'Signs deliveries of submissions for which the trigger has no secret of their own',
		],
	],
	'What is stored, and for how long': [
		[
			'Sealed secrets of tasks and bots in progress',
			"Static data of the trigger's workflow",
			'The trigger has heard of the end (never with **Emit Duplicates**), or 10 000 newer ones arrived',
		],
		[
			'Sealed secrets of finished tasks, to recognise a genuine repeat',
			"Static data of the trigger's workflow",
			'1 000 newer ones ended',
		],
		[
			'Ids of finished tasks, and fingerprints of their secrets, as hashes; their final statuses',
			"Static data of the trigger's workflow",
			'10 000 newer ones arrived',
		],
		[
			'Of the bot of a trigger: its id and start in the clear, the meeting and the addresses as hashes',
			"Static data of the trigger's workflow",
			'The trigger has sent another bot',
		],
		[
			'Of the account that the Transcriber Account Trigger polls: ids of tasks in the clear until they have started the workflow, then hashes; a hash of Base URL, credential and API key',
			"Static data of the trigger's workflow",
			'Newer tasks take their place, or the workflow is published again',
		],
		[
			"Of submissions, in the clear: the service's whole answer without secrets, times, webhook address",
			'Data of the execution',
			'n8n deletes the execution',
		],
		[
			'Of a file whose answer is not there yet, in the clear: Idempotency-Key, id of the file in n8n',
			'Data of the execution',
			'n8n deletes the execution',
		],
		[
			'Of submissions, as hashes: what was asked for, and a file without an id',
			'Data of the execution',
			'n8n deletes the execution',
		],
		[
			'Of submissions with **Idempotency Key**, in the clear: the link, or the id of the file. Of calls by an AI agent: all parameters',
			'Data of the execution',
			'n8n deletes the execution',
		],
		[
			'Sealed secret of a submission',
			'Data of the execution',
			'The trigger has it, or n8n deletes the execution',
		],
		[
			'Terms of a change of the dictionary of which the answer was lost; paths of what was cancelled or cleared',
			'Data of the execution',
			'n8n deletes the execution',
		],
		[
			'Transcripts, and the documents that the triggers export',
			'Data of the execution, as any output in n8n',
			'n8n deletes the execution',
		],
	],
};

/** From where the page says what is safe: each concedes something, gives advice, or leads to the next sentence. */
export const NO_CLAIM: string[] = [
	'With **Call a URL When Ready** the `webhook_secret` is in the output, because the receiver needs it, and the output of **Rotate** holds the new API key.',
	"Both are then in n8n's execution data.",
	'n8n keeps a copy of the workflow, with its static data and the parameters of its nodes, in each execution until it deletes the execution.',
	'Each item names the tests that prove it.',
	'In three cases it cannot: the API key was rotated after the secret was stored; the service gave no secret, and the Webhook Secret of the credential is missing or does not fit; or the task has failed, and so many newer ones have ended since that its secret was dropped.',
	'Whoever knows the address and the id of such a task can so start the workflow a moment before the service does.',
	'Two webhook processes that get it in the same moment, before either has answered, start it twice ([queue mode](docs/scaling.md)).',
	"Can replay a delivery that was signed with the credential's Webhook Secret at another trigger that has the same secret.",
	'Leave the field empty if you do not need it.',
	'Can read transcripts, and the two outputs named above.',
	'Restrict who can read executions.',
	"Can try guesses at the credential's Webhook Secret, because the trigger keeps a fingerprint of it.",
	'Let it be long and random.',
	"With n8n's encryption key as well, can read everything.",
	'Can open hand-overs and sealed secrets from before the rotation, if the attacker has copies.',
	'Can plant a secret at a trigger whose credential still has the old key, and start its workflow.',
	'Enter the new key in every credential that has the old one.',
	'Can find an API key of fewer than 8 characters, or a Webhook Secret of fewer than 16, if the service repeats it in an answer.',
];
