# Stands in for node:24-bookworm-slim, with the Node.js of the service, which needs libatomic, and this machine's registry of packages.
FROM debian:bookworm-slim
RUN apt-get update -q && apt-get install -y -q --no-install-recommends libatomic1
COPY node /usr/local/bin/node
COPY node_modules/npm /usr/local/lib/node_modules/npm
COPY etc /usr/local/etc
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && npm --version
