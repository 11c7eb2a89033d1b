const tokens = /"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+|[^\s"{}[\],:]+/g;
/** No deeper than this: a body of brackets alone would become megabytes of spaces. */
const maxDepth = 12;

/** JSON with a line for each value, whose numbers stay as they were written; undefined if it is no JSON. */
export function prettyJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, maxDepth))}`;
  return text.replace(tokens, (token) => {
    if (/^\s/.test(token)) return '';
    if (/^(\{\s*\}|\[\s*\])$/.test(token)) return token.replace(/\s/g, '');
    if (token === ',') return `,${line()}`;
    if (token === ':') return ': ';
    if (token === '{' || token === '[') {
      depth++;
      return token + line();
    }
    if (token !== '}' && token !== ']') return token;
    depth--;
    return line() + token;
  });
}
