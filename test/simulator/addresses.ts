import { BlockList, isIP } from 'node:net';

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa)$/;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const notPublic = new BlockList();
for (const [net, prefix] of [
	['0.0.0.0', 8],
	['10.0.0.0', 8],
	['100.64.0.0', 10],
	['127.0.0.0', 8],
	['169.254.0.0', 16],
	['172.16.0.0', 12],
	['192.168.0.0', 16],
	['198.18.0.0', 15],
	['224.0.0.0', 3],
] as const) {
	notPublic.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
	['::', 127],
	['fc00::', 7],
	['fe80::', 10],
	['ff00::', 8],
] as const) {
	notPublic.addSubnet(net, prefix, 'ipv6');
}

/** Whether a host name, as `URL` returns it (IPv6 in brackets), is this machine's own. */
export function isLoopback(hostname: string): boolean {
	const host = bare(hostname);
	return host === 'localhost' || listed(loopback, host);
}

/** Whether a name or address can be one of the public internet. Names are not looked up. */
export function isPublic(hostname: string): boolean {
	const host = bare(hostname);
	if (isIP(host) !== 0) return !listed(notPublic, host);
	return host.includes('.') && !LOCAL_NAMES.test(host);
}

function bare(hostname: string): string {
	return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function listed(list: BlockList, host: string): boolean {
	const version = isIP(host);
	return version !== 0 && list.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
