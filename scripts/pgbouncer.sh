#!/usr/bin/env bash
# Builds PgBouncer for the tests where the system has none that is new enough: from the source of the next Debian, by the
# mirror that this machine uses, into node_modules/.cache. Nothing of the system changes but the packages needed to build.
set -euo pipefail
cd "$(dirname "$0")/.."
release=trixie
target=node_modules/.cache/pgbouncer
[ -x "$target/pgbouncer" ] && exit

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
command -v make >/dev/null || packages+=(make)
command -v pkg-config >/dev/null || packages+=(pkg-config)
command -v xz >/dev/null || packages+=(xz-utils)
[ -e /usr/include/event2/event.h ] || packages+=(libevent-dev)
if ((${#packages[@]})); then
  apt-get update -q && apt-get install -y -q --no-install-recommends "${packages[@]}"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' | head -n 1)
echo "deb-src $mirror $release main" >"$folder/sources.list"
own=(-q -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
apt-get "${own[@]}" update
(cd "$folder" && apt-get "${own[@]}" source --download-only pgbouncer && mkdir source &&
  tar -xf pgbouncer_*.orig.tar.* -C source --strip-components 1)
(cd "$folder/source" && ./configure --quiet --without-cares --without-openssl && make -s -j"$(nproc)" pgbouncer)
install -D "$folder/source/pgbouncer" "$target/pgbouncer"
"$target/pgbouncer" --version
