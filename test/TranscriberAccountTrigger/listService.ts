/** A service whose task list is one array in memory, so that a test can change and break it at any request. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Task {
	/** Null as long as a meeting has no recording. */
	task_id: string | null;
	bot_id?: string;
	status: string;
}

export class ListService {
	/** In the order of the list. */
	tasks: Task[] = [];

	/** The most tasks in a page. */
	pageLength = 100;

	isOldestFirst = false;

	/** What a request shows of the tasks that it asks for. */
	pageOf = (listed: Task[], offset: number, limit: number) => listed.slice(offset, offset + limit);

	delayMs = 0;

	/** Returns the HTTP status with which a request is refused. `count`: how many came before it. */
	refuses: (url: URL, count: number) => number | undefined = () => undefined;

	/** Since this was last set to 0. */
	requests = 0;

	url = '';

	private server?: Server;

	private created = 0;

	async open(): Promise<this> {
		const server = createServer((request, response) => {
			const url = new URL(request.url ?? '/', 'http://localhost');
			const status = this.refuses(url, this.requests);
			this.requests += 1;
			const body = status ? { detail: { message: 'No' } } : this.answer(url);
			const respond = () => {
				response.statusCode = status ?? (body ? 200 : 404);
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify(body ?? { detail: { message: 'No such task' } }));
			};
			if (this.delayMs > 0) setTimeout(respond, this.delayMs);
			else respond();
		});
		this.server = server;
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		return this;
	}

	async close(): Promise<void> {
		this.server?.closeAllConnections();
		await new Promise((resolve) => this.server?.close(resolve));
	}

	/** Adds tasks where the list has its newest. */
	add(count: number, status = 'completed'): string[] {
		const ids = Array.from({ length: count }, () => `task ${++this.created}`);
		const tasks = ids.map((task_id) => ({ task_id, status }));
		if (this.isOldestFirst) this.tasks.push(...tasks);
		else this.tasks.unshift(...tasks.reverse());
		return ids;
	}

	private answer(url: URL): object | undefined {
		const [, id, what] = /\/tasks\/([^/]+)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
		if (id === undefined) {
			const { searchParams } = url;
			const [status, offset] = [searchParams.get('status'), Number(searchParams.get('offset'))];
			const limit = Math.min(this.pageLength, Number(searchParams.get('limit')));
			const listed = status ? this.tasks.filter((task) => task.status === status) : this.tasks;
			return { tasks: this.pageOf(listed, offset, limit) };
		}
		const task = this.tasks.find(({ task_id }) => task_id === decodeURIComponent(id));
		return task && what === 'result' ? { text: `Text of ${task.task_id}` } : task;
	}
}
