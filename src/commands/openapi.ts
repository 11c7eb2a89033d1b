import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { describe } from '../openapi/document.ts';
import { asJson, asYaml } from '../openapi/serve.ts';
import { operations } from '../operations.ts';

export function openapiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI description. Its server follows PETSTORE_BASE_URL.')
    .option('--yaml', 'print YAML in place of JSON')
    .action((options) => {
      const document = describe(operations, readConfig(process.env).baseUrl);
      process.stdout.write(options.yaml ? asYaml(document) : asJson(document));
    });
}
