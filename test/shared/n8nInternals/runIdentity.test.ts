/** What n8nInternals/runIdentity.ts takes for granted, in the n8n-core of the lock file. */
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { runKeyOf } from '../../../nodes/shared/n8nInternals/runIdentity';
import { itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'returnTask',
	url: '={{ $json.url ?? "https://files.example.com/talk.mp3" }}',
};

it('n8n-core starts all items of a node before one can go on: one that is wrong stops all of them', async () => {
	const items = itemsOf(...Array.from({ length: 50 }, () => ({})), { url: 'nonsense' });
	const { error } = await service.run(LINK, { items });
	expect(error?.message).toContain('nonsense');
	expect(service.lines()).toEqual([]);
});

it('n8n-core gives all items of a run one and the same getExecuteData(): they wait for each other', async () => {
	const { json, error } = await service.run(LINK, { items: itemsOf({}, {}, {}) });
	expect(error).toBeUndefined();
	expect(json).toHaveLength(3);
});

it('an n8n that gives another object at each call is refused before anything is sent', () => {
	const context = {
		getNode: () => ({ name: 'Transcriber' }),
		getExecuteData: () => ({}),
	} as unknown as IExecutePaginationFunctions;
	expect(() => runKeyOf(context)).toThrow('This n8n runs the items of a node in a way');
});
