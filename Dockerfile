# Node.js 26, which runs the service, is one of the npm packages. The first stage only provides npm 11, which installs them: npm 10
# (Node.js 20 and 22) does not create the link node_modules/.bin/node.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Remove the headers and the manual of Node.js, a third of its size, and files of packages that only developers need.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf package-lock.json node_modules/node-linux-*/include node_modules/node-linux-*/share node_modules/node-linux-*/*.md \
  && find node_modules -type d -regex '.*/\(tests?\|benchmarks?\|docs\|examples\|\.github\)' -prune -exec rm -r {} + \
  && find node_modules -type f -regex '.*\.\(map\|[cm]?ts\)' -delete

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title=Petstore org.opencontainers.image.licenses=MIT
# Node.js needs libatomic, which the slim image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin petstore && install -d -o petstore -m 700 /data
WORKDIR /app
COPY --from=packages /app ./
COPY bin bin
COPY src src
COPY CHANGELOG.md LICENSE ./
ENV HOST=0.0.0.0 PORT=8080 PETSTORE_DATA_DIR=/data
EXPOSE 8080
VOLUME /data
# A number, so that tools can check that it is not root.
USER 10001
# Fail the build if the program does not start.
RUN ["/app/node_modules/.bin/node", "/app/bin/petstore.js", "--version"]
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s CMD ["/app/node_modules/.bin/node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The same option as in "npm start". The default, four times as much, makes the service no faster.
ENTRYPOINT ["/app/node_modules/.bin/node", "--max-semi-space-size=8", "/app/bin/petstore.js"]
CMD ["serve"]
