import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { isSignedWith, standardSignature, startReceiver } from "../support/ScriptedReceiver.ts"

/** The published example of Standard Webhooks. */
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const raw = "{\"test\": 2432232314}"
const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330" }

describe("the receiver of deliveries", () => {
  it.live("keeps what came, byte by byte, and answers as it was told", () =>
    Effect.gen(function*() {
      const receiver = yield* startReceiver
      receiver.reply("/a", { status: 500 }, { status: 410, body: "gone" })
      const send = (path: string) =>
        Effect.promise(() => fetch(receiver.url + path, { method: "POST", headers, body: raw }))
      const answers = [yield* send("/a"), yield* send("/a"), yield* send("/a"), yield* send("/b")]
      assert.deepStrictEqual(answers.map(({ status }) => status), [500, 410, 410, 204])
      assert.strictEqual(yield* Effect.promise(() => answers[1]?.text() ?? Promise.resolve("")), "gone")
      assert.deepStrictEqual(receiver.received("/a").map((one) => one.raw), [raw, raw, raw])
      const [only] = receiver.received("/b")
      assert.deepInclude(only?.headers, headers)
      assert.deepStrictEqual([only?.method, only?.at("test")], ["POST", 2432232314])
    }))

  it.live("knows a good signature among several, and a bad one", () =>
    Effect.gen(function*() {
      const receiver = yield* startReceiver
      const signed = { ...headers, "webhook-signature": `v1,AAAA ${signature}` }
      yield* Effect.promise(() => fetch(receiver.url, { method: "POST", headers: signed, body: raw }))
      const [one] = receiver.received()
      if (one === undefined) return assert.fail("nothing came")
      assert.strictEqual(standardSignature(one, secret), signature)
      assert.isTrue(isSignedWith(one, secret))
      assert.isFalse(isSignedWith({ ...one, raw: `${raw} ` }, secret))
      assert.isFalse(isSignedWith({ ...one, headers: { ...one.headers, "webhook-timestamp": "1614265331" } }, secret))
      assert.isFalse(isSignedWith(one, "whsec_AAAA"))
    }))
})
