/**
 * Finds texts anywhere in a value, plain, in hexadecimal, in base64 or in a URL: in any property, enumerable or
 * not, of errors, maps, buffers and other objects.
 */
export function findIn(value: unknown, texts: string[]): string[] {
	const found = new Set<string>();
	const forms = texts.flatMap((text) =>
		[text, encodeURIComponent(text), Buffer.from(text).toString('hex'), ...inBase64(text)].map(
			(form) => ({ text, form }),
		),
	);
	const look = (words: string) => {
		for (const { text, form } of forms) if (words.includes(form)) found.add(text);
	};
	const seen = new Set<object>();
	const open: unknown[] = [value];
	while (open.length > 0) {
		const next = open.pop();
		if (typeof next === 'string') look(next);
		if (next === null || (typeof next !== 'object' && typeof next !== 'function')) continue;
		if (seen.has(next)) continue;
		seen.add(next);
		if (ArrayBuffer.isView(next)) {
			look(Buffer.from(next.buffer, next.byteOffset, next.byteLength).toString('latin1'));
			continue;
		}
		if (next instanceof Map) open.push(...next.keys(), ...next.values());
		if (next instanceof Set) open.push(...next);
		for (const name of Reflect.ownKeys(next)) {
			open.push(name);
			const property = Reflect.getOwnPropertyDescriptor(next, name);
			if (property && 'value' in property) open.push(property.value);
		}
	}
	return [...found];
}

/**
 * The secrets in the addresses of requests: whatever stands there comes to the logs of each proxy on the way. Most
 * requests are repeats, so each address is read once.
 */
export function secretsInAddresses(
	requests: Array<{ path: string; query: object }>,
	secrets: string[],
): string[] {
	const addresses = requests.map(({ path, query }) => JSON.stringify([path, query]));
	return findIn([...new Set(addresses)].join('\n'), secrets.filter(Boolean));
}

/** What stays the same of a text in base64, wherever in a longer text it stands. */
function inBase64(text: string): string[] {
	return [0, 1, 2].flatMap((before) => {
		const coded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString('base64');
		const own = coded.slice(before === 0 ? 0 : before + 1, -4);
		return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
	});
}
