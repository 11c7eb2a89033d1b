import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, podman, root, run } from './engine.ts';

const bases = {
  debian: 'docker.io/library/debian:bookworm-slim',
  node: 'docker.io/library/node:24-bookworm-slim',
};

/** What debian:bookworm-slim leaves out, too. */
const slim = [
  '--dpkgopt=path-exclude=/usr/share/doc/*',
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  '--dpkgopt=path-exclude=/usr/share/man/*',
  '--dpkgopt=path-exclude=/usr/share/locale/*',
  '--aptopt=Dir::Cache::pkgcache ""',
  '--aptopt=Dir::Cache::srcpkgcache ""',
];

/** The steps run in a chroot with the network of this machine. Nothing is fetched from a registry of images. */
const build = ['build', '--isolation', 'chroot', '--format', 'docker', '--pull=never', '--layers=false'];

/** Makes images from Debian's packages and those of npm, and gives them the names of the two that the Dockerfile starts from. */
export function makeBases(): void {
  const archive = join(folder, 'debian.tar');
  run('mmdebstrap', ['--mode=root', '--variant=minbase', '--quiet', ...slim, 'bookworm', archive]);
  podman(['import', '--quiet', archive, bases.debian]);

  const packages = join(root, 'test/image');
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--prefix', packages]);
  const settings = ['--volume', `${settingsOfNpm()}:/run/npm:ro`];
  const steps = ['--file', join(packages, 'node.Dockerfile'), join(packages, 'node_modules')];
  podman([...build, ...settings, '--tag', bases.node, ...steps]);
}

/** A folder with what npm needs to reach the registry of this machine. */
function settingsOfNpm(): string {
  const settings = join(folder, 'npm');
  mkdirSync(settings);
  const [registry, authorities = 'null'] = ['registry', 'cafile'].map((name) =>
    run('npm', ['config', 'get', name]),
  );
  const lines = [`registry=${registry}`];
  if (authorities !== 'null') {
    copyFileSync(authorities, join(settings, 'authorities.pem'));
    lines.push('cafile=/usr/local/etc/authorities.pem');
  }
  writeFileSync(join(settings, 'npmrc'), `${lines.join('\n')}\n`);
  return settings;
}

/** Builds the Dockerfile as it is. */
export const buildImage = (tag: string) => podman([...build, '--tag', tag, '.'], { isShown: true });
