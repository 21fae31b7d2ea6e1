import n8nCommunityNodes from '@n8n/eslint-plugin-community-nodes';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const shipped = ['nodes/**/*.ts', 'credentials/**/*.ts'];

/**
 * What ships is held to the rules that n8n applies at verification (`npm run scan` runs those themselves), and all of
 * it to typescript-eslint's. Inline disables do not count, here as there.
 */
export default defineConfig(
	globalIgnores(['dist', 'coverage', 'output']),
	{ linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },

	{
		files: [...shipped, 'package.json'],
		extends: [n8nCommunityNodes.configs.recommended],
		rules: { 'no-console': 'error' },
	},
	{ plugins: { 'n8n-nodes-base': n8nNodesBase } },
	{ files: ['package.json'], rules: n8nNodesBase.configs.community.rules },
	{
		files: ['credentials/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.credentials.rules,
			// Both off in n8n's scanner too: written for n8n's own nodes, and better covered by the community plugin.
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
			'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
		},
	},
	{
		files: ['nodes/**/*.ts'],
		rules: {
			...n8nNodesBase.configs.nodes.rules,
			// These three are off in n8n's scanner too: the first two do not know the constants of n8n-workflow, the third
			// forbids limits that the service really has.
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
			'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
		},
	},

	{
		files: ['**/*.{ts,mjs}'],
		extends: [tseslint.configs.recommended],
		rules: {
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/no-non-null-assertion': 'error',
			'@typescript-eslint/consistent-type-imports': 'error',
			// `const { secret, ...rest }` is how a field is left out.
			'@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
		},
	},
	{ files: ['package.json'], languageOptions: { parser: tseslint.parser } },
);
