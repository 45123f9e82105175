import { Context, Effect, Layer, type Scope } from "effect"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Browser, BrowserContext } from "playwright-core"
import { startChromium } from "./Chromium.ts"
import { eventually } from "./Eventually.ts"
import { freePort } from "./FreePort.ts"
import { servePages } from "./PageServer.ts"
import { freshDatabase } from "./Postgres.ts"
import { startService } from "./Service.ts"
import { callOf, insisting } from "./ServiceCalls.ts"
import { TestApp } from "./TestApp.ts"

/**
 * A deployment with pages around it, all of them on this machine. Browsers take the last two labels of a host for its
 * site, so the first three are one site, and cookies go along between them.
 */
export class ShopFronts extends Context.Service<ShopFronts, {
  /** Where the service is reached. */
  readonly api: string
  /** The origin of the shop front: trusted, and of the service's site. */
  readonly shop: string
  /** Trusted, and of another site. */
  readonly partner: string
  /** Not trusted, and of the service's site: its visitors' cookies go along. */
  readonly sibling: string
  /** Not trusted, and of another site. */
  readonly outsider: string
  readonly browser: Browser
  /** The link of the mail that asks for the confirmation of an address, once it has arrived. */
  readonly linkTo: (email: string) => Effect.Effect<string>
}>()("stoa/test/support/ShopFronts") {}

const program = fileURLToPath(new URL("serveTrusting.ts", import.meta.url))

const dataDir: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "stoa-browser-"))),
  (dir) => Effect.promise(() => rm(dir, { recursive: true, force: true }))
)

/** The link in the mails of development, which are files that people can read. */
const linkIn = async (folder: string, email: string) => {
  for (const name of await readdir(folder)) {
    const mail = await readFile(join(folder, name), "utf8")
    const link = /https?:\/\/\S+\/verify-email\?\S+/.exec(mail)?.[0]
    if (mail.includes(`\nTo: ${email}\n`) && link !== undefined) return link
  }
  return undefined
}

/** Requests to a service in development; every actor in `as` is replaced by the holder of the development key. */
const withDevelopmentKey = (url: string, databaseUrl: string): TestApp["Service"] => {
  const call = callOf(url)
  const api: TestApp["Service"]["api"] = (method, path, { as, ...options } = {}) =>
    call(method, path, {
      ...options,
      headers: { ...(as === undefined ? {} : { "x-api-key": "dev-admin-key" }), ...options.headers }
    })
  return { url, databaseUrl, organizationId: "org_default", api, prepare: insisting(api) }
}

/** The service as a separate process, as in development; pages of four origins; and a browser for their visitors. */
export const shopFronts = Layer.effectContext(Effect.gen(function*() {
  const { url: databaseUrl } = yield* freshDatabase
  const dir = yield* dataDir
  const pages = yield* servePages
  const ports = { http: yield* Effect.promise(freePort), runner: yield* Effect.promise(freePort) }
  const api = `http://api.stoa.localhost:${ports.http}`
  const origin = (host: string) => `http://${host}.localhost:${pages}`
  const [shop, partner] = [origin("shop.stoa"), origin("partner")]
  const service = yield* startService({
    databaseUrl,
    ports,
    program,
    environment: {
      NODE_ENV: "development",
      STOA_DATA_DIR: dir,
      STOA_PUBLIC_URL: api,
      STOA_TEST_TRUSTED: `${shop} ${partner}`
    }
  })
  const browser = yield* startChromium
  const linkTo = (email: string) => eventually("the mail", Effect.promise(() => linkIn(join(dir, "mail"), email)))
  return Context.make(TestApp, withDevelopmentKey(service.url, databaseUrl)).pipe(
    Context.add(ShopFronts, {
      api,
      shop,
      partner,
      sibling: origin("blog.stoa"),
      outsider: origin("outsider"),
      browser,
      linkTo
    })
  )
}))

/** A visitor at the browser with separate cookies. */
export const somebody: Effect.Effect<BrowserContext, never, ShopFronts | Scope.Scope> = Effect.flatMap(
  ShopFronts,
  ({ browser }) =>
    Effect.acquireRelease(
      Effect.promise(() => browser.newContext()),
      (context) => Effect.promise(() => context.close())
    )
)
