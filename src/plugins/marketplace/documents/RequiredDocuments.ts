import { Effect } from "effect"
import type { CurrentActor, PluginDatabase } from "stoa/plugin"
import { documentTypes, vendorDocuments } from "./DocumentTables.ts"

/**
 * Required kinds of documents that this vendor has no approved document of. The caller holds the vendor's row, as every
 * writer of documents does, so the result holds until the transaction ends.
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
