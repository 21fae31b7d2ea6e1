/** A transcript with the names of the speakers as an e-mail, sent to a mail server on this machine. */
import { lineOf } from '../../n8n/lines';
import type { StoredWorkflow } from '../../n8n/rest';
import { startMailServer, type MailServer } from '../../support/mail';
import { until } from '../../simulator/testing-client';
import { Bench } from '../harness';
import { FormVisitor, imported, nodeOf, onlyExecution } from './support';

describe('examples/mail-with-speakers.json', () => {
	let bench: Bench;
	let mail: MailServer;
	let smtp: { id: string; name: string };
	let workflow: StoredWorkflow;

	beforeAll(async () => {
		bench = await Bench.open({
			script: [
				{
					name: 'call.mp3',
					seconds: 20,
					summary: 'They agree on Friday.',
					segments: [
						{ start: 0, end: 4, speaker: 'Anna', text: 'When do we ship?' },
						{ start: 4, end: 9, speaker: 'Boris', text: 'On Friday.' },
					],
				},
			],
		});
		mail = await startMailServer();
		smtp = await bench.rest.createCredential('smtp', {
			host: '127.0.0.1',
			port: mail.port,
			user: '',
			password: '',
			secure: false,
			disableStartTls: true,
		});
		const example = await imported('mail-with-speakers.json');
		Object.assign(nodeOf(example, 'Send the Transcript').parameters, {
			fromEmail: 'n8n@example.com',
			toEmail: 'anna@example.com',
		});
		workflow = await bench.rest.createWorkflow(example, {
			transcriberApi: bench.credential,
			smtp,
		});
		await bench.rest.activate(workflow);
	});

	afterAll(async () => {
		await bench.rest.deactivate(workflow);
		await mail.close();
		await bench.close();
	});

	it('sends one e-mail with the summary and with who said what', async () => {
		await new FormVisitor(bench, workflow).upload('call.mp3', 'sound');
		const execution = await onlyExecution(bench, workflow);
		expect(execution.error).toBeUndefined();
		expect(mail.messages).toHaveLength(1);
		const [message = ''] = mail.messages;
		expect(message).toMatch(/^To: anna@example\.com$/m);
		expect(message).toMatch(/^Subject: Transcript of call\.mp3$/m);
		expect(message).toContain('They agree on Friday.');
		expect(message).toMatch(/Anna: When do we ship\?\s+.*Boris: On Friday\./s);
		expect(bench.simulator.tasks()).toHaveLength(1);
	});

	it('as it is imported, it transcribes nothing, because the addresses are empty', async () => {
		const stored = await bench.rest.createWorkflow(await imported('mail-with-speakers.json'), {
			transcriberApi: bench.credential,
			smtp,
		});
		const before = bench.simulator.tasks().length;
		if (lineOf(bench.n8n.version).publishesOnlyWhatIsComplete) {
			await expect(bench.rest.activate(stored)).rejects.toThrow(/fromEmail, toEmail/);
		} else {
			await bench.rest.activate(stored);
			await new FormVisitor(bench, stored).upload('call.mp3', 'sound');
			// n8n 1 may show the execution twice for a moment: as running, and as refused.
			const statuses = async () =>
				(await bench.rest.executions(stored.id)).map(({ status }) => status);
			await until(async () => (await statuses()).includes('error'));
			await bench.rest.deactivate(stored);
		}
		expect(bench.simulator.tasks()).toHaveLength(before);
	});
});
