const tokens = /"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+|[^\s"{}[\],:]+/g;
/** The deepest indent. Otherwise a body of brackets would become megabytes of spaces. */
const maxDepth = 12;

/** JSON with a line for each value. Numbers stay as they were written. Returns undefined if it is not JSON. */
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
