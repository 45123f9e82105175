# The image of every process of a deployment; which one it is says STOA_ROLE (docs/operations.md).
FROM node:24.21.0-slim

WORKDIR /app

# Neither test tools nor the packages for machines without PostgreSQL and Node: here is Node, and DATABASE_URL names the
# database. Without them `npm install` takes what is left at the versions of the lock file, which `npm ci` would refuse.
COPY package.json package-lock.json .npmrc ./
RUN npm pkg delete devDependencies optionalDependencies && npm install --ignore-scripts && npm cache clean --force

COPY commerce.config.ts ./
COPY src ./src

# Whoever runs it without a word gets no administrator's key that everybody knows (docs/security.md).
ENV NODE_ENV=production
# Outside of the container nobody reaches 127.0.0.1. Publish the port to whom it is meant for.
ENV HOST=0.0.0.0
# Files of media lie below, where no bucket is configured: mount a volume that all processes share.
# What was compiled is kept beside the packages, in a directory of the user that runs it (src/main.ts).
RUN mkdir -p /data node_modules/.cache/stoa && chown node:node /data node_modules/.cache/stoa
ENV STOA_DATA_DIR=/data
# Node reads it before src/main.ts, so that no process loads the compiler of TypeScript (12 MiB).
ENV NODE_COMPILE_CACHE=/app/node_modules/.cache/stoa
USER node
# The first start of a container is as fast as its second.
RUN node src/main.ts --version
EXPOSE 4000 14000

# Whether this process lives, whatever its role and its database: whoever wants to know more asks /api/ready.
HEALTHCHECK --interval=10s --timeout=4s --start-period=60s --retries=3 CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Node itself is process 1, so that a stop reaches the service and it can drain.
CMD ["node", "src/main.ts", "serve"]
