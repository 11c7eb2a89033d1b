/** The forms of what servers answer. What has another form is not used: it would be adopted and saved, or end this process. */

const slotCount = 16_384;
const maxPort = 65_535;
/** Names of hosts have no more, and to look up a far longer one takes seconds. */
const maxHostLength = 255;

/** An answer of a form that the question does not have. */
class WrongAnswer extends Error {
  constructor(expected: string) {
    super(`the answer is not ${expected}`);
  }
}

/** The numbers of an answer, where it has exactly so many, all whole and none negative. */
export function wholeNumbers(answer: unknown, count: number, expected: string): number[] {
  const numbers = (Array.isArray(answer) ? answer : []).map(toNumber);
  if (numbers.length !== count || !numbers.every(isWhole)) throw new WrongAnswer(expected);
  return numbers;
}

/** That of `texts` which an answer is. */
export function oneOf<Text extends string>(texts: readonly Text[], answer: unknown, expected: string): Text {
  const text = texts.find((one) => one === answer);
  if (text === undefined) throw new WrongAnswer(expected);
  return text;
}

/** The host and the port that an answer begins with. */
export function placeIn(answer: unknown): { host: string; port: number } {
  const [host, port] = Array.isArray(answer) ? [answer[0], toNumber(answer[1])] : [];
  if (typeof host !== 'string' || host.length > maxHostLength || !isWhole(port) || port > maxPort)
    throw new WrongAnswer('the place of a server');
  return { host, port };
}

/** The answer to CLUSTER SLOTS: ranges of slots, each with its nodes, some of which may have no host yet. */
export function slotsIn(answer: unknown): unknown[][] {
  const isNode = (node: unknown) => Array.isArray(node) && (node[0] === null || placeIn(node));
  const isRange = (range: unknown): range is unknown[] => {
    if (!Array.isArray(range)) return false;
    const [first, last, ...nodes] = range;
    return [first, last].every((slot) => isWhole(slot) && slot < slotCount) && nodes.every(isNode);
  };
  if (!Array.isArray(answer) || !answer.every(isRange)) throw new WrongAnswer('the slots of a cluster');
  return answer;
}

const toNumber = (value: unknown) =>
  typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
