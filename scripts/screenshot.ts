/**
 * `npm run screenshot`: takes the pictures that the documentation uses, of both nodes and of every example in the editor
 * of a real n8n. Needs a Chromium or Chrome on this machine, at $CHROMIUM or /usr/bin/chromium.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { chromium, type Page } from 'playwright-core';

import { startN8n, type N8nHost } from '../test/n8n/host';
import { packPackage } from '../test/n8n/npm';
import { OWNER, type Workflow } from '../test/n8n/rest';
import { startSimulator, type Simulator } from '../test/simulator';
import { withPalette } from './palette';

const root = path.join(__dirname, '..');
const examples = path.join(root, 'examples');
const images = path.join(root, 'docs', 'images');
const LARGEST = 50_000;
const SIZE = { width: 1440, height: 860 };
/** Without what lies behind the window of the node. */
const NODE_WINDOW = { x: 24, y: 24, width: 1392, height: 812 };
/** What a common laptop shows. An example has to be legible there as n8n fits it into the window. */
const CANVAS_SIZE = { width: 1440, height: 900 };
/** The name of a node stands below it, and may be longer than the node is wide. */
const AROUND = { left: 24, top: 24, right: 80, bottom: 72 };
const SETTLES_MS = 3_000;

interface Area {
	x: number;
	y: number;
	width: number;
	height: number;
}

async function main(): Promise<void> {
	const { tarball, dispose } = await packPackage(root);
	const simulator = await startSimulator({ clockRate: 60 });
	try {
		const n8n = await startN8n({ packageTarball: tarball, log: console.log });
		try {
			await photograph(n8n, simulator);
		} finally {
			await n8n.stop();
		}
	} finally {
		await simulator.close();
		await dispose();
	}
}

/** Imports every example with the credentials it names; returns their ids by file name. */
async function importExamples(n8n: N8nHost, simulator: Simulator): Promise<Map<string, string>> {
	const { rest } = n8n;
	const { url: baseUrl, apiKey } = simulator;
	const credentials = {
		transcriberApi: await rest.createCredential(
			'transcriberApi',
			{ baseUrl, apiKey },
			'Transcriber API',
		),
		// Never used: without them the editor marks the nodes that need them as incomplete.
		openAiApi: await rest.createCredential('openAiApi', { apiKey: 'none' }, 'OpenAi account'),
		n8nApi: await rest.createCredential('n8nApi', { apiKey: 'none', baseUrl }, 'n8n account'),
		smtp: await rest.createCredential('smtp', { host: 'none' }, 'SMTP account'),
	};
	const ids = new Map<string, string>();
	for (const file of (await readdir(examples)).filter((name) => name.endsWith('.json')).sort()) {
		const workflow = JSON.parse(await readFile(path.join(examples, file), 'utf8')) as Workflow;
		ids.set(file, (await rest.createWorkflow(workflow, credentials)).id);
	}
	return ids;
}

async function photograph(n8n: N8nHost, simulator: Simulator): Promise<void> {
	const ids = await importExamples(n8n, simulator);
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
		],
	});
	try {
		const page = await browser.newPage({ viewport: SIZE });
		const open = async (file: string) => {
			await page.goto(`${n8n.url}/workflow/${ids.get(file)}`);
			await page.locator('[data-test-id=canvas-node]').first().waitFor();
			// The canvas moves into place.
			await page.waitForTimeout(SETTLES_MS);
		};
		await signIn(page, n8n.url);
		await open('recording-to-subtitles.json');
		await runAndOpen(page, 'Transcriber');
		await save(page, 'node.png', NODE_WINDOW);
		await open('meeting-to-crm-with-trigger.json');
		await openTrigger(page, 'Transcript Ready');
		await save(page, 'trigger.png', NODE_WINDOW);

		await page.setViewportSize(CANVAS_SIZE);
		for (const file of ids.keys()) {
			await open(file);
			// The dots of the canvas say nothing and make the file larger; the buttons lie on nodes at the edge.
			await page.addStyleTag({
				content: '.vue-flow__background, .vue-flow__panel, button { display: none !important }',
			});
			await save(page, `example-${path.parse(file).name}.png`, await contentOfCanvas(page));
		}
	} finally {
		await browser.close();
	}
}

async function signIn(page: Page, url: string): Promise<void> {
	await page.goto(`${url}/signin`);
	await page.fill('input[name=emailOrLdapLoginId]', OWNER.email);
	await page.fill('input[name=password]', OWNER.password);
	await page.keyboard.press('Enter');
	await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
}

/** Runs the workflow as a user would, and opens a node with its input and output. */
async function runAndOpen(page: Page, name: string): Promise<void> {
	const node = page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	await page.locator('[data-test-id=execute-workflow-button]').click();
	await node.locator('[data-test-id=canvas-node-status-success]').waitFor();
	await node.dblclick();
	await page.locator('[data-test-id=node-parameters]').waitFor();
	await page.locator('[data-test-id=output-panel]').getByText('JSON', { exact: true }).click();
	// "Workflow executed successfully" goes away by itself.
	await page.locator('.el-notification').first().waitFor({ state: 'hidden' });
	await page.waitForTimeout(SETTLES_MS);
}

/** Opens a trigger, with the explanation that its panel holds. */
async function openTrigger(page: Page, name: string): Promise<void> {
	await page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`).dblclick();
	await page.locator('[data-test-id=node-parameters]').waitFor();
	await page.getByText('When will this node trigger my flow?').click();
	await page.waitForTimeout(SETTLES_MS);
}

/** Where the nodes and notes of the workflow are, without the empty canvas and the buttons around them. */
async function contentOfCanvas(page: Page): Promise<Area> {
	const boxes = await page
		.locator('.vue-flow__node')
		.evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect()));
	const x = Math.min(...boxes.map((box) => box.left)) - AROUND.left;
	const y = Math.min(...boxes.map((box) => box.top)) - AROUND.top;
	return {
		x,
		y,
		width: Math.max(...boxes.map((box) => box.right)) + AROUND.right - x,
		height: Math.max(...boxes.map((box) => box.bottom)) + AROUND.bottom - y,
	};
}

async function save(page: Page, name: string, clip: Area): Promise<void> {
	await mkdir(images, { recursive: true });
	const file = path.join(images, name);
	const picture = withPalette(await page.screenshot({ clip }));
	await writeFile(file, picture);
	console.log(`${path.relative(root, file)}: ${Math.round(picture.length / 1000)} kB`);
	if (picture.length > LARGEST) throw new Error(`${name} is larger than ${LARGEST / 1000} kB`);
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
