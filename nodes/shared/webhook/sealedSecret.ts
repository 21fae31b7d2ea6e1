import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'crypto';

/**
 * Seals a secret, for storage or for sending to a trigger, with AES-256-GCM. The encryption key is
 * derived (HKDF-SHA256) from the API key, which both nodes have and nobody else. `purpose`
 * separates the uses. `binding` ties a seal to one task or address, so that it opens for no other.
 */
export function seal(apiKey: string, purpose: string, binding: string, text: string): string {
	const nonce = randomBytes(12);
	const cipher = createCipheriv('aes-256-gcm', keyFor(apiKey, purpose), nonce);
	cipher.setAAD(Buffer.from(binding));
	const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
	return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The sealed text; undefined if it was changed, or sealed with another key, purpose or binding. */
export function unseal(
	apiKey: string,
	purpose: string,
	binding: string,
	sealed: string,
): string | undefined {
	const bytes = Buffer.from(sealed, 'base64url');
	if (bytes.length < 28) return undefined;
	try {
		const decipher = createDecipheriv(
			'aes-256-gcm',
			keyFor(apiKey, purpose),
			bytes.subarray(0, 12),
		);
		decipher.setAAD(Buffer.from(binding));
		decipher.setAuthTag(bytes.subarray(12, 28));
		return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
	} catch {
		return undefined;
	}
}

/** A webhook_secret as the service or a node sends it; undefined if there is none. Blank is none. */
export function secretIn(value: unknown): string | undefined {
	return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function keyFor(apiKey: string, purpose: string): Buffer {
	return Buffer.from(hkdfSync('sha256', apiKey, 'n8n-nodes-transcriber', purpose, 32));
}
