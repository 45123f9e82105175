import { DateTime, Effect, Schema } from "effect"
import {
  about,
  boolean,
  childOf,
  conflict,
  type CurrentActor,
  integer,
  integerBetween,
  invalid,
  jsonOf,
  longText,
  NotFound,
  notFound,
  oneOf,
  type PluginCall,
  type PluginDatabase,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { authorOf, Pos } from "../pos/index.ts"

/** What staff has to check before a bill, or before a shift opens or closes. Inactive ones ask nothing. */
export const checklists = table("pos_checklists", {
  name: text,
  type: oneOf(["pre_billing", "shift_open", "shift_close"]).about("When it is gone through."),
  isActive: boolean.default(true),
  sortOrder: integerBetween(0, 100_000).default(0).about("Lower goes first.")
}, { strict: true })
type Checklist = RowOf<typeof checklists>

export const checklistItems = childOf(checklists, "checklistId", "pos_checklist_items", {
  checklistId: uuid.references(checklists),
  label: text,
  isRequired: boolean.default(true).about("True: it cannot be left out."),
  sortOrder: integer.default(0).about("Lower goes first.")
})

export const CheckedItem = Schema.Struct({
  itemId: uuid.schema,
  checked: Schema.Boolean.pipe(about("The step was done.")),
  note: Schema.optional(longText.schema.check(Schema.isMaxLength(500)))
})

/** A checklist as it was completed for a transaction or a shift. */
export const completions = childOf(checklists, "checklistId", "pos_checklist_completions", {
  checklistId: uuid.references(checklists),
  referenceType: oneOf(["transaction", "shift"]).about("Kind of the record that it was filled in for."),
  referenceId: uuid,
  operatorId: text,
  completedItems: jsonOf(Schema.Array(CheckedItem), 100_000).about("Steps of the list, each with its result."),
  completedAt: timestamp
}, { unique: [{ columns: ["checklistId", "referenceId"] }], indexes: [{ columns: ["referenceId"] }] })

class ChecklistNotFound extends notFound("Checklist", "Checklist not found.") {}
class ChecklistMissing extends conflict(
  "ChecklistMissing",
  (referenceId: string, names: string) => `Complete these checklists for ${referenceId} first: ${names}.`
) {}
class NotItsItem extends invalid(
  "ChecklistItemUnknown",
  (index: number) => `completedItems.${index}.itemId`,
  (index: number) => `completedItems.${index}.itemId must name an item of the checklist, once.`
) {}
class NotChecked extends invalid(
  "ChecklistNotChecked",
  "completedItems",
  (labels: string) => `completedItems must check every required item. These are missing: ${labels}.`
) {}
class OtherReference extends invalid(
  "ChecklistReferenceType",
  "referenceType",
  (type: string) => `referenceType of this checklist must be ${type}.`
) {}
class NoReference extends invalid(
  "ChecklistReferenceUnknown",
  "referenceId",
  (type: string) => `referenceId must name a ${type} that exists.`
) {}

/** 409 while an active checklist of the type is not complete for this transaction or shift. Two statements. */
export const requireCompleted = Effect.fn("Checklists.require")(function*(
  db: PluginDatabase,
  type: Checklist["type"],
  referenceId: string
) {
  const asked = yield* db.table(checklists).list({ type, isActive: true }, { order: ["sortOrder", "id"] })
  if (asked.length === 0) return
  const done = yield* db.table(completions).list({ referenceId, checklistId: { in: asked.map(({ id }) => id) } })
  const missing = asked.filter(({ id }) => done.every(({ checklistId }) => checklistId !== id))
  if (missing.length > 0) {
    return yield* new ChecklistMissing(referenceId, missing.map(({ name }) => name).join(", "))
  }
})

type Completion = Pick<RowOf<typeof completions>, "completedItems" | "referenceId" | "referenceType">

/** The shift that a checklist of its opening is about does not exist yet. */
const requireReference = Effect.fnUntraced(function*({ type }: Checklist, { referenceId, referenceType }: Completion) {
  const wanted = type === "pre_billing" ? "transaction" : "shift"
  if (referenceType !== wanted) return yield* new OtherReference(wanted)
  if (type === "shift_open") return
  const { sale, shift } = yield* Pos
  const found: Effect.Effect<unknown, NotFound, CurrentActor> = type === "pre_billing"
    ? sale(referenceId)
    : shift(referenceId)
  yield* Effect.catchIf(found, Schema.is(NotFound), () => new NoReference(wanted))
})

/** Notes a checklist as complete; repeated, the last one counts. 404; 422 unless its required items are checked. */
export const completeChecklist = Effect.fn("Checklists.complete")(function*(
  { actor, db }: PluginCall,
  checklistId: string,
  completion: Completion
) {
  const checklist = yield* Effect.catchTag(
    db.table(checklists).get(checklistId),
    "NotFound/Row",
    () => new ChecklistNotFound()
  )
  yield* requireReference(checklist, completion)
  const items = yield* db.table(checklistItems).list({ checklistId })
  const named = completion.completedItems.map(({ itemId }) => itemId)
  const wrong = named.findIndex((itemId, at) => items.every(({ id }) => id !== itemId) || named.indexOf(itemId) < at)
  if (wrong >= 0) return yield* new NotItsItem(wrong)
  const checked = new Set(completion.completedItems.flatMap(({ checked, itemId }) => checked ? [itemId] : []))
  const missing = items.filter(({ id, isRequired }) => isRequired && !checked.has(id))
  if (missing.length > 0) return yield* new NotChecked(missing.map(({ label }) => label).join(", "))
  const row = { ...completion, checklistId, operatorId: authorOf(actor), completedAt: yield* DateTime.nowAsDate }
  yield* db.table(completions).upsert(row, ["checklistId", "referenceId"])
})
