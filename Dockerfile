# The runtime, Node.js 26, comes with the npm packages, as everywhere else. The npm of the first stage only installs them.
FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY absent absent
# A run needs no headers and manual of Node.js, which are a quarter of it.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/node-linux-*/include node_modules/node-linux-*/share node_modules/node-linux-*/*.md

FROM debian:bookworm-slim
# Node.js needs libatomic, which the slim image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 petstore && install -d -o petstore -m 700 /data
WORKDIR /app
COPY --from=packages /app ./
COPY bin bin
COPY src src
COPY CHANGELOG.md ./
ENV HOST=0.0.0.0 PORT=8080 PETSTORE_DATA_DIR=/data
EXPOSE 8080
VOLUME /data
# A number, so that it can be seen from outside that it is not root.
USER 10001
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s CMD ["/app/node_modules/.bin/node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/node_modules/.bin/node", "/app/bin/petstore.js"]
CMD ["serve"]
