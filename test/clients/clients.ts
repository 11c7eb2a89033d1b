/** A client that the guide "Generate a client" tells how to make, and the program that takes the tour with it. */
export interface Client {
  /** Its folder in `tours`. */
  name: string;
  /** The heading of the guide below which its commands stand. */
  heading: string;
  /** The toolchains that it needs beside Node.js and Python. */
  needs: string[];
  /** What checks and compiles it once it is generated, as shell commands in its folder. */
  build: string[];
  /** The command that takes the tour. */
  program: string;
}

const typescript = { needs: [], build: ['tsc'], program: 'node build/tour.js' };
const go = { needs: ['go'], build: ['go vet ./...', 'go build .'], program: './tour' };
const python = {
  needs: [],
  build: ['MYPYPATH=petstore mypy --strict --follow-imports silent tour.py'],
  program: 'PYTHONPATH=petstore python tour.py',
};

/** The slowest first: two run at once, and both are to end together. */
export const clients: Client[] = [
  { name: 'oapi-codegen', heading: 'oapi-codegen for Go', ...go },
  {
    name: 'openapi-generator-rust',
    heading: 'openapi-generator for Rust',
    needs: ['cargo'],
    build: ['cargo build --quiet --locked'],
    program: 'target/debug/tour',
  },
  { name: 'openapi-generator-go', heading: 'openapi-generator for Go', ...go },
  {
    name: 'openapi-generator-java',
    heading: 'openapi-generator for Java',
    needs: ['java', 'mvn'],
    build: ['mvn --quiet --batch-mode --no-transfer-progress compile'],
    program: 'java -cp "tour/target/classes:$(cat tour/target/classpath)" Tour',
  },
  { name: 'openapi-generator-python', heading: 'openapi-generator for Python', ...python },
  { name: 'openapi-generator-typescript', heading: 'openapi-generator for TypeScript', ...typescript },
  { name: 'openapi-python-client', heading: 'openapi-python-client', ...python },
  {
    name: 'orval',
    heading: 'orval',
    ...typescript,
    // It writes the address into the client.
    build: [`sed -i 's|http://[^/]*/v1|\${process.env.PETSTORE_BASE_URL}|' petstore.ts`, ...typescript.build],
  },
  { name: 'hey-api', heading: 'Hey API', ...typescript },
  {
    name: 'openapi-typescript',
    heading: 'openapi-typescript and openapi-fetch',
    ...typescript,
  },
];
