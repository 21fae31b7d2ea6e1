/**
 * The n8n releases this package is tested on, each with the recipe that installs it. A release's own dependency
 * ranges drift: the overrides hold back those whose newer versions break it.
 */
export interface N8nRecipe {
	version: string;
	overrides: Record<string, string>;
}

export const N8N_2 = '2.41.1';
export const N8N_1 = '1.123.81';

/** All that `npm run test:versions` tries. */
export const TESTED_VERSIONS = [N8N_1, '2.30.0', N8N_2];

/** Which one the end-to-end suite runs on. */
export const testedVersion = (): string => process.env.N8N_VERSION ?? N8N_2;

/** n8n 2.39 and later refuse to start on anything older. */
export const NODE_MAJOR = 24;
/** The Node that is installed beside n8n where the running one is older than that. */
export const NODE_VERSION = '24.21.0';

const RECIPES: N8nRecipe[] = [
	{
		version: N8N_2,
		overrides: { linkedom: '0.18.12', '@langchain/langgraph': '1.4.16' },
	},
	{
		version: '2.30.0',
		overrides: { xlsx: '0.18.5', linkedom: '0.18.12' },
	},
	{
		version: N8N_1,
		overrides: { xlsx: '0.18.5', '@langchain/langgraph-checkpoint': '1.0.0' },
	},
];

/** Any other version is installed as its own dependency ranges say. */
export function recipeFor(version: string): N8nRecipe {
	const recipe = RECIPES.find((candidate) => candidate.version === version);
	if (!recipe && !/^\d+\.\d+\.\d+/.test(version)) {
		throw new Error(`'${version}' is no version of n8n, such as ${N8N_2}.`);
	}
	return recipe ?? { version, overrides: {} };
}

/** The npm package that holds a Node binary and its headers for this machine. */
export function nodePackage(platform = process.platform, arch = process.arch): string {
	const os = platform === 'win32' ? 'win' : platform;
	// The one package that does not follow the naming of the others.
	const prefix = os === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
	return `${prefix}-${os}-${arch}`;
}
