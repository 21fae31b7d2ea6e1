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
