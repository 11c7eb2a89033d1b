# Stands in for node:24-bookworm-slim, with this machine's registry of npm packages in /run/npm. This Node.js needs libatomic, as that of the service does.
FROM debian:bookworm-slim
RUN apt-get update -q && apt-get install -y -q --no-install-recommends libatomic1
COPY node-linux-*/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN cp /run/npm/* /usr/local/etc/ && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && npm --version
