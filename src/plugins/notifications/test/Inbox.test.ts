import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { type TestActor, testAdminActor, testCustomerActor, withPermissions } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { type NotificationShop, openShop } from "./NotificationShop.ts"

/** A customer with a profile; the id of that. */
const someone = async (shop: NotificationShop) => {
  const own = ["customers:read:self", "notifications:write"]
  const as = { ...withPermissions(own, testCustomerActor), userId: randomUUID(), email: `${randomUUID()}@example.com` }
  return { as, id: (await shop.done("GET", "/me/profile", undefined, as)).text("data.id") }
}

describe("who watches their inbox", () => {
  let shop: NotificationShop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const open = (as: TestActor, signal?: AbortSignal) =>
    fetch(`${shop.app.app.url}/api/me/notifications/stream`, {
      headers: { "x-test-actor": JSON.stringify(as) },
      ...(signal && { signal })
    })
  /** Reads a stream until it is ended; the numbers of unread messages in it, in their order. */
  const watch = async (as: TestActor) => {
    const end = new AbortController()
    const response = await open(as, end.signal)
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    let text = ""
    const read = async () => {
      for await (const chunk of response.body ?? []) text += new TextDecoder().decode(chunk)
    }
    const done = read().catch(() => undefined)
    const unread = () => [...text.matchAll(/^event: inbox\ndata: \{"unread":(\d+)/gm)].map(([, n]) => Number(n))
    return { unread, end: () => (end.abort(), done) }
  }
  const write = (customerId: string) => shop.send("news", { channel: "in_app", recipient: "Ann", customerId })

  it("hears at once what is unread, and again when that changes, and nothing of others", async () => {
    await shop.template("news", { channel: "in_app", bodyTemplate: "Hi" })
    const [ann, bob] = [await someone(shop), await someone(shop)]
    await write(ann.id)
    await waitFor(
      "the message",
      async () => (await shop.done("GET", "/me/notifications/unread", undefined, ann.as)).at("data.unread") === 1
    )
    const [anns, bobs] = [await watch(ann.as), await watch(bob.as)]
    await waitFor("the first", () => anns.unread().length === 1 && bobs.unread().length === 1)
    await write(ann.id)
    await waitFor("the second", () => anns.unread().at(-1) === 2)
    await shop.done("POST", "/me/notifications/read", {}, ann.as)
    await waitFor("the reading", () => anns.unread().at(-1) === 0)
    assert.deepStrictEqual([anns.unread(), bobs.unread()], [[1, 2, 0], [0]])
    await Promise.all([anns.end(), bobs.end()])
  })

  it("has ten streams at most, and needs a profile", async () => {
    const { as } = await someone(shop)
    const end = new AbortController()
    const atOnce = await Promise.all(Array.from({ length: 12 }, () => open(as, end.signal)))
    assert.deepStrictEqual(atOnce.map(({ status }) => status).sort(), [...Array<number>(10).fill(200), 503, 503])
    end.abort()
    await waitFor("a place", async () => {
      const controller = new AbortController()
      const { status } = await open(as, controller.signal)
      controller.abort()
      return status === 200
    })
    const key = { ...testAdminActor, type: "api_key", userId: null, keyId: "key" } as const
    assert.strictEqual((await open(key)).status, 401)
  })
})
