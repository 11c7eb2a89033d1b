import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileAt, textOf } from '../support/tree.ts';
import { folder, podman, run } from './engine.ts';

/** The base images of the Dockerfile's stages. */
const [node, debian] = [...textOf('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(
  ([, name]) => `docker.io/library/${name}`,
) as [string, string];

/** Files that debian:bookworm-slim also leaves out. */
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

/** Creates images from Debian's and npm packages, with the names of the Dockerfile's two base images. */
export function makeBases(): void {
  const archive = join(folder, 'debian.tar');
  run('mmdebstrap', ['--mode=root', '--variant=minbase', '--quiet', ...slim, 'bookworm', archive]);
  podman(['import', '--quiet', archive, debian]);

  podman([...build, '--tag', node, '--file', fileAt('test/image/node.Dockerfile'), filesOfNode()]);
}

/** A folder with the Node.js of the service, npm, and the settings for the registry of this machine. */
function filesOfNode(): string {
  const files = join(folder, 'node');
  mkdirSync(files);
  copyFileSync(fileAt(`node_modules/node-linux-${process.arch}/bin/node`), join(files, 'node'));
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(fileAt(`test/image/${file}`), join(files, file));
  run('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit', '--prefix', files]);

  const settingsFolder = join(files, 'etc');
  mkdirSync(settingsFolder);
  const [registry, authorities = 'null'] = ['registry', 'cafile'].map((name) =>
    run('npm', ['config', 'get', name]),
  );
  const settings = [`registry=${registry}`];
  if (authorities !== 'null') {
    copyFileSync(authorities, join(settingsFolder, 'npm.pem'));
    settings.push('cafile=/usr/local/etc/npm.pem');
  }
  writeFileSync(join(settingsFolder, 'npmrc'), `${settings.join('\n')}\n`);
  return files;
}

/** Builds the unchanged Dockerfile. */
export const buildImage = (tag: string) => podman([...build, '--tag', tag, '.'], { isShown: true });
