import { Effect } from "effect"
import type { CurrentActor, PluginDatabase } from "stoa/plugin"
import { documentTypes, vendorDocuments } from "./DocumentTables.ts"

/**
 * Kinds of documents that the store asks for and has not approved of this vendor. The caller holds the vendor's row, as
 * whoever hands in or judges a document does: so the answer stays true until his transaction ends.
 */
export const missingDocuments = (
  db: PluginDatabase["Service"],
  required: ReadonlyArray<string>,
  vendorId: string
): Effect.Effect<ReadonlyArray<string>, never, CurrentActor> => {
  const asked = documentTypes.filter((type) => required.includes(type))
  return required.length === 0
    ? Effect.succeed([])
    : Effect.map(
      db.table(vendorDocuments).list({ vendorId, status: "approved", type: { in: asked } }),
      (approved) => required.filter((type) => !approved.some((document) => document.type === type))
    )
}
