// eslint.config.cjs - rules for web/. tools/web.sh lint runs it; NODE_PATH says where the packages are.
'use strict';
const eslint = require('@eslint/js');
const typescript = require('typescript-eslint');

/*
 * What each folder of src may import from others; from itself it may import everything. A folder that is not named
 * here may not be imported from, and imports nothing. The pages (main.tsx, workbench.tsx) stand above all.
 */
const LAYERS = {
	text: [],
	source: [],
	inline: ['source'],
	state: ['source', 'text'],
	draw: ['source', 'state', 'text'],
	ui: ['source', 'state', 'text', 'draw'],
	plot: ['source', 'state', 'text', 'ui'],
	tools: ['source', 'state', 'text', 'ui', 'plot'],
	page: ['source', 'state', 'text', 'ui', 'tools'],
	workbench: ['source', 'state', 'text', 'ui', 'page'],
};

/* Imports lead at most one folder up, so the folder is the first word behind "../". */
const layer = ([folder, may]) => ({
	files: [`src/${folder}/**`],
	rules: {
		'no-restricted-imports': [
			'error',
			{
				patterns: [
					{
						regex: may.length ? `^\\.\\./(?!(?:${may.join('|')})/)` : '^\\.\\./',
						message: `${folder} may import from: ${may.join(', ') || 'nothing'} (web/eslint.config.cjs).`,
					},
				],
			},
		],
	},
});

module.exports = typescript.config(
	eslint.configs.recommended,
	{
		files: ['**/*.ts', '**/*.tsx'],
		extends: [typescript.configs.recommended],
		languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: __dirname } },
		rules: {
			'@typescript-eslint/no-floating-promises': [
				'error',
				{ allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
			],
			'@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
			'@typescript-eslint/await-thenable': 'error',
			'@typescript-eslint/no-unnecessary-type-assertion': 'error',
			'@typescript-eslint/no-unused-vars': 'off', // the compiler checks them
			'no-control-regex': 'off', // names of programs have them
		},
	},
	layer(['*', []]),
	...Object.entries(LAYERS).map(layer),
	{
		files: ['**/*.js', '**/*.cjs'],
		languageOptions: {
			sourceType: 'commonjs',
			globals: Object.fromEntries(
				[
					'module',
					'require',
					'__dirname',
					'window',
					'document',
					'performance',
					'Response',
					'ReadableStreamDefaultReader',
					'Worker',
				].map(name => [name, 'readonly']),
			),
		},
	},
	{ files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
);
