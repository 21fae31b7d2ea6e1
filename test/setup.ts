import 'reflect-metadata';

import setN8nUp from './support/n8nSettings.cjs';

// Where all test files of a process share one n8n, `environment.cjs` has set it up.
if (!('loadOnce' in globalThis)) afterAll(setN8nUp());
