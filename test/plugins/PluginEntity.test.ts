import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Rpc } from "effect/rpc"
import { Conflict, conflict, CurrentActor, definePlugin, group, pluginEntity } from "stoa/plugin"
import { api, asAdmin, asStaff, inOrganization, live, testAppLayer } from "../support/TestApp.ts"

class SeatTaken extends conflict("SeatTaken", (seat: number) => `Seat ${seat} is taken.`) {}

/** Seats of a show, held in memory. */
const Show = pluginEntity("shows/Show", [
  Rpc.make("take", { payload: { seat: Schema.Int }, success: Schema.String, error: Conflict }),
  Rpc.make("hang"),
  Rpc.make("break")
])

class Shows extends Context.Service<Shows>()("test/plugins/Shows", {
  make: Effect.map(Show.client, (show) => ({
    take: (key: string, seat: number) => show(key, (one) => one.take({ seat })),
    hang: (key: string) => show(key, (one) => one.hang()),
    break: (key: string) => show(key, (one) => one.break())
  }))
}) {
  static readonly layer = Layer.effect(Shows, Shows.make)
}

const began: Array<string> = []
const behaviour = Show.behaviour(({ key, organizationId }) =>
  Effect.sync(() => {
    began.push(`${organizationId} ${key}`)
    const taken = new Set<number>()
    return {
      take: Effect.fnUntraced(function*({ payload: { seat } }) {
        if (taken.has(seat)) return yield* new SeatTaken(seat)
        // Two calls at a time would both come here.
        yield* Effect.yieldNow
        taken.add(seat)
        return `${organizationId} ${key} ${seat} ${(yield* CurrentActor).role}`
      }),
      hang: () => Effect.never,
      break: () => Effect.die(new Error("broken"))
    }
  })
)

const routes = group("Shows", "/shows")
const params = { show: Schema.String }
const shows = definePlugin({
  id: "shows",
  version: "1.0.0",
  layer: Shows.layer,
  entities: [behaviour],
  routes: () => [
    routes.post("/:show/seats", { auth: true, params, input: Schema.Struct({ seat: Schema.Int }) })
      .handle(({ input, params }) => Shows.use(({ take }) => take(params.show, input.seat))),
    routes.post("/:show/hang", { auth: true, params }).handle(({ params }) =>
      Shows.use(({ hang }) => hang(params.show))
    ),
    routes.post("/:show/break", { auth: true, params })
      .handle(({ params }) => Shows.use((of) => of.break(params.show)))
  ]
})

const take = (show: string, seat: number, as = asAdmin) =>
  api("POST", `/api/shows/${show}/seats`, { as, body: { seat } })

layer(testAppLayer({ plugins: [shows] }), live)(
  "an entity of a plugin",
  (it) => {
    it.effect("handles the calls of a key one at a time, as the caller", () =>
      Effect.gen(function*() {
        const answers = yield* Effect.all([1, 1, 2].map((seat) => take("hamlet", seat, asStaff)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 201, 409])
        assert.strictEqual((yield* take("hamlet", 3, asStaff)).at("data"), "org_default hamlet 3 staff")
        assert.deepStrictEqual(began, ["org_default hamlet"])
      }))

    it.effect("is another one in another organization, and for every text as a key", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* take("lear", 1)).status, 201)
        const other = yield* take("lear", 1, inOrganization("org_other", asAdmin))
        assert.strictEqual(other.at("data"), "org_other lear 1 admin")
        assert.strictEqual(
          (yield* take("..%2Forg_other%2Flear", 1)).at("data"),
          "org_default ../org_other/lear 1 admin"
        )
      }))

    it.effect(
      "that does not answer is 503 with Retry-After, and what breaks ends neither it nor other calls",
      () =>
        Effect.gen(function*() {
          assert.strictEqual((yield* take("macbeth", 1)).status, 201)
          const late = yield* api("POST", "/api/shows/macbeth/hang", { as: asAdmin })
          assert.deepStrictEqual([late.status, late.headers.get("retry-after") !== null], [503, true])
          assert.strictEqual((yield* api("POST", "/api/shows/macbeth/break", { as: asAdmin })).status, 500)
          assert.strictEqual((yield* take("macbeth", 1)).status, 409, "it still knows its seats")
        })
    )
  }
)
