import { Effect } from "effect"
import { InvalidTransition, type PluginCall, RowNotFound } from "stoa/plugin"
import { hashOf } from "./CatalogMapping.ts"
import { writeField } from "./EntityFields.ts"
import { enqueueProducts } from "./PushCatalog.ts"
import { noteAgreed } from "./PushRepo.ts"
import { catalogConflict } from "./PushTables.ts"
import { asChannel } from "./StoreProducts.ts"
import { entityMap } from "./StoreTables.ts"

interface ResolveCall extends PluginCall {
  readonly which: Parameters<ReturnType<typeof catalogConflict.on>["move"]>[1]
  readonly input: { readonly choose: "platform" | "store" }
}

/** Decides a conflict: ours goes to the store by a job, or that of the store is written here. Call it in a transaction. */
export const resolveConflict = Effect.fn("Conflicts.resolve")(function*(call: ResolveCall) {
  const { db, input: { choose }, which } = call
  const resolved = yield* db.use(catalogConflict).move("resolve", which, { choice: choose }).pipe(
    Effect.catchIf((error) => error instanceof InvalidTransition, () => new RowNotFound())
  )
  const { entityId, fieldPath, storeId, storeValue } = resolved
  const there = hashOf(storeValue)
  // Ours is what has changed since.
  const here = choose === "store" ? there : "?"
  const rows = yield* db.table(entityMap).list({ storeId, entityId, kind: "entity" })
  yield* db.use(noteAgreed)(rows.map(({ id }) => ({ id, agreed: { [fieldPath]: { here, there } } })))
  if (choose === "store") yield* asChannel(call, storeId, writeField(call, entityId, fieldPath, storeValue))
  yield* enqueueProducts(call, storeId, [entityId])
  return resolved
})
