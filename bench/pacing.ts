/** A hundred recordings at once, against the service's real limits: 10 submits a minute, 20 in progress. */
import type { N8nHost } from '../test/n8n/host';
import type { WorkflowNode } from '../test/n8n/rest';
import {
	httpUpload,
	inSeconds,
	line,
	runOf,
	runToEnd,
	Service,
	times,
	transcriber,
	withN8n,
	type Report,
	type Run,
} from './parts';

const RECORDINGS = 100;
const QUICK_RECORDINGS = 15;
const PER_MINUTE = 10;
const MINUTE_MS = 60_000;
const MOST_TIME = 1.05;
const ASK_EVERY_MS = 500;

/** What n8n's own node offers against limits. */
const IN_BATCHES = { batching: { batch: { batchSize: PER_MINUTE, batchInterval: MINUTE_MS } } };
const AGAIN = { retryOnFail: true, maxTries: 5, waitBetweenTries: 5000 };

interface Outcome {
	/** Items that have come out of the node. */
	output: number;
	/** Tasks at the service: each one is paid for. */
	accepted: number;
	/** Recordings that are among them more than once. */
	twice: number;
	refusals: number;
	ms: number;
	error?: string;
}

export async function pacing(run: Run): Promise<Report> {
	const recordings = run.isQuick ? QUICK_RECORDINGS : RECORDINGS;
	const allowed = Math.floor((recordings - 1) / PER_MINUTE) * MINUTE_MS;
	return await withN8n(run, {}, async (n8n) => {
		const table = [['', 'Recordings accepted', 'Paid for twice', 'Results for the user', 'Time']];
		const measure = async (name: string, subject: (service: Service) => WorkflowNode) => {
			run.log(`${name} …`);
			const outcome = await submitAll(n8n, recordings, subject);
			run.log(JSON.stringify(outcome));
			table.push([
				name,
				`${outcome.accepted - outcome.twice} of ${recordings}`,
				String(outcome.twice),
				outcome.error === undefined ? `${outcome.output} items` : `0 items: “${outcome.error}”`,
				inSeconds(outcome.ms),
			]);
			return outcome;
		};

		const ours = await measure('**Transcriber**', () => transcribeFile);
		await measure('HTTP Request', (service) => httpUpload(service));
		await measure('HTTP Request, Retry On Fail', (service) => ({
			...httpUpload(service),
			...AGAIN,
		}));
		await measure('HTTP Request, Batching', (service) => httpUpload(service, IN_BATCHES));
		const isWhole = ours.output === recordings && ours.accepted === recordings;
		return {
			table,
			goals: [
				{
					text: `all ${recordings} accepted (${ours.accepted}), none refused to the user (${recordings - ours.output}), none twice (${ours.twice})`,
					isReached: isWhole && ours.twice === 0 && ours.error === undefined,
				},
				{
					text: `no more than ${MOST_TIME} × the time that the limits allow (${times(ours.ms / allowed)})`,
					isReached: ours.ms <= MOST_TIME * allowed,
				},
			],
			remarks: [
				`${recordings} short recordings in one execution; the limits allow it in ${inSeconds(allowed)}. Our node takes ${times(ours.ms / allowed)} that time and was refused ${ours.refusals} times. Retry On Fail: 5 tries, 5 s apart, as often and as long as n8n allows. Batching: 10 items a minute.`,
			],
		};
	});
}

const transcribeFile = transcriber({
	resource: 'transcription',
	operation: 'transcribeFile',
	onCompletion: 'returnTask',
});

/** Each node gets a service that has counted nothing yet. */
async function submitAll(
	n8n: N8nHost,
	recordings: number,
	subject: (service: Service) => WorkflowNode,
): Promise<Outcome> {
	return await Service.with({ processingSeconds: 1 }, async (service) => {
		const items = Array.from({ length: recordings }, (_, index) => ({
			content: Buffer.from(`recording ${index}`).toString('base64'),
		}));
		const toFile: WorkflowNode = {
			name: 'File',
			type: 'n8n-nodes-base.convertToFile',
			typeVersion: 1.1,
			parameters: {
				operation: 'toBinary',
				sourceProperty: 'content',
				options: { fileName: 'talk.mp3', mimeType: 'audio/mpeg' },
			},
		};
		const stored = await n8n.rest.createWorkflow(line([toFile, subject(service)], items), {
			transcriberApi: await service.credentialIn(n8n),
		});
		const execution = await runToEnd(n8n, stored, ASK_EVERY_MS);
		const { data, executionTime, error } = runOf(execution);
		const requests = await service.requests();
		const hashes = requests.filter(({ status }) => status === 200).map(({ file }) => file?.sha256);
		return {
			output: error ? 0 : (data?.main?.flat().length ?? 0),
			accepted: (await service.tasks()).length,
			twice: hashes.length - new Set(hashes).size,
			refusals: requests.filter(({ status }) => status === 429).length,
			ms: executionTime,
			error: error?.message,
		};
	});
}
