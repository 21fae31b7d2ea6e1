/**
 * `npm run screenshot`: takes the pictures that the documentation uses, of the node in the editor of a real n8n. Needs
 * a Chromium or Chrome on this machine, at $CHROMIUM or /usr/bin/chromium.
 */
import { mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { chromium, type Page } from 'playwright-core';

import { startN8n, type N8nHost } from '../test/n8n/host';
import { packPackage } from '../test/n8n/npm';
import { OWNER, type Workflow } from '../test/n8n/rest';
import { startSimulator, type Simulator } from '../test/simulator';

const root = path.join(__dirname, '..');
const images = path.join(root, 'docs', 'images');
const LARGEST = 150_000;
const SIZE = { width: 1440, height: 860 };
/** Without what lies behind the window of the node. */
const NODE_WINDOW = { x: 24, y: 24, width: 1392, height: 812 };
const SETTLES_MS = 3_000;

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

async function importExample(n8n: N8nHost, simulator: Simulator, file: string): Promise<string> {
	const credential = await n8n.rest.createCredential(
		'transcriberApi',
		{ baseUrl: simulator.url, apiKey: simulator.apiKey },
		'Transcriber API',
	);
	const example = path.join(root, 'examples', file);
	const workflow = JSON.parse(await readFile(example, 'utf8')) as Workflow;
	return (await n8n.rest.createWorkflow(workflow, { transcriberApi: credential })).id;
}

async function photograph(n8n: N8nHost, simulator: Simulator): Promise<void> {
	const subtitles = await importExample(n8n, simulator, 'recording-to-subtitles.json');
	const trigger = await importExample(n8n, simulator, 'meeting-to-crm-with-trigger.json');
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
		await signIn(page, n8n.url);
		await page.goto(`${n8n.url}/workflow/${subtitles}`);
		await runAndOpen(page, 'Transcriber');
		await save(page, 'node.png');
		await page.goto(`${n8n.url}/workflow/${trigger}`);
		await openTrigger(page, 'Transcript Ready');
		await save(page, 'trigger.png');
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
	await node.waitFor();
	// The canvas moves into place.
	await page.waitForTimeout(SETTLES_MS);
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
	const node = page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	await node.waitFor();
	await page.waitForTimeout(SETTLES_MS);
	await node.dblclick();
	await page.locator('[data-test-id=node-parameters]').waitFor();
	await page.getByText('When will this node trigger my flow?').click();
	await page.waitForTimeout(SETTLES_MS);
}

async function save(page: Page, name: string): Promise<void> {
	await mkdir(images, { recursive: true });
	const file = path.join(images, name);
	await page.screenshot({ path: file, clip: NODE_WINDOW });
	const { size } = await stat(file);
	console.log(`${path.relative(root, file)}: ${Math.round(size / 1000)} kB`);
	if (size > LARGEST) throw new Error(`${name} is larger than ${LARGEST / 1000} kB`);
}

main().catch((error: unknown) => {
	console.error(error);
	process.exitCode = 1;
});
