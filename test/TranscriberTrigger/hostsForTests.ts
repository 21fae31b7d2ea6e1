/** The triggers of a suite about their store, whose data is safe a moment after it was saved. */
import type { INodeParameters } from 'n8n-workflow';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import type { serviceForTests } from '../support/service';
import { TriggerHost, type HostSettings } from './host';

export const NO_RESULT = { options: { includeResult: false } };

export function hostsForTests({ credentials }: ReturnType<typeof serviceForTests>) {
	const hosts: TriggerHost[] = [];
	beforeEach(() => {
		jest.replaceProperty(STORE, 'safeAfterMs', 100);
	});
	afterEach(async () => {
		jest.restoreAllMocks();
		for (const host of hosts.splice(0)) await host.close();
	});
	return {
		async open(
			parameters: INodeParameters = NO_RESULT,
			settings: Partial<HostSettings> = {},
		): Promise<TriggerHost> {
			const given = { parameters, credentials: credentials(), ...settings };
			const host = await new TriggerHost(given).open();
			hosts.push(host);
			return host;
		},
		secretsIn: (host: TriggerHost) => host.stored.secrets.split(';').length - 1,
		endingsIn: (host: TriggerHost) => host.stored.endings.split(';').length - 1,
	};
}
