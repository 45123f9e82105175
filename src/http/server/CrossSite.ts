import type { HttpServerRequest } from "effect/http"
import type { Credential } from "../access/Actors.ts"
import type { OriginTest } from "./Cors.ts"

type Request = HttpServerRequest.HttpServerRequest

const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** A page of the host that it talks to. In production over TLS only: plain HTTP can be forged on its way. */
const isOwn = (origin: string, host: string | undefined, production: boolean): boolean => {
  if (host === undefined || !URL.canParse(origin)) return false
  const { host: from, protocol } = new URL(origin)
  const own = `${protocol}//${host}`
  return (protocol === "https:" || (protocol === "http:" && !production)) && URL.canParse(own) &&
    new URL(own).host === from
}

const originOf = (referer: string): string => URL.canParse(referer) ? new URL(referer).origin : ""

/**
 * Whether a change may be the work of another site's page in its visitor's browser (spec §5, contract, platform §1.4).
 * Such a page cannot make a browser send an API key or a bearer token, so a request that one of them authenticated is
 * safe; the mere presence of the header is not enough. All else must come from a trusted origin or the same one, with
 * any content type: a request with a session's cookie has to show it; else an absent `Origin` means no browser.
 */
export const isCrossSite = (
  request: Request,
  credential: Credential,
  trusted: OriginTest,
  production: boolean
): boolean => {
  if (safeMethods.has(request.method) || (credential !== "none" && credential !== "cookie")) return false
  const { host, origin, referer, "sec-fetch-site": site } = request.headers
  if (site === "same-origin") return false
  const isTrusted = (from: string) => trusted(from) || isOwn(from, host, production)
  if (origin !== undefined) return !isTrusted(origin)
  if (credential === "none") return false
  return referer === undefined || !isTrusted(originOf(referer))
}
