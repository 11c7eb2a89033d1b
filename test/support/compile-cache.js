/** For `--import`: each test file is a process, and they share the compiled code. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/petstore', import.meta.url)));
