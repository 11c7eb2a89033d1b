export default {
  input: 'openapi.json',
  output: { path: 'petstore', module: { extension: '.ts' } },
  plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
};
