/** A local mail server that accepts every message and delivers none. */
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface MailServer {
	port: number;
	/** The raw messages: headers, an empty line, the text. */
	messages: string[];
	close(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
	const messages: string[] = [];
	const open = new Set<Socket>();
	const server = createServer((socket) => {
		open.add(socket);
		socket.on('close', () => open.delete(socket));
		socket.on('error', () => socket.destroy());
		let received = '';
		let inMessage = false;
		const say = (line: string) => socket.write(`${line}\r\n`);
		say('220 mail.example.com');
		socket.on('data', (chunk: Buffer) => {
			received += chunk.toString();
			for (;;) {
				const end = inMessage ? '\r\n.\r\n' : '\r\n';
				const at = received.indexOf(end);
				if (at < 0) return;
				const text = received.slice(0, at);
				received = received.slice(at + end.length);
				if (inMessage) {
					messages.push(text.replaceAll('\r\n', '\n'));
					inMessage = false;
					say('250 taken');
				} else if (/^data/i.test(text)) {
					inMessage = true;
					say('354 go on');
				} else if (/^quit/i.test(text)) {
					socket.end('221 bye\r\n');
				} else {
					say('250 fine');
				}
			}
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		port: (server.address() as AddressInfo).port,
		messages,
		close: async () => {
			for (const socket of open) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
