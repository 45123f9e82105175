import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../../access/Actor.ts"
import { NotFound, type ValidationFailed } from "../../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../../paging/Paging.ts"
import type { AttributesDraft } from "../Attributes.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import { EntityChanges } from "../EntityChanges.ts"
import { DraftRepo } from "./DraftRepo.ts"

/** Drafts of attributes that wait for approval (docs/catalog.md, locales). */
export class Drafts extends Context.Service<Drafts, {
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<AttributesDraft>, never, CurrentActor>
  /** Publishes the draft like any change of attributes. 404 when there is none. */
  readonly approve: (
    id: string,
    locale: string
  ) => Effect.Effect<void, NotFound | ValidationFailed, CurrentActor>
  /** Deletes the draft. 404 when there is none. */
  readonly reject: (id: string, locale: string) => Effect.Effect<void, NotFound, CurrentActor>
}>()("stoa/domain/catalog/locales/Drafts") {
  static readonly layer = Layer.effect(
    Drafts,
    Effect.gen(function*() {
      const repo = yield* DraftRepo
      const changes = yield* EntityChanges
      const transaction = yield* CatalogTransactionRepo

      const applied = Effect.fnUntraced(function*(id: string, locale: string) {
        const draft = yield* repo.remove(id, locale)
        return draft === undefined ? yield* noDraft(locale) : yield* changes.writeAttributes(id, locale, draft)
      })

      const approve = Effect.fn("Drafts.approve")(function*(id: string, locale: string) {
        const written = yield* transaction.run(applied(id, locale))
        if (written._tag !== "Changed") return
        const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
        yield* changes.afterUpdate(written.entity, written.old, { changedFieldPaths })
      })

      const reject = Effect.fn("Drafts.reject")(function*(id: string, locale: string) {
        if (!(yield* repo.reject(id, locale))) return yield* noDraft(locale)
      })

      return { list: repo.list, approve, reject }
    })
  )
}

const noDraft = (locale: string) => NotFound.of(`No draft of locale '${locale}' waits for approval.`)
