// Compresses Scalar's program for the browser.

import { scalarProgram } from '#distribution';
import { sendForms } from '../http/forms.ts';

await sendForms(await scalarProgram());
