import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPetstore } from '../support/petstore.ts';

test('the page loads only its own files, runs no inline script, creates no markup and names no key or code', async (t) => {
  const store = await startPetstore(t, { seed: false });
  const get = (url: string) => store.app.inject({ url });
  const { headers, body } = await get('/join');
  assert.deepEqual((headers['content-security-policy'] as string).split('; '), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.doesNotMatch(body, /\sstyle=|<style|<script(?![^>]*\ssrc=)|\son[a-z]+=|pet_|inv_[0-9A-Za-z]/);
  for (const [, path = ''] of body.matchAll(/(?:src|href)="([^"#]+)"/g)) {
    assert.doesNotMatch(path, /^(\/|[a-z]+:)/, 'a page behind a prefix has relative links');
    assert.equal((await get(`/${path}`)).statusCode, 200, path);
  }
  assert.equal((await get('/join/')).headers.location, '../join');
});
