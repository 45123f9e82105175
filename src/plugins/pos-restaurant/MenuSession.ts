import { Effect, Layer } from "effect"
import { PluginContext } from "stoa/plugin"
import { PosExtensions } from "../pos/index.ts"
import { comboGroups, comboItems, combos } from "./Combos.ts"
import { availability, shownEntries } from "./Menu.ts"
import { takeUnits } from "./MenuCounts.ts"
import { modifierGroups, modifierOptions } from "./Modifiers.ts"

/** What tills do because of a menu: they know it without a connection, and a completed sale takes its units. */
export const menuAtTills = Layer.effectDiscard(Effect.gen(function*() {
  const { db } = yield* PluginContext
  const { add } = yield* PosExtensions
  yield* add({
    completing: ({ transaction }, { id, lineItems }) => takeUnits(db, transaction.id, id, lineItems),
    session: {
      name: "restaurant",
      read: () =>
        Effect.all({
          modifierGroups: db.table(modifierGroups).list({}, { order: ["sortOrder", "createdAt"] }),
          modifierOptions: db.table(modifierOptions).list({}, { order: ["sortOrder", "createdAt"] }),
          combos: db.table(combos).list({ isActive: true }, { order: ["sortOrder", "createdAt"] }),
          comboGroups: db.table(comboGroups).list({}, { order: ["createdAt"] }),
          comboItems: db.table(comboItems).list({}, { order: ["createdAt"] }),
          menu: Effect.flatMap(db.table(availability).list({}), shownEntries)
        })
    }
  })
}))
