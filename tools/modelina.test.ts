import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/folder.ts';
import { startDemonstration } from './support/demonstration.ts';
import { sendExamples } from './support/examples.ts';
import { load } from './support/packages.ts';
import { pinnedTool, testTool } from './support/tool.ts';

const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
/** Data of messages that are no events, and enumerations with null, have no name of their own. */
const maxAnonymous = 8;

interface Model {
  modelName: string;
  result: string;
}

interface StoredEvent {
  type: string;
}

testTool(
  pinnedTool('Modelina', 'asyncapi/modelina', 'Generates code', '@asyncapi/modelina'),
  {
    called: '`TypeScriptGenerator` with marshalling, on the AsyncAPI document',
    asserts:
      'Models have the names of their schemas. They compile, and read and write every event of the demo as it is.',
    runs: true,
    exemptions: [
      'Data of messages that are no events, and enumerations with null, get names of its own: eight models.',
    ],
  },
  async (t) => {
    const { TypeScriptGenerator, TS_COMMON_PRESET } = load('@asyncapi/modelina');
    const { origin, freshKey } = await startDemonstration(t);
    const key = await freshKey();
    await sendExamples(origin, key);
    const headers = { authorization: `Bearer ${key}` };
    // biome-ignore lint/suspicious/noExplicitAny: the models judge what the service sends
    const read = async (path: string): Promise<any> =>
      (await fetch(`${origin}/v1${path}`, { headers })).json();
    const presets = [{ preset: TS_COMMON_PRESET, options: { marshalling: true } }];
    const generator = new TypeScriptGenerator({ modelType: 'class', presets });
    const options = { exportType: 'named' };
    const models: Model[] = await generator.generateCompleteModels(await read('/asyncapi.json'), options);

    const names = models.map(({ modelName }) => modelName);
    assert.ok(models.length >= 30, names.join());
    assert.ok(names.filter((name) => /^Anonymous/.test(name)).length <= maxAnonymous, names.join());
    assert.equal(new Set(names).size, names.length, names.join());

    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'package.json'), '{}');
    for (const { modelName, result } of models) writeFileSync(join(folder, `${modelName}.ts`), result);
    const files = names.map((name) => `${name}.ts`);
    const words = ['--strict', '--target', 'esnext', '--module', 'commonjs', '--moduleResolution', 'bundler'];
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...words, ...files], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout);

    const built = createRequire(join(folder, 'package.json'));
    const events: StoredEvent[] = await read('/store/events?limit=100');
    for (const event of events) {
      const name = event.type.replaceAll(/(?:^|\.)(\w)/g, (_, letter) => letter.toUpperCase());
      const model = built(`./${name}.js`)[name].unmarshal(event);
      assert.deepEqual(JSON.parse(model.marshal()), event);
    }
    assert.ok(events.length >= 10);
    return `${models.length} models, ${events.length} events`;
  },
);
