/** Every operation, and every way to get its transcript: the rows of the matrix. */
import { operationRows } from './operationRows';
import type { Row } from './row';
import { receivedRows, submitRows } from './submitRows';
import { switchOffRow, triggerRows } from './triggerRows';

export const ROWS: Row[] = [
	...submitRows,
	...receivedRows,
	...operationRows,
	...triggerRows,
	switchOffRow,
];
