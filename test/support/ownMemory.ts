/** Import it before any node: the end of the process for the nodes of this test file. */
import { watchMemory } from './forget';

export const forgetEverything = watchMemory();
