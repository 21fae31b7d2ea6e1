import { createHash } from 'crypto';
import type {
	IAdditionalCredentialOptions,
	ICredentialDataDecryptedObject,
	INode,
} from 'n8n-workflow';

import { apiRoot, pasted } from './baseUrl';
import { isForItem } from '../n8nInternals/webhookOrEditor';
import { refuse } from '../parameters/refuse';

/** The cleaned credential: see {@link credentialOf}. */
export interface TranscriberCredential {
	/** Ends in `/api/v1`, without a trailing slash. */
	baseUrl: string;
	/** Never blank. */
	apiKey: string;
	/** Undefined if the field is blank. */
	webhookSecret?: string;
	/** The same as n8n gave it, for {@link forHttpClient}. */
	given: ICredentialDataDecryptedObject;
	/** When n8n was asked for it, in ms since 1970. */
	askedAt: number;
}

/** The part of n8n's context that reads a credential. */
export interface CredentialReader {
	getNode(): INode;
	getCredentials<T extends object>(type: string): Promise<T>;
}

/** Stands for an API key wherever this process remembers something by key. */
export function keyHash(apiKey: string): string {
	return createHash('sha256').update(apiKey).digest('hex');
}

/** What Node.js allows in a header (RFC 9110, "Field Values", without control characters). */
const FITS_A_HEADER = /^[\t\x20-\x7e\x80-\xff]+$/;

/** How old a reading may be, in ms: long enough for the check and the first request of an item. */
const KEEP_MS = 1_000;

interface ItemReading {
	credential: Promise<TranscriberCredential>;
	askedAt: number;
}

/** Keyed by the context of an item, because an expression in the credential may use the item. */
const itemReadings = new WeakMap<CredentialReader, ItemReading>();

/**
 * The only reader of the credential. Removes pasted invisible characters, so that the header, the
 * masking, the rate limits and the seals use the same key. If no request can be sent with the
 * credential, throws a NodeOperationError that never shows the key. Each reading queries n8n's
 * database, so one reading serves an item and its requests for a second. A wait reads the credential
 * again, because the key may have been rotated. So does every poll of a trigger, because n8n keeps
 * its context.
 */
export async function credentialOf(reader: CredentialReader): Promise<TranscriberCredential> {
	if (!isForItem(reader)) return await read(reader);
	const kept = itemReadings.get(reader);
	if (kept && isFresh(kept)) return await kept.credential;
	const reading = { credential: read(reader), askedAt: Date.now() };
	itemReadings.set(reader, reading);
	return await reading.credential;
}

/** The same credential. After a wait it is read again, because the key may have been rotated. */
export async function currentCredential(
	reader: CredentialReader,
	credential: TranscriberCredential,
): Promise<TranscriberCredential> {
	return isFresh(credential) ? credential : await credentialOf(reader);
}

/**
 * For n8n's HTTP client, which reads the credential for each request unless it is given one. It is
 * always given one: the answer must be masked with the key that the request was sent with.
 */
export function forHttpClient({
	given: data,
}: TranscriberCredential): IAdditionalCredentialOptions {
	return { credentialsDecrypted: { id: '', name: '', type: 'transcriberApi', data } };
}

function isFresh({ askedAt }: { askedAt: number }): boolean {
	// The clock may have been set back since.
	return Math.abs(Date.now() - askedAt) < KEEP_MS;
}

async function read(reader: CredentialReader): Promise<TranscriberCredential> {
	const askedAt = Date.now();
	const given = await reader.getCredentials<ICredentialDataDecryptedObject>('transcriberApi');
	const apiKey = pasted(given.apiKey);
	if (!apiKey) {
		throw refuse(
			reader,
			"The 'API Key' of the credential is empty",
			'Copy the key from the API section of your account at the service into the credential.',
		);
	}
	if (!FITS_A_HEADER.test(apiKey)) {
		throw refuse(
			reader,
			"The 'API Key' of the credential has characters that no API key can have",
			'Copy the key from the API section of your account at the service again. A line break within it, or a letter of another alphabet that looks the same, is easily overlooked.',
		);
	}
	const webhookSecret = pasted(given.webhookSecret) || undefined;
	return { baseUrl: apiRoot(given.baseUrl), apiKey, webhookSecret, given, askedAt };
}
