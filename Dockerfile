# One node: the release of this tree. Data of the embedded database is in the volume /var/lib/guildhall.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
# The lockfile pins everything; the release has its own Node.js.
RUN npm ci --no-audit --no-fund \
    && npm run release -- --folder /opt/guildhall

FROM debian:bookworm-slim
ENV NODE_ENV=production \
    GUILDHALL_HTTP__BIND=0.0.0.0:7350 \
    GUILDHALL_HTTP__BEHIND_TLS_PROXY=true \
    GUILDHALL_DATABASE__URL=sqlite:/var/lib/guildhall/guildhall.db \
    XDG_CACHE_HOME=/var/lib/guildhall/.cache
COPY --from=build /opt/guildhall /opt/guildhall
RUN useradd --uid 1000 --no-create-home guildhall \
    && install --directory --owner=guildhall --group=guildhall --mode=0700 /var/lib/guildhall
USER guildhall
# Here the node looks for guildhall.toml and the game's script, and writes its files.
WORKDIR /var/lib/guildhall
VOLUME ["/var/lib/guildhall"]
EXPOSE 7350
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["/opt/guildhall/runtime/node", "-e", "fetch('http://127.0.0.1:7350/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/guildhall/bin/guildhall"]
CMD ["serve", "--log"]
