import { Schema } from "effect"
import {
  EntityId,
  idOf,
  integerBetween,
  jsonOf,
  longText,
  machine,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { stores } from "./StoreTables.ts"

export const pushStates = ["pending", "exported", "confirmed", "failed", "abandoned"] as const

/** Products whose fields are written to a store, once for each. The change log has their history. */
export const catalogPushes = table("channel_catalog_pushes", {
  storeId: uuid.references(stores),
  entityId: idOf(EntityId),
  state: oneOf(pushStates).default("pending"),
  failureKind: oneOf(["definitive", "transient"]).nullable,
  lastError: longText.nullable,
  attempts: integerBetween(0, 1_000_000).default(0),
  /** What was sent last: values by the path of the field, shortened. */
  payloadSnapshot: jsonOf(Schema.Record(Schema.String, Schema.NullOr(Schema.String)), 250_000).nullable,
  /** When it is looked at next; null: nothing has changed. */
  dueAt: timestamp.nullable,
  /** Until when a job that looks at it has time to do so. */
  leasedUntil: timestamp.nullable
}, {
  unique: [{ columns: ["storeId", "entityId"], where: "state <> 'abandoned'" }],
  indexes: [{ columns: ["storeId", "dueAt"], where: "due_at is not null" }]
})

/** How a push moves (contract, plugins §13.2). A change after `abandoned` is another push. */
export const catalogPush = machine(catalogPushes, {
  noun: "push",
  column: "state",
  moves: {
    send: { from: ["pending", "confirmed", "failed"], to: "exported" },
    confirm: { from: ["pending", "exported", "failed"], to: "confirmed" },
    fail: { from: ["exported"], to: "failed" },
    abandon: { from: ["pending", "exported", "confirmed", "failed"], to: "abandoned" }
  }
})

const Value = jsonOf(Schema.String, 400_000)

/** Fields that both sides changed since they agreed: neither is written until somebody decides. */
export const catalogConflicts = table("channel_catalog_conflicts", {
  storeId: uuid.references(stores),
  entityId: idOf(EntityId),
  fieldPath: text.about("Path of the field, such as `attributes.en.title`."),
  platformValue: Value.nullable.about("Value here; null without one."),
  storeValue: Value.nullable.about("Value at the store; null without one."),
  state: oneOf(["open", "resolved"]).default("open").about("State; `open` ones wait for a decision."),
  choice: oneOf(["platform", "store"]).nullable
    .about("Side whose value holds; null while it is open, or when both sides came to the same value."),
  resolvedBy: text.nullable.about("User or key that decided.")
}, { unique: [{ columns: ["storeId", "entityId", "fieldPath"], where: "state = 'open'" }] })
export type CatalogConflict = RowOf<typeof catalogConflicts>

/** How a conflict moves (contract, plugins §13.2). */
export const catalogConflict = machine(catalogConflicts, {
  noun: "conflict",
  column: "state",
  moves: { resolve: { from: ["open"], to: "resolved", by: "resolvedBy" } }
})
