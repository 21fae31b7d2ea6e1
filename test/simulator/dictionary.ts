import type { Settings } from './options';
import { Refusal } from './refusal';

const LIMIT_CHARS = 20_000;

/** Section "Dictionary": stores the terms of the account. */
export class Dictionary {
	private own: string[] = [];

	constructor(private readonly settings: Settings) {}

	/** PUT /dictionary replaces the whole dictionary. */
	replace(terms: string[]): void {
		this.own = acceptedTerms(terms);
	}

	/** POST /dictionary adds terms; duplicates are dropped. */
	add(terms: string[]): void {
		this.own = acceptedTerms([...this.own, ...terms]);
	}

	/** DELETE /dictionary clears the caller's own dictionary. */
	clear(): void {
		this.own = [];
	}

	effectiveTerms(): string[] {
		return this.terms().slice(0, this.settings.limitTerms);
	}

	/** The dictionary resource. */
	resource(): Record<string, unknown> {
		const terms = this.terms();
		return {
			terms,
			count: terms.length,
			chars: characters(terms),
			limit_chars: LIMIT_CHARS,
			limit_terms: this.settings.limitTerms,
			effective_terms: this.effectiveTerms(),
			ignored_terms: terms.slice(this.settings.limitTerms),
			...(this.inherited() ? { inherited_from_team_owner: true } : {}),
		};
	}

	/** The terms of the account. */
	terms(): string[] {
		return this.inherited() ?? this.own;
	}

	private inherited(): string[] | undefined {
		return this.own.length === 0 ? this.settings.teamOwnerTerms : undefined;
	}
}

/** Reads the `terms` or `text` of a dictionary request; separators: comma, semicolon, line break. */
export function termsFrom(body: Record<string, unknown>, shapes: Settings['shapes']): string[] {
	const { terms, text } = body;
	const invalid = (message: string) => new Refusal(shapes.invalidParameterStatus, message);
	if (terms === undefined && text === undefined) throw invalid('terms or text is required');
	if (terms !== undefined && !isStrings(terms)) throw invalid('terms must be an array of strings');
	if (text !== undefined && typeof text !== 'string') throw invalid('text must be a string');
	return [...(terms ?? []), ...(text?.split(/[,;\r\n]/) ?? [])];
}

function isStrings(value: unknown): value is string[] {
	return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Trimmed, without blanks and duplicates; refused as a whole when it is too large. */
export function acceptedTerms(terms: string[]): string[] {
	const unique = [...new Set(terms.map((term) => term.trim()))].filter((term) => term !== '');
	if (characters(unique) > LIMIT_CHARS) {
		throw new Refusal(413, `The dictionary is larger than ${LIMIT_CHARS} characters`);
	}
	return unique;
}

/** Characters are code points of the terms alone, so an emoji counts once. */
function characters(terms: string[]): number {
	return terms.reduce((sum, term) => sum + Array.from(term).length, 0);
}
