import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { NotFound, type ValidationFailed } from "../../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import { EntityChanges } from "../EntityChanges.ts"
import type { AttributesDraft } from "./Draft.ts"
import { DraftRepo } from "./DraftRepo.ts"

/** Words that wait for approval (docs/catalog.md, locales). */
export class Drafts extends Context.Service<Drafts, {
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<AttributesDraft>, never, CurrentActor>
  /** Shoppers see the words from now on, as after any change of them. 404 where no draft waits. */
  readonly approve: (
    id: string,
    locale: string
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
  /** Takes the draft away. 404 where none waits. */
  readonly reject: (id: string, locale: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/catalog/locales/Drafts") {
  static readonly layer = Layer.effect(
    Drafts,
    Effect.gen(function*() {
      const repo = yield* DraftRepo
      const changes = yield* EntityChanges
      const transaction = yield* CatalogTransactionRepo

      const carriedOver = Effect.fnUntraced(function*(id: string, locale: string) {
        const draft = yield* repo.take(id, locale)
        return draft === undefined ? yield* noDraft(locale) : yield* changes.writeWords(id, locale, draft)
      })

      const approve = Effect.fn("Drafts.approve")(function*(id: string, locale: string) {
        const written = yield* transaction.run(carriedOver(id, locale))
        if (written._tag !== "Changed") return
        const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
        yield* changes.updated(written.entity, written.old, { changedFieldPaths })
      })

      const reject = Effect.fn("Drafts.reject")(function*(id: string, locale: string) {
        if (!(yield* repo.reject(id, locale))) return yield* noDraft(locale)
      })

      return { list: repo.list, approve, reject }
    })
  )
}

const noDraft = (locale: string) => NotFound.of(`No draft of locale '${locale}' waits for approval.`)
