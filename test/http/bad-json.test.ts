import { pet, type Refusal, raw, repeat, testRefusals } from '../support/refusals.ts';

/** A pet with more members in its text. */
const zedWith = (members: string) => raw(`{"name":"Zed","categoryId":1,${members}}`);
const asType = (type: string) => ({ ...pet({}), headers: { 'content-type': type } });
const nested = (depth: number) => repeat('[', depth) + repeat(']', depth);

testRefusals([
  // Not JSON, or not the JSON of an object.
  ['POST', '/pets', raw(''), 'invalid_json', /no body/],
  ['POST', '/pets', {}, 'invalid_json', /no body/],
  ['POST', '/pets', raw('{"name":"Zed",}'), 'invalid_json'],
  ['POST', '/pets', raw("{'name':'Zed'}"), 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Zed"'), 'invalid_json'],
  ['POST', '/pets', raw('{"name":NaN,"categoryId":1}'), 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Z\ned","categoryId":1}'), 'invalid_json'],
  ['POST', '/pets', raw('{"name":"Zed","categoryId":1}{}'), 'invalid_json'],
  ['POST', '/pets', raw('\u0000'), 'invalid_json'],
  ['POST', '/pets', zedWith('"name":"Zoe"'), 'invalid_json', /"name" occurs twice/],
  ['POST', '/pets', zedWith('"x":[{"y":1,"y":1}]'), 'invalid_json', /"y" occurs twice/],
  ['POST', '/pets', zedWith('"\\u006eame":"Zoe"'), 'invalid_json', /"name" occurs twice/],
  ['POST', '/pets', raw(Buffer.from('{"\xff":1}', 'latin1')), 'invalid_json', /UTF-8/],
  ['POST', '/pets', raw(Buffer.from('{"name":"Zed","categoryId":1}', 'utf16le')), 'invalid_json'],
  ['POST', '/pets', raw(repeat('[', 30_000)), 'invalid_json'],
  ['POST', '/pets', raw(nested(500)), /must be a JSON object/],
  ['POST', '/pets', pet({ name: JSON.parse(nested(499)) }), /name/],
  ...[500, 5_000, 30_000].map(
    (depth): Refusal => [
      'POST',
      '/pets',
      raw(`{"name":"1E","x":${nested(depth)}}`),
      'invalid_json',
      /deeper than 500 levels/,
    ],
  ),
  ...['[]', '[{"name":"Zed","categoryId":1}]', 'null', '"Zed"', '1', 'true'].map(
    (body): Refusal => ['POST', '/pets', raw(body), /must be a JSON object/],
  ),
  ['PATCH', '/pets/1', raw('[]'), /must be a JSON object/],
  // Media types.
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'application/json;charset = latin1',
    'json',
    '*/*',
  ].map((type): Refusal => ['POST', '/pets', asType(type), 'unsupported_media_type', /Content-Type must be/]),
  ['PATCH', '/pets/1', asType('application/json-patch+json'), 'unsupported_media_type', /merge-patch/],
  ['POST', '/pets', raw('{}', { 'content-encoding': 'gzip' }), 'unsupported_media_type', /Content-Encoding/],
  ['POST', '/pets', pet({ extra: repeat('x', 65_536) }), 'payload_too_large', /65536/],
]);
