import { Effect } from "effect"
import type { Page } from "playwright-core"
import { eventually } from "./Eventually.ts"

/** One request as the browser reports it, including what the page was not allowed to see. */
export interface Exchange {
  readonly method: string
  readonly url: string
  /** Names of cookies that went along. */
  cookies: ReadonlyArray<string>
  /** Why the browser kept a cookie to itself, on the way there or back, for example "SameSiteLax". */
  withheld: ReadonlyArray<string>
  /** What the service answered. */
  status?: number
  /** Why the page was not given the answer, for example "PreflightMissingAllowOriginHeader". */
  refused?: string
  over: boolean
}

/** What the browser did for a page. */
export interface Recorder {
  /** All requests to an address with a method, once each of them is over; waits for the first. */
  readonly exchanges: (method: string, url: string) => Effect.Effect<ReadonlyArray<Exchange>>
  /** What was never asked leaves nothing to wait for. */
  readonly all: () => ReadonlyArray<Exchange>
}

/** Looks over the browser's shoulder while it works for a page, from now on. */
export const recorder = (page: Page): Effect.Effect<Recorder> =>
  Effect.promise(async () => {
    const session = await page.context().newCDPSession(page)
    const seen = new Map<string, Exchange>()
    /** Some events come before the request they belong to. */
    const later = new Map<string, Array<(exchange: Exchange) => void>>()
    const on = (id: string, change: (exchange: Exchange) => void) => {
      const exchange = seen.get(id)
      if (exchange === undefined) later.set(id, [...later.get(id) ?? [], change])
      else change(exchange)
    }
    session.on("Network.requestWillBeSent", ({ request, requestId }) => {
      const { method, url } = request
      seen.set(requestId, { method, url, cookies: [], withheld: [], over: false })
      for (const change of later.get(requestId) ?? []) on(requestId, change)
    })
    session.on("Network.requestWillBeSentExtraInfo", ({ associatedCookies, requestId }) =>
      on(requestId, (exchange) => {
        const sent = associatedCookies.filter(({ blockedReasons }) => blockedReasons.length === 0)
        exchange.cookies = sent.map(({ cookie }) => cookie.name)
        exchange.withheld = [...exchange.withheld, ...associatedCookies.flatMap(({ blockedReasons }) => blockedReasons)]
      }))
    session.on("Network.responseReceivedExtraInfo", ({ blockedCookies, requestId, statusCode }) =>
      on(requestId, (exchange) => {
        exchange.status = statusCode
        exchange.withheld = [
          ...exchange.withheld,
          ...blockedCookies.flatMap(({ blockedReasons }) =>
            blockedReasons
          )
        ]
      }))
    session.on("Network.loadingFinished", ({ requestId }) =>
      on(requestId, (exchange) => {
        exchange.over = true
      }))
    session.on("Network.loadingFailed", ({ blockedReason, corsErrorStatus, errorText, requestId }) =>
      on(requestId, (exchange) => {
        exchange.refused = corsErrorStatus?.corsError ?? blockedReason ?? errorText
        exchange.over = true
      }))
    await session.send("Network.enable")
    const all = () => [...seen.values()]
    return {
      all,
      exchanges: (method, url) =>
        eventually(
          `${method} ${url} to be over`,
          Effect.sync(() => {
            const found = all().filter((exchange) =>
              exchange.method === method && exchange.url === url
            )
            return found.length > 0 && found.every(({ over }) =>
                over
              )
              ? found
              : undefined
          })
        )
    }
  })
