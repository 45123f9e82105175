import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const links = [
  ["/api/reference", "API explorer", "every route, to read and to try"],
  ["/api/doc", "OpenAPI document", "the same for programs"],
  ["/api/health", "Health", "whether the service can work"]
] as const

const page = (version: string): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Stoa</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:38rem;margin:4rem auto;padding:0 1rem}</style>
<h1>Stoa</h1>
<p>A headless commerce backend, version ${version}. It has an API and no shop window: this is its front page.</p>
<ul>
${links.map(([path, name, what]) => `<li><a href="${path}">${name}</a>: ${what}</li>`).join("\n")}
</ul>
<p>Its documentation is in its repository: <code>README.md</code> to begin with, then <code>docs/</code>.</p>
</html>
`

/** Whether the client is a browser; a program that accepts anything is not. */
const isBrowser = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["accept"]?.includes("text/html") === true

/** What the service is, with links to its explorer and documentation, at its address. */
export const rootPage = (version: string) => {
  const data = {
    name: "Stoa",
    version,
    reference: "/api/reference",
    openapi: "/api/doc",
    health: "/api/health",
    documentation: "README.md and docs/ beside the source"
  }
  // One address with two answers: no cache may keep either for the other.
  const headers = { "cache-control": "no-store" }
  const html = HttpServerResponse.text(page(version), { contentType: "text/html; charset=utf-8", headers })
  const json = HttpServerResponse.jsonUnsafe({ data }, { headers })
  return HttpRouter.add(
    "GET",
    "/",
    Effect.map(HttpServerRequest.HttpServerRequest, (request) => isBrowser(request) ? html : json)
  )
}
