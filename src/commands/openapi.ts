import { Command } from 'commander';
import { readConfig } from '../config.ts';

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI description. Its server follows PETSTORE_BASE_URL.')
    .option('--yaml', 'print YAML instead of JSON')
    .option('--lab', 'print that of the lab')
    .action(async (options) => {
      const { describe } = await import('../openapi/document.ts');
      const { asJson, asYaml } = await import('../openapi/serve.ts');
      const { describeLab } = await import('../openapi/lab.ts');
      const { operations } = await import('../operations.ts');
      const { baseUrl } = readConfig(process.env);
      const document = options.lab ? describeLab(baseUrl) : describe(operations, baseUrl);
      process.stdout.write(options.yaml ? await asYaml(document) : asJson(document));
    });
}
