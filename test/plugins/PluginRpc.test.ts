import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Headers } from "effect/http"
import { type Rpc, RpcClient, RpcMiddleware, RpcSerialization } from "effect/rpc"
import { Socket } from "effect/socket"
import { CurrentActor, definePlugin, group, notFound, rpcCall, rpcGroup, serveRpc } from "stoa/plugin"
import type { Actor } from "../../src/domain/platform/access/Actor.ts"
import { RpcAccess } from "../../src/http/rpc/StoaRpcs.ts"
import { callFlaws } from "../../src/plugins/kit/install/RouteRules.ts"
import { clientAs, socketUrl } from "../rpc/Calls.ts"
import { api, asAdmin, asAnonymous, asStaff, live, testAppLayer } from "../support/TestApp.ts"

class NoteNotFound extends notFound("Note", "Note not found.") {}

/** What services import. */
const NoteRpcs = rpcGroup(
  rpcCall("notes.add", { permission: "notes:write", payload: { text: Schema.NonEmptyString }, success: Schema.Int }),
  rpcCall("notes.read", { auth: true, reads: true, payload: { number: Schema.Int }, success: Schema.String })
)

class Notes extends Context.Service<Notes>()("test/plugins/Notes", {
  make: Effect.sync(() => {
    const all: Array<string> = []
    return {
      add: (text: string) => Effect.map(CurrentActor, ({ role }) => all.push(`${role}: ${text}`)),
      read: (number: number) =>
        Effect.suspend(() => {
          const found = all[number - 1]
          return found === undefined ? Effect.fail(new NoteNotFound()) : Effect.succeed(found)
        })
    }
  })
}) {
  static readonly layer = Layer.effect(Notes, Notes.make)
}

const notes = definePlugin({
  id: "notes",
  version: "1.0.0",
  permissions: [{ scope: "notes:write", description: "Write notes" }],
  layer: Notes.layer,
  rpc: serveRpc(NoteRpcs, {
    "notes.add": ({ text }) => Notes.use(({ add }) => add(text)),
    "notes.read": ({ number }) => Notes.use(({ read }) => read(number))
  }),
  routes: () => [
    group("Notes", "/notes").get("/:number", { auth: true, params: { number: Schema.String }, success: Schema.String })
      .handle(({ params }) => Notes.use(({ read }) => read(Number(params.number))))
  ]
})

const notesAs = (actor: Partial<Actor>) =>
  Effect.gen(function*() {
    const protocol = RpcClient.layerProtocolSocket({ retryTransientErrors: true }).pipe(
      Layer.provide(Socket.layerWebSocket(yield* socketUrl)),
      Layer.provide([Socket.layerWebSocketConstructorGlobal, RpcSerialization.layerNdjson])
    )
    const credentials = RpcMiddleware.layerClient(RpcAccess, ({ next, request }) =>
      next({ ...request, headers: Headers.set(request.headers, "x-test-actor", JSON.stringify(actor)) }))
    const built = yield* Layer.build(Layer.fresh(Layer.merge(protocol, credentials)))
    return yield* Effect.provideContext(RpcClient.make(NoteRpcs), built)
  })

layer(testAppLayer({ plugins: [notes] }), live)(
  "a call of a plugin",
  (it) => {
    it.effect("is typed, acts as its caller, and shares the plugin's service with its routes", () =>
      Effect.gen(function*() {
        const rpc = yield* notesAs(asAdmin)
        const number = yield* rpc["notes.add"]({ text: "milk" })
        assert.strictEqual(yield* rpc["notes.read"]({ number }), "admin: milk")
        assert.strictEqual((yield* api("GET", `/api/notes/${number}`, { as: asStaff })).at("data"), "admin: milk")
        assert.strictEqual((yield* Effect.flip(rpc["notes.read"]({ number: 99 })))._tag, "NotFound")
      }))

    it.effect("is refused without the permission and with a payload that does not fit", () =>
      Effect.gen(function*() {
        const rpc = yield* notesAs(asAnonymous)
        assert.strictEqual((yield* Effect.flip(rpc["notes.add"]({ text: "x" })))._tag, "Forbidden")
        const admin = yield* notesAs(asAdmin)
        const wrong = yield* api("POST", "/rpc", {
          as: asAdmin,
          body: { _tag: "Request", id: "1", tag: "notes.add", payload: { text: "" }, headers: [] }
        })
        assert.include(JSON.stringify(wrong.body), "ValidationFailed")
        assert.isNumber(yield* admin["notes.add"]({ text: "y" }))
      }))

    it.effect("is made once for an idempotency-key, and the calls of the core are served beside it", () =>
      Effect.gen(function*() {
        const rpc = yield* notesAs(asAdmin)
        const once = RpcClient.withHeaders(rpc["notes.add"]({ text: "eggs" }), { "idempotency-key": "eggs-once" })
        assert.strictEqual(yield* once, yield* once)
        assert.deepStrictEqual((yield* (yield* clientAs(asAdmin))["customers.list"]({})).items, [])
      }))

    it("ends the start when it has no access rule, an undeclared permission or the name of another plugin", () => {
      const named = (...calls: ReadonlyArray<Rpc.Any>) =>
        callFlaws([{ id: "notes", calls: serveRpc(rpcGroup(...calls), {}).calls }], new Set(["notes:write"]))
      assert.match(
        named(rpcCall("orders.read", { auth: true })).join(),
        /"orders.read" is not of the form "notes.name"/
      )
      assert.match(named(rpcCall("notes.read", {})).join(), /"notes.read" of plugin "notes" says neither auth/)
      assert.match(
        named(rpcCall("notes.read", { permission: "x:y" })).join(),
        /permission "x:y", which is not declared/
      )
      assert.deepStrictEqual(callFlaws([notes], new Set(["notes:write"])), [])
    })
  }
)
