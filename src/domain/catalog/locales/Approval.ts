import { Effect } from "effect"
import { type Actor, holds } from "../../access/Actor.ts"
import { Forbidden } from "../../errors/ApiErrors.ts"
import type { WordsState } from "../Attributes.ts"
import type { CatalogDefaults } from "../CatalogSettings.ts"

/** Lets words be seen by shoppers in a store where they wait for that (docs/catalog.md, locales). */
export const approving = "catalog:approve"

/**
 * What becomes of words that are written: approved at once, unless the store has them approved and the writer may not, or
 * he wants a draft. 403 for whoever asks for an approval that he may not give.
 */
export const stateOfWords = (
  actor: Actor,
  { approveLocales }: Pick<CatalogDefaults, "approveLocales">,
  sent: WordsState | undefined
): Effect.Effect<WordsState, Forbidden> => {
  const mayApprove = !approveLocales || holds(actor, approving)
  if (sent === "approved" && !mayApprove) return Effect.fail(Forbidden.of(`Permission '${approving}' is required.`))
  return Effect.succeed(sent ?? (mayApprove ? "approved" : "draft"))
}
