import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { ShopFronts, shopFronts, somebody } from "../support/ShopFronts.ts"
import { open, run } from "../support/VisitedPage.ts"

const noteViolations = `window.violations = []
addEventListener("securitypolicyviolation", (event) =>
  violations.push([event.violatedDirective, event.blockedURI, event.sample].join(" ")))`

/** Functions for pages that bring none along. */
const frameIn = `((address) => new Promise((resolve) => {
  const frame = document.createElement("iframe")
  frame.onload = () => resolve("load")
  frame.src = address
  document.body.append(frame)
}))`

const fetchFrom = `((address) => fetch(address, { mode: "no-cors" }).then(({ status }) => status, ({ name }) => name))`

const leaveFor = (origin: string) => `{ location.href = "${origin}/shop.html" }`

layer(shopFronts, { excludeTestServices: true, timeout: "60 seconds" })("the API explorer", (it) => {
  it.effect("opens, requests nothing from other hosts and breaks none of its rules", () =>
    Effect.gen(function*() {
      const { api } = yield* ShopFronts
      const visitor = yield* somebody
      const page = yield* Effect.promise(() => visitor.newPage())
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      yield* Effect.promise(() => page.addInitScript(noteViolations))
      yield* Effect.promise(() => page.goto(`${api}/api/reference`))
      yield* Effect.promise(() => page.getByText("/api/checkout").first().waitFor({ state: "attached" }))
      assert.deepStrictEqual(asked.filter((url) => !/^(data|blob):/.test(url) && !url.startsWith(`${api}/`)), [])
      // Its library tries whether it may compile code, and does without where it may not.
      assert.deepStrictEqual(yield* Effect.promise(() => page.evaluate("violations")), ["script-src eval "])
    }))

  for (const  of of["shop", "sibling", "outsider", "api"] as const) {
    it.effect(`is shown in no frame of ${of === "api" ? "the same origin" : `the ${of}'s page`}`, () =>
      Effect.gen(function*() {
        const fronts = yield* ShopFronts
        const { api } = fronts
        const page = yield* open(yield* somebody, of === "api" ? `${api}/api/health` : `${fronts[of]}/attack.html`)
        yield* run(page, frameIn, `${api}/api/reference`)
        // What the browser shows in place of a page that does not want to be framed.
        yield* eventually(
          "the frame to be refused",
          Effect.sync(() => page.frames().at(1)?.url() === "chrome-error://chromewebdata/")
        )
      }))
  }

  it.effect("may use no camera, talks to its host alone and sends others at most its origin", () =>
    Effect.gen(function*() {
      const { api, shop } = yield* ShopFronts
      const page = yield* open(yield* somebody, `${api}/api/reference?of=me`)
      const camera = yield* run(page, "((name) => document.featurePolicy.allowsFeature(name))", "camera")
      assert.strictEqual(camera, false)
      assert.strictEqual(yield* run(page, fetchFrom, `${api}/api/health`), 200)
      assert.strictEqual(yield* run(page, fetchFrom, `${shop}/shop.html`), "TypeError")
      yield* Effect.promise(() => Promise.all([page.waitForURL(`${shop}/shop.html`), page.evaluate(leaveFor(shop))]))
      assert.strictEqual(yield* Effect.promise(() => page.evaluate<string>("document.referrer")), `${api}/`)
    }))
})
