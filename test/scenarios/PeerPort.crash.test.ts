import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { onlyPeers, peerKeyOf } from "../../src/layers/cluster/PeerTransport.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { callOf } from "../support/ServiceCalls.ts"
import { waitFor } from "../support/waitFor.ts"

/** What became of a connection on which something was sent: what came back, and whether the other end closed it. */
export interface Exchange {
  readonly heard: string
  readonly closed: boolean
}

/** Sends bytes and listens until the other end closes, or until what it said contains `until`. */
const exchange = (socket: Socket, sent: string, until?: string): Promise<Exchange> =>
  new Promise((resolve) => {
    let heard = ""
    const end = (closed: boolean) => {
      resolve({ heard, closed })
      socket.destroy()
    }
    socket.on("data", (chunk) => {
      heard += String(chunk)
      if (until !== undefined && heard.includes(until)) end(false)
    })
    // A connection that is refused is closed as well.
    socket.on("error", () => undefined)
    socket.on("close", () => end(true))
    socket.write(sent)
  })

/** Somebody who knows nothing but the address. */
export const asOutsider = (port: number, sent: string, until?: string) =>
  exchange(connectPlain(port, "127.0.0.1"), sent, until)

/** A process that goes by the name of one secret, and by default proves it. */
const asPeer = (
  port: number,
  secret: string,
  sent: string,
  options: { readonly until?: string; readonly provedWith?: string } = {}
) =>
  exchange(
    connectTls({
      ...onlyPeers,
      host: "127.0.0.1",
      port,
      pskCallback: () => ({
        identity: peerKeyOf(secret).identity,
        psk: peerKeyOf(options.provedWith ?? secret).psk
      }),
      checkServerIdentity: () => undefined
    }),
    sent,
    options.until
  )

/** A line of the protocol between processes that asks for nothing but an answer. */
export const ping = `${JSON.stringify({ _tag: "Request", id: "1", tag: "Ping", payload: null, headers: [] })}\n`

/** A line that asks the actor of a cart to set a quantity, with a shard that its sender chooses. */
export const toCart = (cart: string, shard: number, request: number): string =>
  `${
    JSON.stringify({
      _tag: "Request",
      id: String(request),
      tag: "Effect",
      headers: [],
      payload: {
        persisted: false,
        request: {
          _tag: "Request",
          requestId: String(request),
          address: { shardId: { group: "default", id: shard }, entityType: "Cart", entityId: cart },
          tag: "setQuantity",
          payload: {},
          headers: {}
        }
      }
    })
  }\n`

const secret = "the secret that processes of one deployment share"
const environment = { STOA_AUTH_SECRET: secret }

const aRunner = Effect.gen(function*() {
  const { url } = yield* freshDatabase
  return { url, runner: yield* startService({ databaseUrl: url, role: "runner", environment }) }
})

/** Every message has an answer; the id of each stands in it. */
const answers = (heard: string): ReadonlyArray<string> => heard.split("\n").filter((line) => line.includes("\"Exit\""))

it.live("a process that does everything sells without a port for others", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    // Empty: not set. The default would be 10,000 above the port of the API.
    const service = yield* startService({ databaseUrl: url, environment: { ...environment, STOA_RUNNER_PORT: "" } })
    yield* Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      assert.strictEqual((yield* checkOut(cart)).status, 201)
    }).pipe(Effect.provide(talkingTo(service, url)))
    const knock = yield* Effect.promise(() => asOutsider(service.ports.http + 10_000, ping, "\"Exit\""))
    assert.deepStrictEqual(knock, { heard: "", closed: true })
  }))

it.live("a runner cuts off a connection without the secret before it reads a message", () =>
  Effect.gen(function*() {
    const { runner } = yield* aRunner
    const knock = (sent: string) => Effect.promise(() => asOutsider(runner.ports.runner, sent, "\"Exit\""))
    assert.notInclude((yield* knock(ping)).heard, "Exit")
    // What a page of another site can have a browser send without asking first.
    const posted = yield* knock(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: ${ping.length}\r\n\r\n${ping}`
    )
    assert.isTrue(posted.closed)
    assert.notInclude(posted.heard, "_tag")
    // Someone who says nothing has some seconds.
    assert.deepStrictEqual(yield* knock(""), { heard: "", closed: true })
  }))

it.live("a runner answers only those who prove the deployment's secret", () =>
  Effect.gen(function*() {
    const { runner } = yield* aRunner
    const { runner: port } = runner.ports
    const proved = yield* Effect.promise(() => asPeer(port, secret, ping, { until: "\"Exit\"" }))
    assert.strictEqual(answers(proved.heard).length, 1)

    const other = yield* Effect.promise(() => asPeer(port, "some other secret of another deployment", ping))
    assert.deepStrictEqual(other, { heard: "", closed: true })
    yield* Effect.promise(() =>
      waitFor("the runner to say whom it refused", () => runner.output().includes("has another secret"))
    )
    const pretended = yield* Effect.promise(() => asPeer(port, secret, ping, { provedWith: "something else" }))
    assert.deepStrictEqual(pretended, { heard: "", closed: true })
  }))

it.live("a peer that sends what is no message is cut off", () =>
  Effect.gen(function*() {
    const { runner } = yield* aRunner
    const garbled = yield* Effect.promise(() => asPeer(runner.ports.runner, secret, `no message\n${ping}`))
    assert.isTrue(garbled.closed)
    assert.notInclude(garbled.heard, "\"Exit\"")
  }))

it.live("a runner refuses a message for an actor under a shard that is not the actor's", () =>
  Effect.gen(function*() {
    const { url, runner } = yield* aRunner
    // The only runner gets all shards; a purchase shows that it has them by now.
    const edge = yield* startService({ databaseUrl: url, role: "api", environment })
    yield* Effect.flatMap(aProduct(), aCartWith).pipe(Effect.provide(talkingTo(edge, url)))
    const cart = randomUUID()
    const replies = yield* Effect.forEach(
      Array.from({ length: 64 }, (_, index) => index + 1),
      (shard) =>
        Effect.promise(() =>
          asPeer(runner.ports.runner, secret, toCart(cart, shard, shard), { until: "\"requestId\"" })
        ),
      { concurrency: 8 }
    )
    const refused = replies.filter(({ heard }) => heard.includes("EntityNotAssignedToRunner"))
    assert.strictEqual(refused.length, 63, replies[0]?.heard)
  }))

it.live(
  "processes with one secret are one service, and one with another secret is refused and says why",
  () =>
    Effect.gen(function*() {
      const { url, runner } = yield* aRunner
      const edge = yield* startService({ databaseUrl: url, role: "api", environment })
      const outsider = yield* startService({
        databaseUrl: url,
        role: "api",
        environment: { STOA_AUTH_SECRET: "the secret of a deployment next door, by mistake" }
      })
      const { cart, product } = yield* Effect.gen(function*() {
        const product = yield* aProduct()
        assert.strictEqual((yield* checkOut(yield* aCartWith(product))).status, 201)
        return { product, cart: yield* aGuestCart() }
      }).pipe(Effect.provide(talkingTo(edge, url)))

      const path = `/api/carts/${cart.id}/items`
      const added = yield* callOf(edge.url)("POST", path, {
        headers: cart.headers,
        body: { entityId: product, quantity: 1 }
      })
      // Changes of a line take turns at the cart's actor.
      const change = (service: { readonly url: string }) =>
        callOf(service.url)("PATCH", `${path}/${added.text("data.id")}`, {
          headers: cart.headers,
          body: { quantity: 2 }
        })
      assert.strictEqual((yield* change(outsider)).status, 503)
      assert.include(outsider.output(), "refused this one: it has another secret")
      assert.include(runner.output(), "Refused a process at 127.0.0.1 that has another secret")
      assert.strictEqual((yield* change(edge)).status, 200)
    })
)
