import { Context, Effect, Layer } from "effect"
import { NotFound } from "../../errors/ApiErrors.ts"
import { CatalogTransactionRepo } from "../CatalogTransactionRepo.ts"
import { EntityChanges } from "../EntityChanges.ts"
import { DraftRepo } from "./DraftRepo.ts"

/** Drafts of attributes that wait for approval (docs/catalog.md, locales). */
export class Drafts extends Context.Service<Drafts>()("stoa/domain/catalog/locales/Drafts", {
  make: Effect.gen(function*() {
    const repo = yield* DraftRepo
    const changes = yield* EntityChanges
    const transaction = yield* CatalogTransactionRepo

    const applied = Effect.fnUntraced(function*(id: string, locale: string) {
      const draft = yield* repo.remove(id, locale)
      return draft === undefined ? yield* noDraft(locale) : yield* changes.writeAttributes(id, locale, draft)
    })

    /** Publishes the draft like any change of attributes. 404 when there is none. */
    const approve = Effect.fn("Drafts.approve")(function*(id: string, locale: string) {
      const written = yield* transaction.run(applied(id, locale))
      if (written._tag !== "Changed") return
      const changedFieldPaths = written.fields.map((field) => `attributes.${locale}.${field}`)
      yield* changes.afterUpdate(written.entity, written.old, { changedFieldPaths })
    })

    /** Deletes the draft. 404 when there is none. */
    const reject = Effect.fn("Drafts.reject")(function*(id: string, locale: string) {
      if (!(yield* repo.reject(id, locale))) return yield* noDraft(locale)
    })

    return { list: repo.list, approve, reject }
  })
}) {
  static readonly layer = Layer.effect(Drafts, Drafts.make)
}

const noDraft = (locale: string) => NotFound.of(`No draft of locale '${locale}' waits for approval.`)
