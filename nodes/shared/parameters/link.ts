import type { IExecuteSingleFunctions } from 'n8n-workflow';

import { refuse } from './refuse';

/** What to enter as the link to a recording. */
export const LINK_ADVICE =
	'Enter a link that starts with https:// and that the service can open without a login.';

/**
 * A link that the service is given to open. URL parsers pass over line breaks and encode blanks, so
 * two links in one field would look like one.
 */
export function checkLink(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	link: string,
	displayName: string,
	advice: string,
): void {
	if (/\s/.test(link)) {
		throw refuse(
			context,
			`'${displayName}' has a blank or a line break in it: '${link}'`,
			`Enter one link and nothing else. A blank within a link is written as %20. ${advice}`,
		);
	}
	if (URL.canParse(link) && /^https?:$/.test(new URL(link).protocol)) return;
	throw refuse(context, `'${displayName}' is not a web address: '${link}'`, advice);
}
