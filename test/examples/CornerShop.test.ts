import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { outbound, PluginContext } from "stoa/plugin"
import { createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { channelConnector } from "stoa/plugins/channel-connector"
import { adapterContract } from "stoa/plugins/channel-connector/testing"
import { inject } from "vitest"
import { cornerShop } from "../../examples/deployment/CornerShop.ts"

const products = ["p1", "p2", "p3"].map((id) => ({
  id,
  slug: `thing-${id}`,
  title: `Thing ${id}`,
  cents: 500,
  units: 4
}))

/** Keys of writes that were made. */
const made = new Set<string>()

/** A corner shop that accepts one key. */
const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    const answer = (status: number, body: unknown = {}) => response.writeHead(status).end(JSON.stringify(body))
    if (request.headers.authorization !== "Bearer right-key") return answer(401)
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://shop")
    const [, , id, part] = pathname.split("/")
    if (id === undefined) {
      const from = products.findIndex((one) => one.id === searchParams.get("after")) + 1
      const page = products.slice(from, from + Number(searchParams.get("limit")))
      const last = page.at(-1)?.id ?? null
      return answer(200, { products: page, next: last === products.at(-1)?.id ? null : last })
    }
    const found = products.find((one) => one.id === id)
    if (found === undefined) return answer(404)
    if (part === undefined) return answer(200, found)
    const key = String(request.headers["idempotency-key"])
    if (made.has(key)) return answer(200, found)
    if (request.headers["if-match"] !== `"${found.units}"`) return answer(412)
    Object.assign(found, JSON.parse(Buffer.concat(chunks).toString()))
    made.add(key)
    return answer(200, found)
  })
})

describe("the example of an adapter", () => {
  let test: PluginTestApp
  let domain = ""
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    domain = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    test = await createPluginTestApp(channelConnector({ adapters: [cornerShop], origins: [domain] }), {
      postgres: inject("postgres")
    })
  })
  afterAll(async () => {
    await test.close()
    server.close()
  })

  it("keeps the contract of adapters", async () => {
    const http = await Effect.runPromise(
      Effect.provideService(outbound({ name: "The store", origins: [domain] }), PluginContext, test.context)
    )
    const checks = adapterContract({
      adapter: cornerShop,
      domain,
      http,
      credentials: { apiKey: "right-key" },
      refusedCredentials: { apiKey: "wrong-key" },
      secrets: ["right-key", "wrong-key"],
      webhookSecret: "webhook-secret",
      webhook: () => assert.fail("it has no webhooks"),
      slice: () => assert.fail("it takes no orders")
    })
    for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
