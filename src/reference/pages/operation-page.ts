import { operationIn, type Part, resolverOf, typeOf } from '../description/part.ts';
import { blocks, escapeHtml, inline, rootFrom } from './static-page.ts';

/** A description, and where it is served. */
export interface Described {
  document: Part;
  /** Below the root of the service. */
  path: string;
}

/** The content of the page of an operation at `path`: parameters, responses, errors and three samples. */
export function operationPage({ document, path: source }: Described, id: string, path: string): string {
  const resolve = resolverOf(document);
  const root = rootFrom(path);
  const show = tables(resolve, `${root}reference`);
  const { url, method, operation } = operationIn(document, id);
  const parameters: Part[] = operation.parameters.map(resolve);
  const statuses: Part[] = Object.entries<Part>(operation.responses).map(([status, response]) => {
    return { status, ...resolve(response) };
  });
  const { answers = [], errors = [] } = Object.groupBy(statuses, ({ status }) =>
    Number(status) >= 400 ? 'errors' : 'answers',
  );
  return `<article class="operation" data-operation="${id}" data-description="${source}">
<div class="lead">
<h1>${inline(operation.summary)}</h1>
<p class="call"><code><b>${method}</b> ${escapeHtml(new URL(document.servers[0].url).pathname.replace(/\/$/, '') + url)}</code>${marksOf(operation).join('')}</p>
${blocks(operation.description)}
${operation['x-hideTryItPanel'] ? '' : `<p class="try"><a href="${root}reference#operations/${id}">Try it</a></p>`}
</div>
<section class="samples" aria-label="Samples">
${operation['x-codeSamples'].map(sample).join('\n')}
</section>
<div class="details">
${section('Parameters', parameters.length > 0 && show.parameters(parameters))}
${section('Body', operation.requestBody && show.content(operation.requestBody.content))}
${answers.map((answer) => section(`Response ${answer.status}`, show.answer(answer))).join('\n')}
${section('Errors', show.errors(errors))}
${section('Requests to your server', operation.callbacks && show.callbacks(operation.callbacks))}
</div>
</article>`;
}

/** The content of the page of all schemas. */
export function schemaList(documents: readonly Part[], root: string): string {
  const schemas = new Map(
    documents.flatMap((document) =>
      Object.entries<Part>(document.components.schemas).map(([name, schema]) => [name, { document, schema }]),
    ),
  );
  return `<h1>Schemas</h1>
<p>The objects in requests and responses, by name.</p>
${[...schemas]
  .map(([name, { document, schema }]) => {
    const { description = '', properties } = schema;
    const show = tables(resolverOf(document), `${root}reference`);
    return `<section aria-labelledby="${name}">
<h2 id="${name}">${name}</h2>
${blocks(description)}${properties ? show.properties(schema) : `<p>${show.type(schema)}</p>`}
</section>`;
  })
  .join('\n')}`;
}

const marksOf = (operation: Part): string[] =>
  [
    operation['x-stability'],
    operation.deprecated && 'deprecated',
    operation['x-sunset'] && `sunset ${operation['x-sunset']}`,
  ]
    .filter(Boolean)
    .map((mark) => ` <span class="mark">${mark}</span>`);

/** One sample is shown at a time. */
const sample = ({ label, source }: Part, i: number) =>
  `<details name="sample"${i === 0 ? ' open' : ''}><summary>${label}</summary>${code(source)}</details>`;

const code = (text: string) => `<pre><code>${escapeHtml(text)}</code></pre>`;

const section = (title: string, content: string | false | undefined) =>
  content
    ? `<section aria-labelledby="${idOf(title)}">\n<h2 id="${idOf(title)}">${title}</h2>\n${content}\n</section>`
    : '';

const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-');

const table = (columns: string[], rows: string[][]) => `<table>
<thead><tr>${columns.map((column) => `<th scope="col">${column}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}
</tbody>
</table>`;

/** Shows parts of a description, on a page from which `pages` leads to the reference. */
function tables(resolve: (part: Part) => Part, pages: string) {
  const type = (schema: Part) => inline(typeOf(schema, (name) => `[${name}](${pages}/schemas#${name})`));

  /** A name with its type in one cell, so that a phone has room for the text. */
  const row = (name: string, notes: string, description = '') => [
    `<code>${name}</code> <small>${notes}</small>`,
    inline(description),
  ];

  const properties = ({ properties, required = [] }: Part) =>
    table(
      ['Property', 'Meaning'],
      Object.entries<Part>(properties).map(([name, property]) =>
        row(
          name,
          `${type(property)}${required.includes(name) ? ', required' : ''}`,
          property.description ?? resolve(property).description,
        ),
      ),
    );

  /** Media types, the schema with its properties, and an example. */
  function content(types: Record<string, Part>): string {
    const [{ schema, example }] = Object.values(types) as [Part];
    const whole = resolve(schema);
    const shown = whole.items ? resolve(whole.items) : whole;
    const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
    const names = Object.keys(types).map((name) => `<code>${name}</code>`);
    return [
      `<p>${type(schema)} as ${names.join(' or ')}</p>`,
      shown.properties && properties(shown),
      example !== undefined && `<h3>Example</h3>\n${code(text)}`,
    ]
      .filter(Boolean)
      .join('\n');
  }

  return {
    type,
    properties,
    content,

    parameters: (parameters: Part[]) =>
      table(
        ['Parameter', 'Meaning'],
        parameters.map(({ name, in: place, required, schema, description }) =>
          row(name, `${place}, ${type(schema)}${required ? ', required' : ''}`, description),
        ),
      ),

    answer({ description, content: types, headers = {} }: Part): string {
      const rows = Object.entries<Part>(headers).map(([name, header]) => {
        const { schema, description } = resolve(header);
        return row(name, type(schema), description);
      });
      return [
        blocks(description),
        types && content(types),
        rows.length > 0 &&
          `<details><summary>Header fields</summary>${table(['Field', 'Meaning'], rows)}</details>`,
      ]
        .filter(Boolean)
        .join('\n');
    },

    errors: (errors: Part[]) =>
      table(
        ['Error', 'Example message'],
        errors.flatMap(({ status, content }) =>
          Object.entries<Part>(content['application/json'].examples).map(([name, { value }]) => [
            // A long code breaks between its words.
            `<a href="${pages}/errors/${name}"><code>${name.replaceAll('_', '_<wbr>')}</code></a> <small>${status}</small>`,
            escapeHtml(value.message),
          ]),
        ),
      ),

    callbacks: (callbacks: Part) =>
      table(
        ['Request', 'Meaning'],
        Object.values<Part>(callbacks)
          .flatMap((callback) => Object.values<Part>(callback))
          .map(({ post }) => [
            `${escapeHtml(post.summary)} <small>${type(post.requestBody.content['application/json'].schema)}</small>`,
            inline(post.description),
          ]),
      ),
  };
}
