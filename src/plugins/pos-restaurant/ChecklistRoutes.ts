import { Effect, Layer, Schema, Struct } from "effect"
import { fieldsOf, inputOf, type PluginCall, PluginContext, resource, type View } from "stoa/plugin"
import { PosExtensions, type Terminal } from "../pos/index.ts"
import { checklistItems, checklists, completeChecklist, completions, requireCompleted } from "./Checklists.ts"
import { admin, operate, routes } from "./RestaurantOptions.ts"

const Item = Schema.Struct(Struct.omit(fieldsOf(checklistItems), ["checklistId", "createdAt"]))
const ChecklistView = Schema.Struct({ ...fieldsOf(checklists), items: Schema.Array(Item) })
  .annotate({ identifier: "PosChecklist" })

const itemsOf = (db: PluginCall["db"], ids: ReadonlyArray<string>) =>
  db.table(checklistItems).list({ checklistId: { in: ids } }, { order: ["sortOrder", "id"] })

const view: View<typeof checklists, typeof ChecklistView.Type> = {
  success: ChecklistView,
  show: (rows, { db }) =>
    Effect.map(
      itemsOf(db, rows.map(({ id }) => id)),
      (items) => rows.map((row) => ({ ...row, items: items.filter(({ checklistId }) => checklistId === row.id) }))
    )
}

const fields = inputOf(checklists).fields
const items = Schema.Array(inputOf(checklistItems, { required: ["label"], optional: ["isRequired"] }))
  .check(Schema.isBetweenLength(1, 100))
type NewItems = typeof items.Type

const writeItems = ({ db }: PluginCall, checklistId: string, items: NewItems) =>
  db.table(checklistItems).insertMany(items.map((item, sortOrder) => ({ ...item, checklistId, sortOrder })))

/** Replaces the items of a checklist whose row the transaction has changed. */
const replaceItems = Effect.fnUntraced(function*(call: PluginCall, checklistId: string, items: NewItems) {
  const old = yield* call.db.table(checklistItems).list({ checklistId })
  yield* Effect.forEach(old, ({ id }) => call.db.table(checklistItems).delete(id), { discard: true })
  yield* writeItems(call, checklistId, items)
})

export const checklistRoutes = [
  ...resource(routes, "/checklists", checklists, {
    noun: "checklist",
    read: operate,
    write: admin,
    filters: ["type", "isActive"],
    order: ["sortOrder", "id"],
    view,
    create: {
      input: Schema.Struct({ ...fields, items }),
      answer: (call) => {
        const { db, input: { items, ...row } } = call
        return db.transaction(Effect.tap(db.table(checklists).insert(row), ({ id }) => writeItems(call, id, items)))
      }
    },
    patch: {
      description: "`items` replace those that it has. 404 without it.",
      input: Schema.Struct({
        name: Schema.optional(fields.name),
        isActive: fields.isActive,
        sortOrder: fields.sortOrder,
        items: Schema.optional(items)
      }),
      answer: (call) => {
        const { db, input: { items, ...change }, which } = call
        return db.transaction(
          Effect.tap(
            db.table(checklists).update(which, change),
            ({ id }) => items === undefined ? Effect.void : replaceItems(call, id, items)
          )
        )
      }
    },
    remove: {
      summary: "Deactivate a checklist",
      description: "It stays, with what was completed. 404 without it.",
      answer: ({ db, which }) => db.table(checklists).update(which, { isActive: false })
    }
  }),
  routes.post("/checklists/:id/complete", {
    summary: "Complete a checklist",
    description:
      "For one transaction, or one shift: a shift that will open gets its id before, see `id` of POST /pos/shifts/open. " +
      "Repeated, the last one counts. 404; 422 unless every required item is checked.",
    permission: operate,
    input: inputOf(completions, { required: ["referenceType", "referenceId", "completedItems"] }),
    strict: true,
    success: Schema.Struct({ completed: Schema.Literal(true) })
  }).handle((call) => Effect.as(completeChecklist(call, call.params.id, call.input), { completed: true as const }))
]

const asksFor = ({ metadata }: Terminal): boolean => metadata["checklists"] === true

/** Shifts of terminals with `metadata.checklists: true` open and close with complete checklists. */
export const checklistRules = Layer.effectDiscard(
  Effect.gen(function*() {
    const { db } = yield* PluginContext
    const { add } = yield* PosExtensions
    yield* add({
      shiftOpening: (id, terminal) => asksFor(terminal) ? requireCompleted(db, "shift_open", id) : Effect.void,
      shiftClosing: ({ id }, terminal) => asksFor(terminal) ? requireCompleted(db, "shift_close", id) : Effect.void
    })
  })
)
