import { Effect, type Scope } from "effect"
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { listening } from "./Listening.ts"

const pages = new URL("../browser/pages/", import.meta.url)

/** Serves the pages of `test/browser/pages` under every host name of this machine; gives the port. */
export const servePages: Effect.Effect<number, never, Scope.Scope> = Effect.suspend(() =>
  listening(createServer(async ({ url = "/" }, response) => {
    const name = /^\/([a-z]+\.html)(\?|$)/.exec(url)?.[1]
    response.setHeader("content-type", "text/html; charset=utf-8")
    response.end(name === undefined ? "" : await readFile(new URL(name, pages)))
  }))
)
