/** A client that the guide "Generate a client" tells how to make, and the program that takes the tour with it. */
export interface Client {
  /** Its folder in `tours`. */
  name: string;
  /** The heading of the guide below which its commands stand. */
  heading: string;
  /** The toolchains that it needs beside Node.js and Python. */
  needs: string[];
  /** What checks it once it is generated, as shell commands in its folder. The last one takes the tour. */
  steps: string[];
}

const typescript = { needs: [], steps: ['tsc', 'node build/tour.js'] };
const go = { needs: ['go'], steps: ['go vet ./...', 'go run .'] };

/** The slowest first: two run at once, and both are to end together. */
export const clients: Client[] = [
  { name: 'oapi-codegen', heading: 'oapi-codegen for Go', ...go },
  {
    name: 'openapi-generator-rust',
    heading: 'openapi-generator for Rust',
    needs: ['cargo'],
    steps: ['cargo run --quiet --locked'],
  },
  { name: 'openapi-generator-go', heading: 'openapi-generator for Go', ...go },
  {
    name: 'openapi-generator-java',
    heading: 'openapi-generator for Java',
    needs: ['java', 'mvn'],
    steps: [
      'mvn --quiet --batch-mode --no-transfer-progress compile',
      'java -cp "tour/target/classes:$(cat tour/target/classpath)" Tour',
    ],
  },
  {
    name: 'openapi-generator-python',
    heading: 'openapi-generator for Python',
    needs: [],
    steps: [
      'MYPYPATH=petstore mypy --strict --follow-imports silent tour.py',
      'PYTHONPATH=petstore python tour.py',
    ],
  },
  { name: 'openapi-generator-typescript', heading: 'openapi-generator for TypeScript', ...typescript },
  {
    name: 'openapi-python-client',
    heading: 'openapi-python-client',
    needs: [],
    steps: [
      'MYPYPATH=petstore mypy --strict --follow-imports silent tour.py',
      'PYTHONPATH=petstore python tour.py',
    ],
  },
  { name: 'orval', heading: 'orval', ...typescript },
  { name: 'hey-api', heading: 'Hey API', ...typescript },
  {
    name: 'openapi-typescript',
    heading: 'openapi-typescript and openapi-fetch',
    ...typescript,
  },
];
