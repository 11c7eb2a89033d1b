/** For `--import`: each file of tests is a process, which finds the code that it shares with others compiled. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/petstore', import.meta.url)));
