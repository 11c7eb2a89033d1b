import { Command } from 'commander';
import { readConfig } from '../foundation/settings/config.ts';

export const openapiCommand = () =>
  new Command('openapi')
    .description('Print the OpenAPI description. Its server is PETSTORE_BASE_URL.')
    .option('--yaml', 'print YAML instead of JSON')
    .option('--lab', 'print the description of the lab instead')
    .action(async (options) => {
      const { describeLab, describeStore } = await import('../reference/description/apis.ts');
      const { asJson, asYaml } = await import('../reference/description/serve-description.ts');
      const { operations } = await import('../api/operations.ts');
      const { baseUrl, ...shown } = readConfig(process.env);
      const document = options.lab ? describeLab(baseUrl, shown) : describeStore(operations, baseUrl, shown);
      process.stdout.write(options.yaml ? await asYaml(document) : asJson(document));
    });
