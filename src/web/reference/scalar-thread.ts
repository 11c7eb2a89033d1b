// Reads and hashes Scalar's program for browsers, 4 MB.

import { scalarProgram } from '#distribution';
import { sendText } from '../../http/content-codings.ts';

sendText(await scalarProgram());
