import { Context, Effect, Layer } from "effect"
import { CurrentActor, requireAnyOf } from "../access/Actor.ts"
import { Conflict, type Forbidden, NotFound, type Unauthorized } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Import, RefusedRow } from "./Import.ts"
import { type ImportFilter, ImportRepo } from "./ImportRepo.ts"
import { type ImportFormat, type Kind, neededToImport } from "./Kind.ts"

type Refusal = Unauthorized | Forbidden

/** Existing imports, visible to callers who can import the same kind (docs/import-export.md). */
export class Imports extends Context.Service<Imports, {
  /** Fails unless the caller may import this. */
  readonly admit: (kind: Kind, format: ImportFormat) => Effect.Effect<void, Refusal, CurrentActor>
  /** 404, and 403 for a kind that is not the caller's. */
  readonly get: (id: string) => Effect.Effect<Import, NotFound | Refusal, CurrentActor>
  /** Newest first. */
  readonly list: (filter: ImportFilter, page: PageRequest) => Effect.Effect<PageOf<Import>, never, CurrentActor>
  /** Records that were refused, in the order of the file. */
  readonly refusals: (
    id: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<RefusedRow>, NotFound | Refusal, CurrentActor>
  /** Stops after the current batch; finished batches stay. 409 if the import has ended. */
  readonly cancel: (id: string) => Effect.Effect<Import, NotFound | Conflict | Refusal, CurrentActor>
}>()("stoa/domain/import-export/Imports") {
  static readonly layer = Layer.effect(
    Imports,
    Effect.gen(function*() {
      const repo = yield* ImportRepo

      const admit = Effect.fn("Imports.admit")(function*(kind: Kind, format: ImportFormat) {
        const actor = yield* CurrentActor
        yield* Effect.forEach(neededToImport(kind, format), (any) => requireAnyOf(actor, any), { discard: true })
      })

      const get = Effect.fn("Imports.get")(function*(id: string) {
        const found = (yield* repo.find(id)) ?? (yield* NotFound.of("Import not found."))
        yield* admit(found.kind, found.format)
        return found
      })

      const refusals = Effect.fn("Imports.refusals")(function*(id: string, page: PageRequest) {
        yield* get(id)
        return yield* repo.refusals(id, page)
      })

      const cancel = Effect.fn("Imports.cancel")(function*(id: string) {
        yield* get(id)
        return (yield* repo.end(id, "cancelled", null)) ?? (yield* Conflict.of("The import is over."))
      })

      return { admit, get, list: repo.list, refusals, cancel }
    })
  )
}
