import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { type MessageEmulator, messageEmulator } from "../../../../test/support/MessageEmulator.ts"
import { httpAdapter } from "../index.ts"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

const wait = { timeout: 30_000 }
const spare = provider("spare", "push")
let sms: MessageEmulator
let push: MessageEmulator
let shop: NotificationShop
beforeAll(async () => {
  ;[sms, push] = [await messageEmulator(), await messageEmulator()]
  const authorization = Redacted.make("Bearer secret")
  const common = { headers: { authorization }, messageIdAt: "data.id", retries: 1 }
  shop = await openShop({
    adapters: [
      httpAdapter({
        ...common,
        providerId: "texts",
        channel: "sms",
        url: sms.url,
        body: { to: ["{{to}}"], text: "{{body}}", options: { unicode: true, reference: "{{idempotencyKey}}" } }
      }),
      httpAdapter({
        ...common,
        providerId: "pushes",
        channel: "push",
        url: push.url,
        body: { token: "{{to}}", title: "{{subject}}", body: "{{body}}" },
        timeoutMs: 300
      }),
      spare.adapter
    ]
  })
})
afterAll(async () => {
  await shop.close()
  await Promise.all([sms.close(), push.close()])
})

const keys = (of: MessageEmulator) => of.requests.map(({ headers }) => headers["idempotency-key"])
const tries = (of: MessageEmulator, id: string) => keys(of).filter((key) => key === id).length
const row = async (id: string) => Object((await shop.message(id)).at("data"))

const send = async (channel: "sms" | "push", recipient: string, data: object = {}) => {
  const event = shop.event()
  await shop.template(event, { channel, subject: "Hi", bodyTemplate: "Say {{what}}" })
  return shop.send(event, { channel, recipient, data })
}

describe("a message over HTTP", () => {
  it("is one POST of JSON with the texts, the secret and the key, and gets the provider's id", async () => {
    const id = await send("sms", "+15550100", { what: `"quoted" & \n{{to}}` })
    await shop.settled(id, "sent")
    const got = sms.requests.find(({ headers }) => headers["idempotency-key"] === id)
    assert.deepInclude(got, { method: "POST", path: "/v1/messages" })
    assert.deepInclude(got?.headers, { authorization: "Bearer secret", "content-type": "application/json" })
    const body = { to: ["+15550100"], text: `Say "quoted" & \n{{to}}`, options: { unicode: true, reference: id } }
    assert.deepStrictEqual(got?.body, body)
    assert.deepInclude(await row(id), { providerId: "texts", adapterMessageId: `m-${id}` })
  })

  it("is tried again after 5xx, at once and later, with one key and one message", async () => {
    sms.answer(500, 502)
    const id = await send("sms", "+15550101")
    await expect.poll(async () => (await row(id)).error, wait).toBe("texts: texts answered 502.")
    assert.deepStrictEqual([(await row(id)).status, tries(sms, id)], ["queued", 2])
    sms.lose()
    await shop.retry(id)
    await shop.settled(id, "sent")
    assert.deepStrictEqual([tries(sms, id), sms.taken.has(id)], [4, true])
  })

  it("is failed by 4xx without another try, and keeps no secret in its error", async () => {
    sms.answer(422)
    const id = await send("sms", "+15550102")
    await shop.settled(id, "failed")
    assert.deepStrictEqual([(await row(id)).error, tries(sms, id)], ["texts: texts answered 422.", 1])
  })

  it("goes to the next adapter when nothing was sent, and not when that is unknown", async () => {
    push.answer(429, 429)
    const over = await send("push", "token-1")
    await shop.settled(over, "sent")
    assert.strictEqual((await row(over)).providerId, "spare")
    push.answer(401)
    const credentials = await send("push", "token-2")
    await shop.settled(credentials, "sent")
    assert.isTrue(spare.sent.has(credentials))
    push.hang()
    push.hang()
    const late = await send("push", "token-3")
    await expect.poll(async () => (await row(late)).error, wait).toBe("pushes: No answer within 300 ms.")
    assert.deepInclude(await row(late), { status: "queued", providerId: "pushes" })
    assert.isFalse(spare.sent.has(late))
    await shop.retry(late)
    await shop.settled(late, "sent")
    assert.strictEqual((await row(late)).adapterMessageId, `m-${late}`)
  })

  it("needs an address that can be called", () => {
    const options = { providerId: "x", channel: "sms", body: {} } as const
    assert.throws(() => httpAdapter({ ...options, url: "ftp://x" }), /must be an address with http or https/)
  })
})
