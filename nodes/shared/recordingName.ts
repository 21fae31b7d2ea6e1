import type { IBinaryData } from 'n8n-workflow';

/** Where n8n's extension for a MIME type is another than the service document names. */
const DOCUMENTED: Record<string, string | undefined> = {
	adts: 'aac',
	mpga: 'mp3',
	oga: 'ogg',
	qt: 'mov',
	weba: 'webm',
};

/** Extensions of files that a server sent without knowing what they are. */
const SAYS_NOTHING = /^(bin|txt)$/;

/**
 * The name of a recording for the service, which may look at its extension (service document,
 * "Upload parameters"). A name without one, such as that of a download, gets what n8n knows.
 * Telegram's `voice.oga` becomes `voice.ogg`.
 */
export function recordingName({ fileName, fileExtension }: IBinaryData): string {
	const known = fileExtension ?? '';
	const extension = SAYS_NOTHING.test(known) ? '' : (DOCUMENTED[known] ?? known);
	if (!fileName) return `recording.${extension || 'bin'}`;
	const name = readableName(fileName);
	const bare = withoutExtension(name);
	// n8n takes what follows the last dot of a name as its extension, also in `Meeting 12.05 with Anna`.
	const isInName = bare !== name || name.endsWith(`.${known}`);
	if (!isInName) return extension === '' ? name : `${name}.${extension}`;
	const own = name.slice(bare.length + 1);
	return own in DOCUMENTED ? `${bare}.${DOCUMENTED[own]}` : name;
}

/**
 * The name of a file as people write it. n8n names a download after the path of its link, in which
 * `Team call.mp3` is `Team%20call.mp3`.
 */
export function readableName(name: string): string {
	if (!/%[\da-f]{2}/i.test(name)) return name;
	try {
		return decodeURIComponent(name).replace(/[\p{Cc}/\\]/gu, '_');
	} catch {
		return name;
	}
}

/** The name of a document of a recording, without an extension: `Team call` for `Team%20call.mp3`. */
export function documentName(nameOfRecording: string): string {
	return withoutExtension(readableName(nameOfRecording));
}

/**
 * The name of a recording without its file extension. But for the videos of old phones, an extension
 * begins with a letter, so a title such as `Meeting 12.05` stays whole.
 */
function withoutExtension(name: string): string {
	return name.replace(/\.([a-z]\w{1,3}|3g[2p])$/i, '');
}
