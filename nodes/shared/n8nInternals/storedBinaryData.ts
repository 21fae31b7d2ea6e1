/**
 * The part of a stored file's id that lasts as long as the file: its last segment, a random UUID.
 *
 * n8n documents neither the form of these ids nor that they change. Seen in 2.41.1, 2.30.0 and
 * 1.123.81 (blob.manager.js, file-system.manager.js, object-store.manager.js, database.manager.js):
 *
 *     filesystem-v2:workflows/<workflow>/executions/<execution>/binary_data/<uuid>    also s3, azure
 *     database:<uuid>
 *
 * A file that comes in through a webhook or a form has no execution yet: `<execution>` is `temp`.
 * When the execution ends or is suspended, n8n renames the file and puts the execution's id there
 * (restore-binary-data-id.js; n8n 1 only for `data` of the first item). So a Retry gets the same
 * file with another id. To read the file, take the whole id.
 */
export function lastingIdOf(id: string): string {
	return id.split(/[:/]/).at(-1) ?? id;
}

/**
 * n8n stores up to 512 MB in its database, but PostgreSQL's driver reads a file back as one
 * hexadecimal string, and a Node.js string has at most 2 ** 29 - 24 characters. Trying a larger
 * file breaks n8n's database connection, and with it every execution of the same process.
 */
const MAX_FROM_DATABASE = (2 ** 29 - 24 - '\\x'.length) / 2;

/**
 * Whether reading the stored file of this size, in bytes, would break n8n's database connection.
 */
export function isTooLargeForDatabase(id = '', bytes = 0): boolean {
	return bytes > MAX_FROM_DATABASE && isInDatabase(id);
}

/** The ids of files in n8n's database begin with `database:` (see {@link lastingIdOf}). */
export function isInDatabase(id: string): boolean {
	return id.startsWith('database:');
}
