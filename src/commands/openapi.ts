import { Command } from 'commander';
import { readConfig } from '../config.ts';

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI description. Its server follows PETSTORE_BASE_URL.')
    .option('--yaml', 'print YAML instead of JSON')
    .action(async (options) => {
      const { describe } = await import('../openapi/document.ts');
      const { asJson, asYaml } = await import('../openapi/serve.ts');
      const { operations } = await import('../operations.ts');
      const document = describe(operations, readConfig(process.env).baseUrl);
      process.stdout.write(options.yaml ? await asYaml(document) : asJson(document));
    });
}
