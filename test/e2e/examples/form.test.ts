/** A recording is uploaded with a form, and the transcript is what the form shows in the end. */
import type { StoredWorkflow } from '../../n8n/rest';
import { Bench } from '../harness';
import { FormVisitor, imported, NO_SPEECH, onlyExecution } from './support';

describe('examples/form-to-transcript.json', () => {
	let bench: Bench;
	let workflow: StoredWorkflow;

	beforeEach(async () => {
		bench = await Bench.open({ script: [{ ...NO_SPEECH, name: 'silence' }] });
		workflow = await bench.rest.createWorkflow(await imported('form-to-transcript.json'), {
			transcriberApi: bench.credential,
		});
		await bench.rest.activate(workflow);
	});

	afterEach(async () => {
		await bench.rest.deactivate(workflow);
		await bench.close();
	});

	it('shows the transcript to whoever uploaded it: one execution, one upload, one charge', async () => {
		const visitor = new FormVisitor(bench, workflow);
		const { next = '' } = await visitor.upload('talk.mp3', 'sound');
		const page = await visitor.ending(next);
		const [task, ...others] = bench.simulator.tasks();
		expect(others).toEqual([]);
		const { text } = await bench.call<{ text: string }>('GET', `tasks/${task?.id}/result`);
		expect(page).toEqual({ title: 'Your transcript', text });
		expect((await onlyExecution(bench, workflow)).status).toBe('success');
		expect(bench.asked().filter((line) => line.startsWith('POST'))).toEqual(['POST /transcribe']);
	});

	it('says why there is none where the recording cannot be transcribed', async () => {
		const visitor = new FormVisitor(bench, workflow);
		const { next = '' } = await visitor.upload('silence.mp3', 'no sound');
		expect(await visitor.ending(next)).toEqual({
			title: 'This recording could not be transcribed',
			text: expect.stringContaining('No speech was found'),
		});
	});
});
