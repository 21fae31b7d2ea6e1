/** A fault that the simulator causes for the next matching request or webhook. */
export interface FaultRule {
	match: {
		method?: string;
		/** Source of a regular expression for the path, or for the address of a webhook. */
		path?: string;
		/** True: the rule is for webhooks that are sent, not for requests. */
		webhook?: boolean;
	};
	/** How often it happens. */
	times?: number;
	/** How many matching requests or webhooks pass first. */
	skip?: number;
	/** Only within so many ms of the first request or webhook that it happens to; `times` is then unlimited. */
	forMs?: number;
	action: RequestFault | WebhookFault;
}

export type RequestFault =
	| {
			/** Answers without asking the service. Without `body` it is the document's error body. */
			kind: 'respond';
			status: number;
			/** A string is sent as it is, even if it is not JSON. */
			body?: unknown;
			headers?: Record<string, string>;
			/** True: the answer comes after the request's body was read, not before. */
			readBody?: boolean;
	  }
	/** With `processed`, the service does what is asked at once, and only its answer is late. */
	| { kind: 'delay'; ms: number; processed?: boolean }
	| { kind: 'cut'; when: 'beforeBody' | 'afterBody' | 'afterProcessing' }
	| { kind: 'cut'; when: 'midBody' | 'midAnswer'; afterBytes: number }
	/** Processed; instead of the answer comes its beginning, or `body` (and `status`), in a whole HTTP message. */
	| { kind: 'garble'; keepBytes: number }
	| { kind: 'garble'; body: string; status?: number; headers?: Record<string, string> }
	/** Answered (with `cut`: cut off); from just before that on, nobody listens for so many ms. */
	| { kind: 'down'; ms: number; cut?: boolean }
	| { kind: 'stall'; readBody?: boolean }
	| { kind: 'slowRead'; bytesPerSecond: number }
	| { kind: 'redirect'; location: string; status: number };

export type WebhookFault =
	/** Never sent, and the service believes it was. */
	| { kind: 'lose' }
	/** Sent twice at the same time. */
	| { kind: 'double' }
	/** A wrong signature; a repeat has the right one. */
	| { kind: 'forge' }
	| { kind: 'unsigned' }
	| { kind: 'delay'; ms: number };

const REQUEST_KINDS = [
	'respond',
	'delay',
	'cut',
	'garble',
	'down',
	'stall',
	'slowRead',
	'redirect',
];
const WEBHOOK_KINDS = ['lose', 'double', 'forge', 'unsigned', 'delay'];

/** The pending faults. Each request or webhook gets at most one fault: the first that matches. */
export class Faults {
	private rules: Array<{ rule: FaultRule; skip: number; left: number; until?: number }> = [];

	add(rule: FaultRule): void {
		const kinds = rule.match.webhook === true ? WEBHOOK_KINDS : REQUEST_KINDS;
		if (!kinds.includes(rule.action.kind)) {
			throw new RangeError(`This match allows only these actions: ${kinds.join(', ')}`);
		}
		const times = rule.forMs === undefined ? 1 : Infinity;
		this.rules.push({ rule, skip: rule.skip ?? 0, left: rule.times ?? times });
	}

	/** How many have happened. */
	happened = 0;

	clear(): void {
		this.rules = [];
		this.happened = 0;
	}

	forRequest(method: string, path: string): RequestFault | undefined {
		// `add` has checked that the action fits the match.
		return this.take(
			({ match }) =>
				match.webhook !== true &&
				(match.method === undefined || match.method.toUpperCase() === method) &&
				matchesPath(match.path, path),
		) as RequestFault | undefined;
	}

	forWebhook(url: string): WebhookFault | undefined {
		return this.take(({ match }) => match.webhook === true && matchesPath(match.path, url)) as
			WebhookFault | undefined;
	}

	private take(matches: (rule: FaultRule) => boolean): FaultRule['action'] | undefined {
		for (const entry of this.rules) {
			if (entry.left <= 0 || !matches(entry.rule)) continue;
			if (entry.skip > 0) {
				entry.skip -= 1;
				continue;
			}
			const { forMs } = entry.rule;
			if (forMs !== undefined) entry.until ??= Date.now() + forMs;
			if (entry.until !== undefined && Date.now() >= entry.until) continue;
			entry.left -= 1;
			this.happened += 1;
			return entry.rule.action;
		}
		return undefined;
	}
}

function matchesPath(source: string | undefined, path: string): boolean {
	return source === undefined || new RegExp(source).test(path);
}
