/** What n8nInternals/storedBinaryData.ts takes for granted, in the n8n-core of the lock file. */
import { constants } from 'node:buffer';

import {
	isTooLargeForDatabase,
	lastingIdOf,
} from '../../../nodes/shared/n8nInternals/storedBinaryData';
import { storedBinary } from '../../support/engine';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const received = async () => {
	const { id = '' } = await storedBinary(Buffer.from('sound'), 'talk.mp3', 'audio/mpeg', '');
	return id;
};

it('n8n-core names a file without an execution so that only a segment before its UUID changes later', async () => {
	const id = await received();
	const [before, after = ''] = id.split('/temp/');
	expect(before).toBe('filesystem-v2:workflows/workflow-1/executions');
	expect(after.replace('binary_data/', '')).toMatch(UUID);
	expect(lastingIdOf(id)).toBe(after.replace('binary_data/', ''));
	expect(lastingIdOf(id.replace('/temp/', '/17/'))).toBe(lastingIdOf(id));
});

it('n8n-core gives each file another UUID, also with the same content', async () => {
	expect(lastingIdOf(await received())).not.toBe(lastingIdOf(await received()));
});

it.each([
	'database:1b671a64-40d5-491e-99b0-da01ff1f3341',
	's3:workflows/w/executions/17/binary_data/1b671a64-40d5-491e-99b0-da01ff1f3341',
	'1b671a64-40d5-491e-99b0-da01ff1f3341',
])('the UUID is all that counts of %s', (id) => {
	expect(lastingIdOf(id)).toBe('1b671a64-40d5-491e-99b0-da01ff1f3341');
});

describe('A file that n8n cannot read back from its database', () => {
	const UUID_ONLY = '1b671a64-40d5-491e-99b0-da01ff1f3341';
	// Two hexadecimal digits for each byte, after \x, in the longest string of Node.js.
	const MOST = constants.MAX_STRING_LENGTH / 2 - 1;

	it('is one byte larger than the longest string can hold', () => {
		expect(isTooLargeForDatabase(`database:${UUID_ONLY}`, MOST)).toBe(false);
		expect(isTooLargeForDatabase(`database:${UUID_ONLY}`, MOST + 1)).toBe(true);
	});

	it.each([`filesystem-v2:workflows/w/executions/17/binary_data/${UUID_ONLY}`, `s3:${UUID_ONLY}`])(
		'is in the database: not %s',
		(id) => expect(isTooLargeForDatabase(id, 8e9)).toBe(false),
	);

	it('has an id and a size', () => {
		expect(isTooLargeForDatabase(undefined, 8e9)).toBe(false);
		expect(isTooLargeForDatabase(`database:${UUID_ONLY}`)).toBe(false);
	});
});
