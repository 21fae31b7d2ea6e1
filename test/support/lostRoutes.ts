import type { FaultRule } from '../simulator/index';

interface LostRoute {
	proxy: string;
	answer: FaultRule['action'];
}

const answerOf = (type: string, body: string): LostRoute['answer'] => ({
	kind: 'respond',
	status: 404,
	headers: { 'content-type': type },
	body,
});

/** What proxies answer while the service behind a route restarts. */
export const LOST_ROUTES: [LostRoute, ...LostRoute[]] = [
	{ proxy: 'Traefik', answer: answerOf('text/plain; charset=utf-8', '404 page not found\n') },
	{ proxy: 'an ingress of Kubernetes', answer: answerOf('text/plain', 'default backend - 404') },
	{
		proxy: 'Kong',
		answer: answerOf('application/json', '{"message":"no Route matched with those values"}'),
	},
	{
		proxy: 'Railway',
		answer: answerOf(
			'application/json',
			'{"status":"error","code":404,"message":"Application not found","request_id":"x"}',
		),
	},
];
