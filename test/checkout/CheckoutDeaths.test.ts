import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { AtFaultPoint } from "../../src/workflows/checkout/Checkouts.ts"
import { audit } from "../support/Audit.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"

const deaths = new Map<string, number>()

/** Every checkout dies after its authorization, as often as the name of its request says. */
const mortal = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const actor = yield* Effect.serviceOption(CurrentActor)
    const name = Option.isSome(actor) ? actor.value.requestId ?? "" : ""
    const times = Number(/^dies-(\d+)-/.exec(name)?.[1] ?? 0)
    const before = deaths.get(name) ?? 0
    if (point !== "authorized" || before >= times) return
    deaths.set(name, before + 1)
    return yield* Effect.die(new Error("the process died"))
  }))

let names = 0

const bought = Effect.fnUntraced(function*(entityId: string, times: number) {
  const cart = yield* aCartWith(entityId)
  const name = `dies-${times}-${++names}`
  const answer = yield* checkOut(cart, {}, { "x-request-id": name, "idempotency-key": `key-of-${name}` })
  return { status: answer.status, deaths: deaths.get(name) }
})

layer(testAppLayer({}, { logLevel: "none" }).pipe(Layer.provide(mortal)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a checkout whose run dies", (it) => {
  it.effect(
    "is answered within seconds, however many others have died in this process before it",
    () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const others = yield* Effect.forEach(Array.from({ length: 16 }), () => bought(entityId, 1), { concurrency: 8 })
        assert.deepStrictEqual(others, Array.from({ length: 16 }, () => ({ status: 201, deaths: 1 })))
        // One that waits for what the others died of would wait for ten seconds; a run alone takes milliseconds.
        const last = yield* Effect.timeout(bought(entityId, 1), "5 seconds")
        assert.deepStrictEqual(last, { status: 201, deaths: 1 })
        yield* audit((yield* TestApp).databaseUrl)
      }),
    60_000
  )
})
