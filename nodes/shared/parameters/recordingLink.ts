import { refuse, type WithNode } from './refuse';

/** Advice for error messages about the link to a recording. */
export const LINK_ADVICE =
	'Enter a link that starts with https:// and that the service can open without a login.';

/**
 * Refuses an invalid link before it is sent to the service. URL parsers ignore line breaks and
 * encode blanks, so they would read two links in one field as one.
 */
export function checkLink(
	context: WithNode,
	link: string,
	displayName: string,
	advice: string,
): void {
	const isWebAddress = URL.canParse(link) && /^https?:$/.test(new URL(link).protocol);
	if (!isWebAddress) {
		throw refuse(context, `'${displayName}' is not a web address: '${link}'`, advice);
	}
	if (!/\s/.test(link)) return;
	throw refuse(
		context,
		`'${displayName}' has a blank or a line break in it: '${link}'`,
		`Enter one link and nothing else. A blank within a link is written as %20. ${advice}`,
	);
}
