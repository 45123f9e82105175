import { Effect, type Scope } from "effect"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"

const pages = new URL("../browser/pages/", import.meta.url)

/** Serves the pages of `test/browser/pages` under every host name of this machine; gives the port. */
export const servePages: Effect.Effect<number, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(async ({ url = "/" }, response) => {
        const name = /^\/([a-z]+\.html)(\?|$)/.exec(url)?.[1]
        response.setHeader("content-type", "text/html; charset=utf-8")
        response.end(name === undefined ? "" : await readFile(new URL(name, pages)))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      })
  ),
  (server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }
)
