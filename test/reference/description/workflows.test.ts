import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeRehearsedWorkflows,
  describeWorkflows,
} from '../../../src/reference/description/workflows.ts';
import { baseUrl, description, labDescription, resolve, validator } from '../../support/description.ts';

interface Step {
  stepId: string;
  operationId?: string;
  workflowId?: string;
  parameters: { name: string; in?: string }[];
  requestBody?: { contentType: string; payload: Record<string, unknown> };
  successCriteria: { condition: string }[];
}

interface Workflow {
  workflowId: string;
  inputs: { properties: object };
  steps: Step[];
}

interface Workflows {
  sourceDescriptions: { name: string }[];
  workflows: Workflow[];
}

const documents: Workflows[] = [describeWorkflows(baseUrl), describeRehearsedWorkflows(baseUrl)].map(
  (document) => JSON.parse(JSON.stringify(document)),
);
const sources: Record<string, typeof labDescription> = { store: description, lab: labDescription };

/** The operation of a step, from its description. Only a document with several sources may name one. */
function operationOf({ operationId = '' }: Step, { sourceDescriptions }: Workflows) {
  const [, source = 'store', id] = /^(?:\$sourceDescriptions\.(\w+)\.)?(\w+)$/.exec(operationId) ?? [];
  assert.equal(operationId.startsWith('$'), sourceDescriptions.length > 1, operationId);
  const document = sources[source];
  const operation = Object.values<object>(document?.paths ?? {})
    .flatMap((methods) => Object.values(methods))
    .find((operation) => operation.operationId === id);
  assert.ok(operation, `no operation ${operationId}`);
  return { document, operation };
}

for (const [workflows, { workflowId, inputs, steps }] of documents.flatMap((document) =>
  document.workflows.map((workflow) => [document, workflow] as const),
))
  test(`${workflowId} sends and expects what the descriptions allow`, () => {
    for (const step of steps) {
      if (step.workflowId !== undefined) {
        const names = step.parameters.map(({ name }) => name).sort();
        assert.deepEqual([step.workflowId, names], [workflowId, Object.keys(inputs.properties).sort()]);
        continue;
      }
      const { document, operation } = operationOf(step, workflows);
      const known: { name: string; in: string }[] = [
        { name: 'X-API-Key', in: 'header' },
        ...operation.parameters.map((parameter: never) => resolve(parameter, document)),
      ];
      for (const { name, in: place } of step.parameters)
        assert.ok(
          known.some((one) => one.name === name && one.in === place),
          `${step.stepId}: ${name}`,
        );

      const [, status = ''] = /^\$statusCode == (\d+)$/.exec(step.successCriteria[0]?.condition ?? '') ?? [];
      assert.ok(status in operation.responses, `${step.stepId}: ${status}`);

      if (!step.requestBody) continue;
      const { contentType, payload } = step.requestBody;
      // An expression is a number from an earlier response.
      const sent = JSON.parse(JSON.stringify(payload).replaceAll(/"\$steps\.[^"]+"/g, '1'));
      const validate = validator(operation.requestBody.content[contentType].schema, document);
      assert.ok(validate(sent), `${step.stepId}: ${JSON.stringify(validate.errors)}`);
    }
  });

test('the workflows of the store need no lab', () => {
  const names = documents.map(({ sourceDescriptions }) => sourceDescriptions.map(({ name }) => name));
  assert.deepEqual(names, [['store'], ['store', 'lab']]);
});
