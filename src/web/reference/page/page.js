// Shows the description with Scalar. Settings that Scalar does not read from it are derived from it here.

import { currentKey, onKeyChange } from './key.js';
import { offerSearch } from './search.js';

const description = await loadDescription();
const operations = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

offerSearch(structuredClone(description));
leaveOptionalParametersOut();
tellCommonHeadersOnce();
markLifecycle();
hideTryItPanels();
stayInThePage();
offerGuidesAsText();
tellWhereKeysAreEntered();

const reference = Scalar.createApiReference('#reference', configurationWith(currentKey()));
if (matchMedia('(width <= 720px)').matches) letTablesScroll();
onKeyChange((key) => reference.updateConfiguration(configurationWith(key)));

/** The settings of Scalar, so that its panel sends `key`. */
function configurationWith(key) {
  return {
    content: description,
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      securitySchemes: { bearerAuth: { token: key }, apiKeyAuth: { value: key } },
    },
    persistAuth: false,
    hideSearch: true,
    hiddenClients: true,
    defaultOpenAllTags: true,
    hideClientButton: true,
    documentDownloadType: 'none',
    showDeveloperTools: 'never',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
  };
}

async function loadDescription() {
  const status = document.querySelector('#status');
  try {
    const response = await fetch('v1/openapi.json');
    if (!response.ok) throw new Error(`The service answered ${response.status}.`);
    const description = await response.json();
    status.remove();
    return description;
  } catch (error) {
    status.textContent = `The description could not be loaded: ${error.message} Reload the page to try again.`;
    throw error;
  }
}

/** The example of a parameter only shows its form. It must not be sent unless the user ticks it. */
function leaveOptionalParametersOut() {
  const parameters = [
    ...Object.values(description.components.parameters),
    ...operations.flatMap((operation) => operation.parameters),
  ];
  for (const parameter of parameters) {
    if (parameter.$ref || parameter.required) continue;
    const value = parameter.example ?? resolved(parameter.schema).example;
    if (value === undefined) continue;
    delete parameter.example;
    parameter.examples = { example: { value, 'x-disabled': true } };
  }
}

/** An answer of success tells the headers that every answer has. Each error would repeat them, also in what is copied. */
function tellCommonHeadersOnce() {
  const answers = operations.flatMap(({ responses }) => Object.entries(responses));
  const ofErrors = answers.filter(([status]) => status >= 400).map(([, answer]) => answer);
  for (const { headers } of [...Object.values(description.components.responses), ...ofErrors]) {
    for (const name of Object.keys(headers ?? {}))
      if (/^(X-)?(RateLimit|Request-Id)/.test(name)) delete headers[name];
  }
}

function resolved(schema) {
  return schema.$ref ? description.components.schemas[schema.$ref.split('/').at(-1)] : schema;
}

/** Scalar's own fields for a key are hidden (page.css): a key typed there would be sent instead of the key of the tab. */
function tellWhereKeysAreEntered() {
  for (const scheme of Object.values(description.components.securitySchemes)) {
    scheme.description = `The key stands at the top of the page. ${scheme.description}`;
  }
}

/** Links to the reference lead to places in this page. Scalar opens whole addresses in other tabs, which have no key. */
function stayInThePage() {
  const { info, servers } = description;
  const reference = servers[0].url.replace(/v1$/, 'reference');
  for (const part of [info, ...description.tags]) {
    part.description = part.description.replaceAll(`](${reference}#`, '](#');
  }
}

/** Each tag without operations is a guide, which is also served as a text of its own. */
function offerGuidesAsText() {
  const used = new Set(operations.flatMap(({ tags }) => tags));
  for (const tag of description.tags.filter(({ name }) => !used.has(name))) {
    const file = `guides/${tag.name.toLowerCase().replaceAll(' ', '-')}.md`;
    tag.description += `\n\n[This guide as Markdown](${file})`;
  }
}

function markLifecycle() {
  for (const { path, method, ...operation } of operations) {
    const stability = operation['x-stability'];
    const sunset = operation['x-sunset'];
    description.paths[path][method.toLowerCase()]['x-badges'] = [
      ...(stability ? [{ name: stability === 'beta' ? 'Beta' : 'Experimental', color: '#d97706' }] : []),
      ...(sunset ? [{ name: `Sunset ${sunset}`, color: '#dc2626' }] : []),
    ];
  }
}

/** On a phone a table may be too wide. It scrolls by itself, also by keyboard. */
function letTablesScroll() {
  const page = document.querySelector('#reference');
  const reachAll = () => {
    for (const table of page.querySelectorAll('.markdown table:not([tabindex])')) table.tabIndex = 0;
  };
  new MutationObserver(reachAll).observe(page, { childList: true, subtree: true });
  reachAll();
}

/** Scalar can only hide the panel for all operations or for none, and an open panel has a list of all operations. */
function hideTryItPanels() {
  const hidden = operations.filter((operation) => operation['x-hideTryItPanel']);
  const rules = hidden.map(
    ({ path, method }) => `section[id$="/${method}${path}"] .show-api-client-button { display: none; }`,
  );
  if (hidden.length > 0) {
    rules.push('.scalar-client .scalar-sidebar-toggle { display: none; }');
    addEventListener('keydown', withoutListKey, true);
  }
  document.head.append(Object.assign(document.createElement('style'), { textContent: rules.join('\n') }));
}

/** Ctrl+B would open the list of an open panel. */
function withoutListKey(event) {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'b') event.stopImmediatePropagation();
}
