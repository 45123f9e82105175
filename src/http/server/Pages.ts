import { HttpServerResponse } from "effect/http"

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")

/** No scripts, no resources, and forms to this service only. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const style = "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem}" +
  "input,button{font:inherit;width:100%;box-sizing:border-box;padding:.6rem;margin:.4rem 0 1rem}[role=alert]{color:#a00}"

/** A page behind a link of a mail; no cache keeps it. `content` is markup. */
export const page = (status: number, title: string, content: string) =>
  HttpServerResponse.text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
      `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(title)}</title>` +
      `<style>${style}</style></head><body><main><h1>${escaped(title)}</h1>${content}</main></body></html>`,
    { status, contentType: "text/html; charset=utf-8" }
  ).pipe(HttpServerResponse.setHeaders({ "content-security-policy": policy, "cache-control": "no-store" }))
