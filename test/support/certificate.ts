import { generateKeyPairSync, sign } from 'node:crypto';

/** Creates an untrusted certificate at run time, so that the repository has no key. */
export function selfSignedCertificate(): { key: string; cert: string } {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const ecdsaWithSha256 = sequence(hex('06082a8648ce3d040302'));
	const name = sequence(
		der(0x31, sequence(hex('0603550403'), der(0x0c, Buffer.from('localhost')))),
	);
	const time = (value: string) => der(0x17, Buffer.from(value));
	const content = sequence(
		der(0x02, hex('01')),
		ecdsaWithSha256,
		name,
		sequence(time('200101000000Z'), time('491231235959Z')),
		name,
		publicKey.export({ type: 'spki', format: 'der' }),
	);
	const signature = sign('sha256', content, privateKey);
	const certificate = sequence(content, ecdsaWithSha256, der(0x03, hex('00'), signature));
	const lines = certificate.toString('base64').replace(/(.{64})/g, '$1\n');
	return {
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
	};
}

function hex(text: string): Buffer {
	return Buffer.from(text, 'hex');
}

function sequence(...parts: Buffer[]): Buffer {
	return der(0x30, ...parts);
}

/** An element in DER: tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
	const content = Buffer.concat(parts);
	const { length } = content;
	const size =
		length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length];
	return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
